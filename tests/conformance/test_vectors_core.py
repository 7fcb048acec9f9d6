"""Every vector, played by the core in this process."""

from pathlib import Path

import pytest
from conformance_pb2 import Case
from core_target import CoreTarget
from playing import cases, play
from suites import policies_of


@pytest.mark.parametrize(("path", "case"), list(cases()))
def test_core(path: Path, case: Case) -> None:
    target = CoreTarget(policies_of(path, case))
    assert play(case, target) == []
