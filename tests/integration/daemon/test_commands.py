"""The commands that talk to a running daemon, as a script and a person use them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from daemon_process import Daemon
from wire_client import Wire

from turnkeeper.v1 import turnkeeper_pb2 as pb

NOWHERE = "127.0.0.1:9"


def turnkeeper(*args: str, address: str = "") -> subprocess.CompletedProcess[str]:
    where = ("--address", address) if address else ()
    env = {key: value for key, value in os.environ.items() if not key.startswith("TURNKEEPER_")}
    command = [sys.executable, "-m", "turnkeeper", *args, *where]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)


@pytest.fixture
def looped(wire: Wire) -> str:
    for number in range(1, 12):
        wire.before("looped", number, mode=pb.MODE_ANY, caller=pb.Caller(agent="refunds [eu]"))
        wire.after("looped", number, "search", mode_sent=pb.MODE_NONE if number == 11 else pb.MODE_ANY)
    return "looped"


def test_status(daemon: Daemon, looped: str) -> None:
    told = turnkeeper("status", address=daemon.address_unix)
    assert told.returncode == 0
    assert "memory:" in told.stdout
    assert "default" in told.stdout
    as_json = json.loads(turnkeeper("status", "--json", address=daemon.address_tcp).stdout)
    assert as_json["listen"] == daemon.listen
    assert [policy["name"] for policy in as_json["policies"]] == ["default"]
    assert as_json["decisions"] >= 22
    assert as_json["draining"] is False


def test_inspect(daemon: Daemon, looped: str) -> None:
    told = turnkeeper("inspect", looped, address=daemon.address_unix)
    assert told.returncode == 0
    assert "11 turns, 11 model calls, 11 function calls asked for" in told.stdout
    as_json = json.loads(turnkeeper("inspect", looped, "--json", address=daemon.address_unix).stdout)
    assert as_json["summary"]["last_verdict"] == "reject"
    assert as_json["summary"]["caller"]["agent"] == "refunds [eu]"
    points = [record["decision"]["decision_id"] for record in as_json["timeline"]]
    assert points[-2:] == ["11.0.before_model.0", "11.0.after_model.0"]
    unknown = turnkeeper("inspect", "nobody", address=daemon.address_unix)
    assert unknown.returncode == 1
    assert "nobody" in unknown.stderr


def test_healthcheck(daemon: Daemon) -> None:
    assert turnkeeper("healthcheck", address=daemon.address_unix).stdout == "SERVING\n"
    assert turnkeeper("healthcheck", "--json", address=daemon.address_unix).stdout == '{"status": "SERVING"}\n'


@pytest.mark.parametrize("command", [("status",), ("healthcheck",), ("inspect", "x"), ("tail",)])
def test_a_daemon_that_is_not_there_is_exit_code_3(command: tuple[str, ...]) -> None:
    told = turnkeeper(*command, address=NOWHERE)
    assert told.returncode == 3
    assert NOWHERE in told.stderr
    assert "Traceback" not in told.stderr


@pytest.fixture
def tail(daemon: Daemon) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "turnkeeper", "tail", "--count", "4", "--address", daemon.address_unix]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "watching\n"
        yield process
        process.kill()


def test_tail_shows_allows_while_somebody_watches(tail: subprocess.Popen[str], wire: Wire) -> None:
    for number in (1, 2):
        wire.before("tailed", number, caller=pb.Caller(agent="refunds [eu]\x1b[2J"))
        wire.after("tailed", number, "search")
    out, _ = tail.communicate(timeout=30)
    lines = out.splitlines()
    assert tail.returncode == 0
    assert [line.split()[1:4] for line in lines] == [
        ["allow", "before_model", "1"],
        ["allow", "after_model", "1"],
        ["allow", "before_model", "2"],
        ["allow", "after_model", "2"],
    ]
    assert all("refunds [eu]·[2J" in line for line in lines)


def test_config_tells_where_a_value_came_from() -> None:
    env = {**os.environ, "TURNKEEPER_LOG_LEVEL": "debug"}
    command = [sys.executable, "-m", "turnkeeper", "config", "--json", "--ids-max", "7"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)
    assert told["ids_max"] == {"value": 7, "source": "flag --ids-max", "env": "TURNKEEPER_IDS_MAX"}
    assert told["log_level"]["source"] == "environment TURNKEEPER_LOG_LEVEL"
    assert told["admin"]["source"] == "default"


def test_bad_usage_is_exit_code_2() -> None:
    assert turnkeeper("serve", "--no-such-flag").returncode == 2
    told = turnkeeper("config", "--ids-max", "-1", "--log-format", "xml")
    assert told.returncode == 2
    assert "--ids-max" in told.stderr
    assert "--log-format" in told.stderr


def test_version() -> None:
    assert json.loads(turnkeeper("version", "--json").stdout)["version"] == turnkeeper("--version").stdout.strip()
