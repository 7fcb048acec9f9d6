"""``turnkeeper test``."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

import turnkeeper
from turnkeeper.cli import cli

EXAMPLES = Path(turnkeeper.__file__).parents[1] / "examples"
POLICIES, CASES = EXAMPLES / "refunds.yaml", EXAMPLES / "refunds.cases.json"
LOSE = {"lose_state": True}


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(cli, ["test", *(str(arg) for arg in args)])


@pytest.fixture
def strict(tmp_path: Path) -> Path:
    """Return the example's policies with other numbers."""
    path = tmp_path / "policies.yaml"
    path.write_text(POLICIES.read_text().replace("n: 5", "n: 4").replace("n: 3", "n: 4"))
    return path


def written(folder: Path, content: object, name: str = "cases.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def case(*steps: object, **fields: object) -> dict[str, Any]:
    return {"name": "s", "cases": [{"name": "a", **fields, "steps": steps}]}


def test_the_example_passes() -> None:
    result = run(POLICIES, CASES)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "3 passed, 0 failed\n", "")


def test_a_failure_tells_step_wanted_and_got(strict: Path) -> None:
    result = run(strict, CASES)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[:4] == [
        f"{CASES}: refunds/five_turns_then_an_answer: FAILED",
        "  A refund agent that comes to its sixth model call is told to answer.",
        "  step 1: decision.verdict: wanted VERDICT_ALLOW, got VERDICT_FORCE_NONE",
        "  step 1: mode: wanted MODE_AUTO, got MODE_NONE",
    ]
    assert lines[4].startswith('  sent {"before_model": {"request_id": "r", "model_call": 5, ')
    assert lines[-1] == "1 passed, 2 failed"


def test_json(strict: Path) -> None:
    result = run(strict, CASES, "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["passed"], told["failed"]) == (1, 1, 2)
    first, _, third = told["cases"]
    assert third == {"file": str(CASES), "suite": "refunds", "case": "others_are_under_the_default", "ok": True}
    assert (first["ok"], first["step"], first["sent"]["before_model"]["model_call"]) == (False, 1, 5)
    assert first["differences"][1] == {"path": "mode", "wanted": "MODE_AUTO", "got": "MODE_NONE"}


def test_junit(strict: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert run(strict, CASES, "--junit", report).exit_code == 1
    (suite,) = ET.parse(report).getroot()  # noqa: S314 - our own
    assert suite.attrib == {"name": "refunds", "tests": "3", "failures": "2", "errors": "0"}
    assert [(one.get("classname"), one.get("name")) for one in suite] == [
        ("refunds", "five_turns_then_an_answer"),
        ("refunds", "the_fourth_email_is_not_sent"),
        ("refunds", "others_are_under_the_default"),
    ]
    failures = [one.find("failure") for one in suite]
    assert failures[0] is not None
    assert failures[0].get("message") == "decision.verdict: wanted VERDICT_ALLOW, got VERDICT_FORCE_NONE"
    assert "step 1: mode: wanted MODE_AUTO, got MODE_NONE" in str(failures[0].text)
    assert failures[2] is None


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.json", "deep/a.json"):
        written(tmp_path, case(LOSE), name)
    (tmp_path / "other.txt").write_text("no case")
    result = run(POLICIES, tmp_path, CASES, "--json")
    assert [Path(one["file"]).name for one in json.loads(result.stdout)["cases"]] == [
        "b.json",
        "a.json",
        *["refunds.cases.json"] * 3,
    ]


def test_a_case_may_bring_its_own_policies(tmp_path: Path) -> None:
    ask = {"before_model": {"request_id": "r"}, "want": {"before_model": {"decision": {"verdict": "VERDICT_REJECT"}}}}
    (tmp_path / "closed.yaml").write_text("policies: {default: {deny: closed}}")
    assert run(POLICIES, written(tmp_path, case(ask))).exit_code == 1
    assert run(POLICIES, written(tmp_path, case(ask, policies_yaml="policies: {default: {deny: x}}"))).exit_code == 0
    assert run(POLICIES, written(tmp_path, case(ask, policies_file="closed.yaml"))).exit_code == 0


def test_time_and_lost_state_are_played(tmp_path: Path) -> None:
    def ask(at: str, elapsed: str) -> dict[str, Any]:
        return {
            "at": at,
            "before_model": {"request_id": "r"},
            "want": {"before_model": {"decision": {"counters": {"elapsed": elapsed}}}},
        }

    assert (
        run(POLICIES, written(tmp_path, case(ask("0s", "0s"), ask("5s", "5s"), LOSE, ask("6s", "0s")))).exit_code == 0
    )


BEFORE = {"request_id": "r"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", ":1:2: not JSON: Expecting property name enclosed in double quotes"),
        ('{"a": 1, "a": 2}', ": not JSON: key 'a', given twice"),
        ([1], ": a map with name and cases is wanted"),
        ({"name": "s"}, ": cases: a list of at least one is wanted"),
        ({"cases": []}, ": cases: a list of at least one is wanted"),
        ({"cases": [3]}, ": cases[0]: a map with name and steps is wanted"),
        ({"name": "a\x00", "cases": case(LOSE)["cases"]}, r": name: 'a\x00', allowed: printable characters"),
        ({**case(LOSE), "nmae": 1}, ": nmae: unknown field, allowed: name, description, cases; did you mean name?"),
        (case(LOSE, name="a b"), ": cases[0].name: 'a b', allowed: letters, digits and underscores"),
        ({"cases": case(LOSE)["cases"] * 2}, ": cases: name 'a', given 2 times"),
        (case(), ": cases[0].steps: a list of at least one is wanted"),
        (case(3), ": cases[0].steps[0]: a map with what is sent and want is wanted"),
        (
            case({"at": "1s"}),
            ": cases[0].steps[0]: one of before_model, after_model, end_request, lose_state is wanted",
        ),
        (
            case({"befor_model": BEFORE}),
            (
                ": cases[0].steps[0].befor_model: unknown field, allowed: at, before_model, after_model, end_request,"
                " lose_state, want; did you mean before_model?"
            ),
        ),
        (
            case(LOSE, {"before_model": {"results": [{"digst": ""}]}}),
            (
                ": cases[0].steps[1].before_model.results[0].digst: unknown field, allowed: call_id, name, digest,"
                " is_error; did you mean digest?"
            ),
        ),
        (
            case({"before_model": {"mode": "ANY"}}),
            (
                ": cases[0].steps[0].before_model.mode: 'ANY', allowed: MODE_UNSPECIFIED, MODE_AUTO, MODE_ANY,"
                " MODE_NONE, MODE_VALIDATED"
            ),
        ),
        (case({"before_model": {"model_call": -1}}), ": cases[0].steps[0].model_call: Value out of range: -1"),
        (case({**LOSE, "at": "3"}), ': cases[0].steps[0].at: Duration must end with letter "s": 3'),
        (
            case({"before_model": BEFORE, "want": {"after_model": {}}}),
            ": cases[0].steps[0].want: after_model, allowed: before_model or status, for that is what is sent",
        ),
        (
            case({"before_model": BEFORE, "want": {"before_model": {}, "zero": ["mode", "decision.nope"]}}),
            ": cases[0].steps[0].want.zero[1]: 'decision.nope', allowed: a field of BeforeModelResponse, or one in it",
        ),
        (
            case({**LOSE, "want": {"status": {"code": "OK"}}}),
            ": cases[0].steps[0].want: allowed: none, for lose_state has no answer",
        ),
        (case(LOSE, policies_yaml="policies: 3"), ": case a: policies:1:11: policies: 3, allowed: a map of names to"),
        (case(LOSE, policies_file="none.yaml"), "none.yaml cannot be read: No such file or directory"),
    ],
)
def test_bad_cases_are_bad_input(tmp_path: Path, content: object, problem: str) -> None:
    path = written(tmp_path, content)
    result = run(POLICIES, path)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"{path}: " if not problem.startswith(":1") else f"{path}:1:2: ")
    assert problem in line


