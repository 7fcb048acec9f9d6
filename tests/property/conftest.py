"""Hypothesis for this folder: examples bounded, no deadline, and the same ones on a build machine each time."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("quick", _COMMON, max_examples=250)
settings.register_profile("ci", _COMMON, max_examples=250, derandomize=True)
settings.register_profile("long", _COMMON, max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "quick"))
