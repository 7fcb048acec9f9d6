"""The demo, and the scripted model on its own, as a newcomer runs them."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from daemon_process import Daemon

from turnkeeper.demo.model import FakeModel
from turnkeeper.demo.script import ScriptError, load, parse, shipped_names

TURNKEEPER = (sys.executable, "-m", "turnkeeper")


def run(*args: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TURNKEEPER_", "OTEL_"))}
    return subprocess.run((*TURNKEEPER, *args), capture_output=True, text=True, timeout=60, env=env, check=False)


def steps(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_demo_starts_its_own_daemon_and_shows_both_loops() -> None:
    done = run("demo", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = steps(done.stdout)
    turns = [{"event": "turn", "model_call": n, "mode": "ANY", "turn": n, "limit": 10} for n in range(1, 11)]
    shown = [{key: value for key, value in step.items() if key != "call"} for step in told if step["event"] == "turn"]
    assert shown == turns * 2
    assert [step["event"] for step in told if step["event"] != "turn"] == [
        "loop",
        "mode_switch",
        "answer",
        "loop",
        "mode_switch",
        "rejected",
    ]
    assert [step["model_call"] for step in told if step["event"] == "mode_switch"] == [11, 11]
    assert [(step["functions_run"]) for step in told if "functions_run" in step] == [10, 10]
    assert (told[-1]["reason"], told[-1]["turns"]) == ("TURN_LIMIT", 11)


def test_the_demo_plays_against_a_daemon_that_runs(daemon: Daemon) -> None:
    done = run("demo", "--address", daemon.address_tcp, "--speed", "0")
    assert done.returncode == 0
    assert "model call 11  ANY -> NONE  TURN_LIMIT: 10 tool-calling turns made, the limit is 10" in done.stdout
    assert "rejected  TURN_LIMIT: 11 tool-calling turns made, the limit is 10" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_demo_says_when_it_cannot_reach_the_daemon() -> None:
    done = run("demo", "--address", "127.0.0.1:9")
    assert done.returncode == 3
    assert "cannot reach the daemon at 127.0.0.1:9" in done.stderr
    assert run("demo", "--address", "nonsense").returncode == 2


def test_the_model_serves_a_script_until_it_is_told_to_stop(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"answers": [{"text": "hello {n}"}, {"status": 503, "message": "busy"}]}))
    with subprocess.Popen((*TURNKEEPER, "fake-model", str(script)), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        url = f"{ready['url']}/v1beta/models/m:generateContent"
        with urllib.request.urlopen(urllib.request.Request(url, b'{"contents": [{}]}'), timeout=10) as response:
            assert json.load(response)["candidates"][0]["content"]["parts"] == [{"text": "hello 1"}]
        for status in (503, 500):
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(urllib.request.Request(url, b"{}"), timeout=10)
            assert caught.value.code == status
        with urllib.request.urlopen(f"{ready['url']}/requests", timeout=10) as response:
            assert [(asked["n"], asked["mode"], asked["contents"]) for asked in json.load(response)] == [
                (1, None, 1),
                (2, None, 0),
                (3, None, 0),
            ]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_a_stream_is_sent_chunk_by_chunk() -> None:
    chunks = [{"text": "a", "delay_s": 0.01}, {"calls": [{"name": "f", "args": {"n": ["{n}"]}}]}]
    with FakeModel(parse(json.dumps({"answers": [{"chunks": chunks}]}))) as model:
        url = f"{model.url}/v1beta/models/m:streamGenerateContent?alt=sse"
        with urllib.request.urlopen(urllib.request.Request(url, b"{}"), timeout=10) as response:
            lines = [json.loads(line[6:]) for line in response.read().split(b"\r\n\r\n") if line]
    assert [line["candidates"][0]["content"]["parts"] for line in lines] == [
        [{"text": "a"}],
        [{"functionCall": {"name": "f", "args": {"n": ["1"]}}}],
    ]
    assert [line["candidates"][0].get("finishReason") for line in lines] == [None, "STOP"]


@pytest.mark.parametrize(
    ("script", "where"),
    [
        ("[]", "script: "),
        ("answers: []", "script.answers: "),
        ("answers: [{txt: a}]", r"script.answers\[0\]: \['txt'\] is not allowed"),
        ("answers: [{repeat: 0}]", r"script.answers\[0\].repeat: 0 is not allowed; allowed: 1 and more, or forever"),
        ("answers: [{chunks: [{calls: [{nam: f}]}]}]", r"script.answers\[0\].chunks\[0\].calls: "),
        ("answers: [", "script: "),
    ],
)
def test_a_bad_script_is_refused_with_its_place(script: str, where: str) -> None:
    with pytest.raises(ScriptError, match=where):
        parse(script)


def test_shipped_scripts_load_and_others_are_named(tmp_path: Path) -> None:
    assert shipped_names() == ["demo", "stubborn"]
    assert [load(name).obey_none for name in shipped_names()] == [True, False]
    with pytest.raises(ScriptError, match="shipped: demo, stubborn"):
        load(str(tmp_path / "nothing"))
    assert run("fake-model", "nothing").returncode == 2
