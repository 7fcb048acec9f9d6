"""Paths to the helpers that other suites share."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
for folder in (
    TESTS,
    TESTS / "integration" / "daemon",
    TESTS / "integration" / "collector",
    TESTS / "integration" / "telemetry",
):
    sys.path.insert(0, str(folder))
