"""Addresses: claimed, refused, taken over; and how a daemon ends."""

import itertools
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import grpc
import pytest
from daemon_process import Daemon, NotReadyError, until
from wire_client import Wire

from turnkeeper.v1 import turnkeeper_pb2 as pb


def serve(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "turnkeeper", "serve", "--admin", "127.0.0.1:0", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_ready_line_is_all_of_stdout(tmp_path: Path) -> None:
    daemon = Daemon.start(tmp_path)
    assert daemon.ready["ready"] is True
    assert daemon.ready["pid"] == daemon.pid
    assert daemon.ready["listen"][0].startswith("unix:///")
    assert int(daemon.address_tcp.rsplit(":", 1)[1]) > 0
    assert set(daemon.ready) == {"ready", "pid", "listen", "admin", "version"}
    assert daemon.process.stdout is not None
    daemon.process.send_signal(signal.SIGINT)
    assert daemon.process.stdout.read() == ""
    assert daemon.stop() == 0


def test_a_second_daemon_on_the_same_socket_is_refused(tmp_path: Path) -> None:
    with Daemon.running(tmp_path) as daemon:
        second = serve("--listen", daemon.address_unix)
        assert second.returncode == 4
        assert daemon.address_unix in second.stderr
        assert str(daemon.pid) in second.stderr
        assert second.stdout == ""
        with Wire(daemon.address_unix) as wire:
            assert wire.before("still", 1).decision.verdict == pb.VERDICT_ALLOW


def test_a_second_daemon_on_the_same_port_is_refused(tmp_path: Path) -> None:
    with Daemon.running(tmp_path) as daemon:
        second = serve("--listen", daemon.address_tcp)
        assert second.returncode == 4
        assert daemon.address_tcp in second.stderr


def test_a_taken_admin_port_is_refused(tmp_path: Path) -> None:
    with Daemon.running(tmp_path) as daemon:
        second = serve("--listen", f"unix://{tmp_path}/second.sock", "--admin", daemon.admin)
        assert second.returncode == 4
        assert daemon.admin in second.stderr


def test_the_socket_of_a_dead_daemon_is_taken_over(tmp_path: Path) -> None:
    dead = Daemon.start(tmp_path)
    dead.kill()
    assert Path(dead.address_unix.removeprefix("unix://")).exists()
    daemon = dead.restart()
    with Wire(daemon.address_unix) as wire:
        assert wire.before("taken-over", 1).decision.verdict == pb.VERDICT_ALLOW
    assert daemon.stop() == 0


def test_another_programs_socket_is_not_stolen(tmp_path: Path) -> None:
    path = tmp_path / "other.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(path))
        other.listen()
        refused = serve("--listen", f"unix://{path}")
        assert refused.returncode == 4
        assert path.exists()


def test_a_file_in_the_way_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "file.sock"
    path.write_text("mine")
    assert serve("--listen", f"unix://{path}").returncode == 4
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("0.0.0.0:0", "loopback"),
        ("nonsense", "not an address"),
        ("unix://relative", "absolute"),
        ("127.0.0.1:99999", "port"),
    ],
)
def test_a_bad_address_is_bad_usage(address: str, word: str) -> None:
    refused = serve("--listen", address)
    assert refused.returncode == 2
    assert word in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_path_that_is_too_long_is_refused_with_its_length(tmp_path: Path) -> None:
    refused = serve("--listen", f"unix://{tmp_path}/{'x' * 120}.sock")
    assert refused.returncode == 2
    assert "107" in refused.stderr


