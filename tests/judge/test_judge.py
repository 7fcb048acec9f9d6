"""The rules of other systems do what was measured of them, and the program says when it cannot run."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from judge import rules

RUN = Path(__file__).parent / "run.py"


def prompt(text: str, *, results: str = "", failed: bool = False) -> rules.Prompt:
    """One call a turn, named by a letter; results by letters too, all equal where there are none."""
    told = results or "=" * len(text)
    return [[rules.Call(name, name, name, result, failed)] for name, result in zip(text, told, strict=True)]


@pytest.mark.parametrize(
    ("rule", "calls", "turn"),
    [
        (rules.same_call_twice, "ABA", None),
        (rules.same_call_twice, "ABB", 2),
        # as gemini-cli-core was seen to act: at the 5th, 10th, 15th and 25th call, never on a period of six
        (rules.gemini_cli, "AAAAA", 4),
        (rules.gemini_cli, "AB" * 5, 9),
        (rules.gemini_cli, "ABC" * 5, 14),
        (rules.gemini_cli, "ABCDE" * 5, 24),
        (rules.gemini_cli, "ABCDEF" * 9, None),
        (rules.gemini_cli, "AAAAB" * 5, 24),
        (rules.qwen_code, "AAAAA", 4),
        (rules.qwen_code, "ABABABABAB", None),
        (rules.qwen_code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 8, 130),
        (rules.openhands, "AAAA", 4),
        (rules.openhands, "AAA", None),
        (rules.openhands, "ABABAB", 6),
        (rules.hermes, "AAAAA", 4),
        (rules.hermes, "AB" * 5, 9),
        (rules.hermes, "ABCDE" * 6, 25),
    ],
)
def test_rules(rule: rules.Rule, calls: str, turn: int | None) -> None:
    assert rule(prompt(calls)) == turn


def test_rules_that_look_at_results() -> None:
    assert rules.openhands(prompt("AAAA", results="1234")) is None
    assert rules.openhands(prompt("AAAA", results="1234", failed=True)) == 4
    assert rules.gemini_cli(prompt("AAAAA", results="12345")) == 4


def test_not_run_without_runs(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, RUN, tmp_path / "none.gz"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("not run: no recorded runs at ")


def test_a_table_of_small_runs(tmp_path: Path) -> None:
    policies = tmp_path / "p.yaml"
    policies.write_text(
        "policies: {watchful: {repetition: {warn: 3, at: 4}, cycle: {warn: 2, at: 3}, error_streak: {warn: 3, at: 5}}}"
    )

    def turn(name: str, result: str) -> dict[str, object]:
        call = {"id": None, "name": name, "args": "{}"}
        return {"calls": [call], "text": False, "results": [{"call": 0, "digest": result, "error": None, "size": 1}]}

    label = {"kind": "repeat", "period": 1, "laps": 6, "prompt": 0, "first_turn": 1}
    stuck = {
        "id": "a",
        "success": False,
        "loop": label,
        "prompts": [{"turns": [turn("B", "0"), *[turn("A", "1")] * 6]}],
    }
    good = {"id": "b", "success": True, "loop": None, "prompts": [{"turns": [turn("A", str(n)) for n in range(6)]}]}
    runs = tmp_path / "runs.jsonl.gz"
    runs.write_bytes(gzip.compress("\n".join(json.dumps(run) for run in (stuck, good, good | {"id": "c"})).encode()))
    done = subprocess.run(
        [sys.executable, RUN, runs, "--policies", policies], capture_output=True, text=True, check=True
    )
    assert "| **turnkeeper, `watchful`** | 0 (0.00 %) | 1 of 1 (100.0 %) | 3 | 1 (100 %) | 0 |" in done.stdout
    assert "| same call twice in a row | 2 (100.00 %) | 1 of 1 (100.0 %) | 1 | 1 (100 %) | 0 |" in done.stdout
