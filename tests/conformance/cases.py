"""Every vector there is, as parameters of a test."""

from functools import cache
from pathlib import Path

import pytest

from turnkeeper.vectors import read

VECTORS = Path(__file__).parents[1] / "vectors"


@cache
def cases() -> list[object]:
    """Return every case of every suite as a pytest parameter (file, case)."""
    suites = [(path, read(path)) for path in sorted(VECTORS.rglob("*.json"))]
    return [pytest.param(path, case, id=f"{suite.name}/{case.name}") for path, suite in suites for case in suite.cases]