def test_all_problems_are_told_at_once_and_nothing_is_played(tmp_path: Path) -> None:
    one = written(tmp_path, {"cases": [{"name": "a b", "steps": []}]}, "one.json")
    result = run(POLICIES, CASES, one, tmp_path / "none.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        f"{one}: cases[0].name: 'a b', allowed: letters, digits and underscores",
        f"{one}: cases[0].steps: a list of at least one is wanted",
        f"{tmp_path / 'none.json'}: cannot be read: No such file or directory",
    ]


def test_bad_policies_are_bad_input(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("policies: {a: {extends: b, deny: 1}}")
    result = run(bad, CASES)
    assert (result.exit_code, result.stdout) == (2, "")
    assert [line.split(":")[1:4] for line in result.stderr.splitlines()] == [
        ["1", "25", " policies.a.extends"],
        ["1", "34", " policies.a.deny"],
    ]
    assert run(tmp_path / "none.yaml", CASES).exit_code == 2


def test_other_bad_usage(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = run(POLICIES, tmp_path / "empty")
    assert (result.exit_code, result.stderr) == (2, f"{tmp_path / 'empty'}: a folder without a .json file\n")
    assert run(POLICIES).exit_code == 2
    result = run(POLICIES, CASES, "--junit", tmp_path / "none" / "x.xml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("x.xml: cannot be written: No such file or directory\n")


def test_help_has_a_case_that_runs(tmp_path: Path) -> None:
    text = run("--help").stdout
    path = written(tmp_path, text[text.index("{") : text.index("turnkeeper test policies")])
    five = tmp_path / "five.yaml"
    five.write_text("policies: {default: {extends: firebase-ios, limits: [{unit: turns, n: 5}]}}")
    assert run(five, path).stdout == "1 passed, 0 failed\n"
    assert run(POLICIES, path).exit_code == 1
