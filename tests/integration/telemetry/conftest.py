"""Paths to the helpers that other suites share."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]
for folder in (TESTS, TESTS / "integration" / "daemon", TESTS / "integration" / "collector"):
    sys.path.insert(0, str(folder))
