"""The vectors of the profiles say what their table says, for every profile, and tell profiles apart."""

import sys
from pathlib import Path

import pytest
from cases import VECTORS

from turnkeeper import policies
from turnkeeper.vectors import CoreTarget, play, policies_of, read

FOLDER = VECTORS / "profiles"
sys.path.insert(0, str(FOLDER))

from write_vectors import TABLE, text_of  # noqa: E402 - a program beside what it writes

NAMES = {"limit_default", "limit_0", "limit_1", "limit_3", "parallel_calls", "empty_call_list", "text_with_a_call"}
NAMES |= {"new_prompt", "chunks", "text_first_then_a_call"}


@pytest.mark.parametrize("name", TABLE)
def test_the_file_is_what_the_table_says(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text("utf-8") == text_of(name), "run tests/vectors/profiles/write_vectors.py"


def test_every_profile_has_every_case() -> None:
    assert {*TABLE, "genai-go", "default"} == set(policies.shipped())
    for name in TABLE:
        assert {case.name for case in read(FOLDER / f"{name}.json").cases} == NAMES


def passes(path: Path, name: str) -> bool:
    """Play the vectors of one profile on another, with the limits 0, 1 and 3."""
    cases = [case for case in read(path).cases if case.name in ("limit_0", "limit_1", "limit_3")]
    texts = [policies_of(path, case).replace(f"extends: {path.stem},", f"extends: {name},") for case in cases]
    played = (play(case, CoreTarget(policies.parse(text, "p"))) for case, text in zip(cases, texts, strict=True))
    return all(failure is None for failure in played)


@pytest.mark.parametrize("name", TABLE)
def test_the_vectors_of_a_profile_refuse_what_stops_otherwise(name: str) -> None:
    row = TABLE[name]
    alike = {
        other
        for other, one in TABLE.items()
        if [one.unit, *((one.requests(n), one.turns(n), one.stop_at(n)) for n in (0, 1, 3))]
        == [row.unit, *((row.requests(n), row.turns(n), row.stop_at(n)) for n in (0, 1, 3))]
    }
    same_unit = [other for other in TABLE if TABLE[other].unit == row.unit]
    assert {other for other in same_unit if passes(FOLDER / f"{name}.json", other)} == alike
