"""``turnkeeper test``."""

import json
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree as ET

import click
from rich.console import Console

from turnkeeper import policies
from turnkeeper.vectors import CoreTarget, Failure, SuiteError, play, policies_of, read
from turnkeeper.vectors.conformance_pb2 import Case


class Played(NamedTuple):
    """One case, and how it went."""

    file: str
    suite: str
    case: str
    doc: str
    failure: Failure | None


@click.command("test")
@click.argument("policy_file", metavar="POLICIES")
@click.argument("cases", metavar="CASES...", nargs=-1, required=True)
@click.option("--junit", metavar="FILE", default="", help="Write the results to FILE, as JUnit XML.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(policy_file: str, cases: tuple[str, ...], junit: str, *, as_json: bool) -> None:
    """Run cases on a policy file: what is asked, and what must be answered.

    CASES are JSON files, or folders of them. Each case starts with no state; a field that is not wanted is not
    compared. A case that brings policies of its own runs under those.

    \b
    {"name": "refunds", "cases": [{"name": "no_call_is_run_at_the_limit", "steps": [
      {"before_model": {"request_id": "r", "model_call": 6, "transcript": {"turns_since_prompt": 5}},
       "want": {"before_model": {"decision": {"verdict": "VERDICT_FORCE_NONE"}, "mode": "MODE_NONE"}}}]}]}

    \b
    turnkeeper test policies.yaml cases/ --junit report.xml

    Exit code 1 when a case fails, 2 when a file cannot be used.
    """
    try:
        played = _run(policy_file, [Path(name) for name in cases])
    except policies.PolicyError as error:
        _refuse([str(problem) for problem in error.problems])
    except SuiteError as error:
        _refuse(error.problems)
    if junit:
        _write(Path(junit), played)
    if as_json:
        click.echo(json.dumps(_as_json(played), indent=2))
    else:
        _print(played)
    if any(each.failure for each in played):
        raise SystemExit(1)


def _refuse(problems: list[str]) -> NoReturn:
    for problem in problems:
        click.echo(problem, err=True)
    raise SystemExit(2)


def _run(policy_file: str, paths: list[Path]) -> list[Played]:
    """Read everything, then play everything. Raises ``PolicyError``, ``SuiteError``."""
    given = policies.load(Path(policy_file))
    problems: list[str] = []
    ready: list[tuple[Path, str, Case, policies.PolicySet]] = []
    for path in _files(paths):
        try:
            suite = read(path)
            ready += [(path, suite.name, case, _policies(path, case, given)) for case in suite.cases]
        except SuiteError as error:
            problems += error.problems
        except policies.PolicyError as error:
            problems += [str(problem) for problem in error.problems]
    if problems:
        raise SuiteError(problems)
    return [
        Played(str(path), suite, case.name, case.doc, play(case, CoreTarget(under)))
        for path, suite, case, under in ready
    ]


def _files(paths: list[Path]) -> list[Path]:
    """Return the files that are named, and the JSON files in folders that are named."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        if not found:
            raise SuiteError([f"{path}: a folder without a .json file"])
        files += found
    return files


def _policies(path: Path, case: Case, given: policies.PolicySet) -> policies.PolicySet:
    text = policies_of(path, case)
    return policies.parse(text, f"{path}: case {case.name}: policies") if text else given


def _print(played: list[Played]) -> None:
    console = Console(highlight=False, soft_wrap=True, emoji=False)
    failed = [each for each in played if each.failure]
    for each in failed:
        console.print(f"{each.file}: {each.suite}/{each.case}: FAILED", style="red", markup=False)
        for line in [*([each.doc] if each.doc else []), *str(each.failure).splitlines()]:
            console.print(f"  {line}", markup=False)
    style = "red" if failed else "green"
    console.print(f"{len(played) - len(failed)} passed, {len(failed)} failed", style=style)


def _as_json(played: list[Played]) -> dict[str, Any]:
    failed = sum(each.failure is not None for each in played)
    cases = [
        {"file": each.file, "suite": each.suite, "case": each.case, "ok": each.failure is None, **_told(each.failure)}
        for each in played
    ]
    return {"passed": len(played) - failed, "failed": failed, "cases": cases}


def _told(failure: Failure | None) -> dict[str, Any]:
    if failure is None:
        return {}
    found = [difference._asdict() for difference in failure.differences]
    return {"step": failure.step, "sent": json.loads(failure.sent), "differences": found}


def _write(path: Path, played: list[Played]) -> None:
    root = ET.Element("testsuites")
    suites: dict[tuple[str, str], list[Played]] = {}
    for each in played:
        suites.setdefault((each.file, each.suite), []).append(each)
    for (file, name), cases in suites.items():
        failures = sum(each.failure is not None for each in cases)
        told = {"name": name or file, "tests": str(len(cases)), "failures": str(failures), "errors": "0"}
        suite = ET.SubElement(root, "testsuite", told)
        for each in cases:
            case = ET.SubElement(suite, "testcase", {"classname": name or file, "name": each.case, "file": file})
            if each.failure is not None:
                message = str(each.failure.differences[0])
                ET.SubElement(case, "failure", {"message": message}).text = str(each.failure)
    try:
        path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))
    except OSError as error:
        _refuse([f"--junit {path}: cannot be written: {error.strerror}"])
