"""``turnkeeper replay`` as it is used."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from turnkeeper.cli.replay import command

TOTAL_KEYS = {
    "kind", "runs", "succeeded", "failed", "prompts", "size", "turns_per_prompt", "agents", "not_understood", "policies",
}  # fmt: skip
POLICY_KEYS = {
    "file", "stopped", "succeeded_stopped", "failed_stopped", "warned", "forced_answers", "saved", "by_verdict",
    "by_reason", "by_agent", "by_turn",
}  # fmt: skip
RUN_KEYS = {"kind", "id", "where", "agent", "model", "success", "lengths", "size", "verdicts"}
VERDICTS_KEYS = {"policy", "stop", "warnings", "forced_answers"}
STOP_KEYS = {"prompt", "turn", "point", "verdict", "reason", "message", "saved"}
SIZE_KEYS = {"turns", "function_calls", "tokens"}


class Tags(HTMLParser):
    """What a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def replay(*args: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def lines(*args: str | Path) -> list[dict[str, Any]]:
    code, out, _ = replay(*args, "--json")
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


def test_totals_and_stopped_runs_for_a_person(data: Path) -> None:
    code, out, _ = replay(data / "stops.yaml", data / "trajectories.jsonl")
    assert code == 0
    assert "stuck, failed" in out
    assert "prompt 1, turn 5, after: force_none, repetition: the same function calls 4 times in a row" in out
    assert re.search(r"succeeded, and would have been stopped +0 \(0.00 %\)", out)
    assert "3 runs (2 succeeded, 1 failed), 4 prompts, 19 turns" in out


def test_names_are_no_commands_to_the_terminal(data: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.jsonl"
    evil.write_text((data / "trajectories.jsonl").read_text().replace("stuck", "[red]\\u001b[2Jx"))
    _, out, _ = replay(data / "stops.yaml", evil)
    assert "[red]\ufffd[2Jx, failed" in out


def test_json_has_these_keys(data: Path) -> None:
    *runs, total = lines(data / "stops.yaml", *sorted(data.glob("*.json*")))
    assert {run["kind"] for run in runs} == {"run"}
    assert {frozenset(run) for run in runs} == {frozenset(RUN_KEYS)}
    assert {frozenset(each) for run in runs for each in run["verdicts"]} == {frozenset(VERDICTS_KEYS)}
    stops = [each["stop"] for run in runs for each in run["verdicts"] if each["stop"]]
    assert stops
    assert {frozenset(stop) for stop in stops} == {frozenset(STOP_KEYS)}
    assert {frozenset(stop["saved"]) for stop in stops} == {frozenset(SIZE_KEYS)}
    assert (set(total), total["kind"]) == (TOTAL_KEYS, "total")
    assert [set(policy) for policy in total["policies"]] == [POLICY_KEYS]
    assert total["runs"] == len(runs)
    assert total["policies"][0]["stopped"] == len(stops)


def test_two_policies_side_by_side(data: Path) -> None:
    *runs, total = lines(data / "stops.yaml", data / "trajectories.jsonl", "--compare", "built-in")
    assert [len(run["verdicts"]) for run in runs] == [2, 2, 2]
    assert [policy["file"] for policy in total["policies"]] == [str(data / "stops.yaml"), "built-in"]
    code, out, _ = replay(data / "stops.yaml", data / "trajectories.jsonl", "--compare", "built-in")
    assert code == 0
    assert "under " in out


def test_one_policy_for_every_run(data: Path) -> None:
    *_, total = lines("built-in", data / "trajectories.jsonl", "--policy", "firebase-flutter")
    assert total["policies"][0]["by_reason"] == {"turn_limit": 2}


def test_several_processes_tell_the_same_in_the_same_order(data: Path) -> None:
    inputs = [*sorted(data.glob("*.json*"))] * 12
    assert lines(data / "stops.yaml", *inputs, "--jobs", "2") == lines(data / "stops.yaml", *inputs)


def test_bad_input_is_counted_told_and_exits_2(data: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("nonsense\n" * 25 + (data / "trajectories.jsonl").read_text())
    code, out, err = replay(data / "stops.yaml", bad, tmp_path / "missing.jsonl", "--json")
    assert code == 2
    total = json.loads(out.splitlines()[-1])
    assert (total["runs"], total["not_understood"]) == (3, 26)
    assert f"{bad}:1: not JSON" in err
    assert "and 6 more that could not be read" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("policies", "flags", "says"),
    [
        ("missing.yaml", [], "missing.yaml:1:1: cannot be read"),
        ("built-in", ["--policy", "nobody"], "'nobody' is not defined"),
        ("built-in", ["--compare", "missing.yaml"], "cannot be read"),
        ("built-in", ["--html", "/no/such/folder/r.html"], "/no/such/folder/r.html: cannot be written"),
    ],
)
def test_what_is_asked_wrongly_exits_2(data: Path, policies: str, flags: list[str], says: str) -> None:
    code, _, err = replay(policies, data / "openai.jsonl", *flags)
    assert code == 2
    assert says in err


def test_html_is_complete_in_itself(data: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.jsonl"
    text = (data / "trajectories.jsonl").read_text()
    evil.write_text(text.replace("stuck", "<script>alert(1)</script>").replace("coder", "<img src=//x>"))
    report = tmp_path / "report.html"
    assert replay(data / "stops.yaml", evil, "--compare", "built-in", "--html", report)[0] == 0
    page = report.read_text("utf-8")
    found = Tags(page)
    assert found.names.count("svg") == 4
    assert not {"script", "link", "img", "iframe", "object", "embed", "image", "use", "base"} & set(found.names)
    assert not {"src", "href", "xlink:href", "srcset", "data", "action", "onload", "style"} & found.attributes
    assert not re.search(r"url\(|@import|https?:", page)
    assert "<script>alert(1)</script>" in found.text


def test_html_of_nothing(data: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    report = tmp_path / "report.html"
    assert replay(data / "stops.yaml", empty, "--html", report)[0] == 0
    assert "Nothing to show." in report.read_text("utf-8")


def peak_kb(data: Path, path: Path) -> int:
    """Return the most memory that a replay of a file took."""
    argv = [sys.executable, "-m", "turnkeeper", "replay", str(data / "stops.yaml"), str(path), "--json"]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as started:
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    assert started.returncode == 0
    return usage.ru_maxrss if sys.platform == "linux" else usage.ru_maxrss // 1024


def test_memory_does_not_grow_with_the_input(data: Path, tmp_path: Path) -> None:
    def write(megabytes: int) -> Path:
        path = tmp_path / f"{megabytes}.jsonl"
        with path.open("w") as out:
            number = 0
            while out.tell() < megabytes * 1024 * 1024:
                results = [{"call": 0, "text": f"{number} {turn} " + "x" * 20_000} for turn in range(10)]
                turns = [
                    {"calls": [{"name": "read", "args": f'{{"n": {n}}}'}], "results": [each]}
                    for n, each in enumerate(results)
                ]
                out.write(
                    json.dumps({"id": f"run {number}", "agent": f"agent {number}", "prompts": [{"turns": turns}]})
                    + "\n"
                )
                number += 1
        return path

    small, large = peak_kb(data, write(4)), peak_kb(data, write(120))
    assert large - small < 12 * 1024, f"{small} KB for 4 MB, {large} KB for 120 MB"
