"""Hypothesis for this folder: examples bounded, no deadline, and the same ones on a build machine each time."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("quick", max_examples=80, **_COMMON)
settings.register_profile("ci", max_examples=80, derandomize=True, **_COMMON)
settings.register_profile("long", max_examples=20_000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "quick"))
