"""PROFILES.md names every profile, with its default and its unit, and its example is a policy file."""

import re
from pathlib import Path

import pytest

from turnkeeper import policies
from turnkeeper.core.events import Caller

DOC = (Path(policies.__file__).parents[2] / "PROFILES.md").read_text("utf-8")
ROWS = {
    cells[-1].strip("`"): cells
    for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in DOC.splitlines() if line[:1] == "|")
    if len(cells) == 6 and cells[-1].startswith("`")
}


def test_every_profile_has_a_row() -> None:
    assert {*ROWS, "default"} == set(policies.shipped())


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_the_limit_of_its_profile(name: str) -> None:
    limit = policies.load(None).policies[name].limits[0]
    _, setting, counts, *_ = ROWS[name]
    assert re.findall(r"\[(.*)\]", setting) == ["off" if limit.n is None else str(limit.n)]
    assert counts == limit.unit.name.lower().replace("_", " ")


@pytest.mark.parametrize("name", [name for name in ROWS if name != "genai-go"])
def test_a_row_has_the_counts_of_its_profile(name: str) -> None:
    requests, turns = ROWS[name][3].partition(";")[0].replace("\N{MINUS SIGN}", "-").split(", ")
    ends = policies.load(None).policies[name].ends
    assert ends.startswith(f"{requests} model calls; {turns} turns run; ")


def test_the_example_is_a_policy_file() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", DOC, flags=re.DOTALL)
    found = policies.parse(example, "PROFILES.md")
    assert found.choose("", Caller(agent="web-1")).name == "firebase-web"
    assert [limit.n for limit in found.policies["default"].limits] == [5, 3]