def test_the_socket_is_for_owner_and_group_only(tmp_path: Path) -> None:
    with Daemon.running(tmp_path, "--listen", f"unix://{tmp_path}/made/tk.sock") as daemon:
        path = Path(next(a for a in daemon.listen if "made" in a).removeprefix("unix://"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o750


def test_the_default_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / "turnkeeper"
    directory.mkdir()
    if os.getuid() == 0:
        os.chown(directory, 12345, 12345)
    else:
        pytest.skip("only root can give a directory away")
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "turnkeeper", "serve", "--admin", "127.0.0.1:0"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert refused.returncode == 2
    assert "12345" in refused.stderr


def test_sigterm_drains_within_the_deadline_with_a_dead_collector(tmp_path: Path) -> None:
    hole = socket.create_server(("127.0.0.1", 0))  # accepts, and never answers
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{hole.getsockname()[1]}"}
    daemon = Daemon.start(tmp_path, "--drain-s", "2", env=env)
    with hole, Wire(daemon.address_unix) as wire:
        for number in range(1, 13):
            wire.before("drain", number)
            wire.after("drain", number, "search")
        assert daemon.stop(timeout_s=8) == 0


def test_sigterm_under_load_cancels_no_call(tmp_path: Path) -> None:
    daemon = Daemon.start(tmp_path)
    ends: list[grpc.StatusCode] = []

    def call_until_refused(number: int) -> None:
        with Wire(daemon.address_unix) as wire:
            for count in itertools.count():
                try:
                    wire.before(f"{number}-{count}", 1)
                except grpc.RpcError as error:
                    ends.append(error.code())  # type: ignore[attr-defined]
                    return
                answered.release()

    answered = threading.Semaphore(0)
    threads = [threading.Thread(target=call_until_refused, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        assert answered.acquire(timeout=10)
    assert daemon.stop() == 0
    for thread in threads:
        thread.join()
    assert ends == [grpc.StatusCode.UNAVAILABLE] * 8


def test_sighup_reloads_and_a_bad_file_keeps_the_last_good(tmp_path: Path) -> None:
    policies = tmp_path / "policies.yaml"
    policies.write_text("policies:\n  default:\n    limits: [{unit: turns, n: 1, after: {then: reject}}]\n")
    with Daemon.running(tmp_path, "--policies", str(policies)) as daemon, Wire(daemon.address_unix) as wire:
        assert wire.before("one", 1).decision.counters.limit == 1
        policies.write_text("policies:\n  default:\n    limits: [{unit: turns, n: 2, after: {then: reject}}]\n")
        os.kill(daemon.pid, signal.SIGHUP)
        until(lambda: wire.before("two", 0).decision.counters.limit == 2, what="the new limit")
        policies.write_text("policies:\n  default:\n    limits: [{unit: turns, n: -2}]\n    typo: 1\n")
        until(lambda: wire.status().policy_error != "", what="the refused reload")
        assert "policies.yaml:3" in wire.status().policy_error
        assert "typo" in wire.status().policy_error
        assert wire.before("three", 1).decision.counters.limit == 2
        policies.write_text("policies:\n  default:\n    limits: [{unit: turns, n: 3, after: {then: reject}}]\n")
        until(lambda: wire.status().policy_error == "", what="the good reload")
        assert wire.before("two", 0).decision.counters.limit == 3


def test_a_bad_policy_file_refuses_to_start_with_every_problem(tmp_path: Path) -> None:
    policies = tmp_path / "bad.yaml"
    policies.write_text("policies:\n  a:\n    enforcment: enforce\n    limits: [{unit: turns, n: 1.5}]\n")
    with pytest.raises(NotReadyError) as refused:
        Daemon.start(tmp_path, "--policies", str(policies))
    text = str(refused.value)
    assert "exit code 2" in text
    assert "bad.yaml:3" in text
    assert "bad.yaml:4" in text
    assert "Traceback" not in text


def test_a_daemon_starts_with_a_config_file_and_tells_bad_values(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("ids_max: 5\nlog_format: json\n")
    with Daemon.running(tmp_path, "--config", str(config)) as daemon:

        def messages() -> list[str]:
            return [json.loads(line)["message"] for line in daemon.stderr().splitlines()]

        until(lambda: "ready" in messages(), what="the log line in JSON")
    config.write_text("ids_maxx: 5\nlog_format: xml\nids_max: -1\nlisten: [nonsense, 3, 0.0.0.0:1]\n")
    refused = serve("--config", str(config))
    assert refused.returncode == 2
    assert "config.yaml:1" in refused.stderr
    assert "ids_max" in refused.stderr
    assert "config.yaml:2" in refused.stderr
    assert "config.yaml:3" in refused.stderr
    assert refused.stderr.count("config.yaml:4") == 3


def test_text_that_is_not_utf8_is_bad_usage(tmp_path: Path) -> None:
    refused = serve("--listen", f"unix://{tmp_path}/\udcff.sock")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
