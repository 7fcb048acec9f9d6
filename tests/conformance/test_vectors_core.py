"""Every vector, played by the core in this process."""

from pathlib import Path

import pytest
from cases import cases

from turnkeeper.policies import load, parse
from turnkeeper.vectors import CoreTarget, play, policies_of
from turnkeeper.vectors.conformance_pb2 import Case


@pytest.mark.parametrize(("path", "case"), cases())
def test_core(path: Path, case: Case) -> None:
    text = policies_of(path, case)
    failure = play(case, CoreTarget(parse(text, "policies") if text else load(None)))
    assert failure is None, f"{case.doc}\n{failure}"
