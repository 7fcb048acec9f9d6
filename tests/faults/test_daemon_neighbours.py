"""Faults of the daemon's neighbours never stop a decision; nothing told is lost uncounted."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from collector import BINARY, MISSING, Collector
from daemon_process import Daemon, until
from scrape import metrics, status, total
from wire_client import Wire

from turnkeeper.v1 import turnkeeper_pb2 as pb

DEADLINE_S = 5.0  # of a call on a machine that is busy with the whole test run


class Load:
    """Loops until told to stop; keeps count of what it asked and how long the slowest answer took."""

    def __init__(self, address: str) -> None:
        self.decisions = 0
        self.stopped_loops = 0
        self.errors: list[Exception] = []
        self._stop = threading.Event()
        self._address = address
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        until(lambda: self.decisions > 100, what="the load to begin")
        return self

    def __exit__(self, *args: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            with Wire(self._address) as wire:
                loops = 0
                while not self._stop.is_set():
                    loops += 1
                    self._loop(wire, f"load-{loops}")
        except Exception as error:  # noqa: BLE001 - the test shows it
            self.errors.append(error)

    def _loop(self, wire: Wire, request_id: str) -> None:
        for number in range(1, 12):
            wire.before(request_id, number, mode=pb.MODE_ANY)
            wire.after(request_id, number, "search")
            self.decisions += 2
        wire.end(request_id, pb.OUTCOME_FAILED)
        self.stopped_loops += 1

    def goes_on(self, decisions: int = 400) -> None:
        """Wait until that many more decisions were answered."""
        target = self.decisions + decisions
        until(lambda: self.errors or self.decisions >= target, timeout_s=30, what="decisions to go on")
        assert not self.errors


def observer_pid(daemon: Daemon) -> int:
    children = Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split()
    return int(children[0])


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon.running(tmp_path) as running:
        yield running


def test_kill_9_of_the_observer_under_load_loses_no_count(daemon: Daemon) -> None:
    with Load(daemon.address_unix) as load:
        for _ in range(3):
            victim = observer_pid(daemon)
            os.kill(victim, signal.SIGKILL)
            load.goes_on()
            until(lambda: status_or_none(daemon) is not None, what="the admin port to answer again")
    assert not load.errors
    until(lambda: total(metrics(daemon.admin), "turnkeeper_decisions_total") == load.decisions, what="every decision")
    with Wire(daemon.address_unix) as wire:
        observer = wire.status().observer
        assert observer.restarts == 3
        assert observer.running
        assert total(metrics(daemon.admin), "turnkeeper_observer_restarts_total") == 3


def status_or_none(daemon: Daemon) -> object:
    try:
        return status(daemon.admin)
    except OSError:
        return None


def test_a_stopped_observer_holds_up_nothing(daemon: Daemon) -> None:
    with Load(daemon.address_unix) as load:
        victim = observer_pid(daemon)
        os.kill(victim, signal.SIGSTOP)
        load.goes_on(2000)
        with contextlib.suppress(ProcessLookupError):  # on a slow machine it was taken for hung, and started again
            os.kill(victim, signal.SIGCONT)
        load.goes_on()
    assert not load.errors
    until(lambda: total(metrics(daemon.admin), "turnkeeper_decisions_total") == load.decisions, what="every decision")


@pytest.mark.go_tools
@pytest.mark.skipif(not BINARY.exists(), reason=MISSING)
def test_a_paused_collector_and_a_killed_observer_lose_spans_that_are_counted(tmp_path: Path) -> None:
    with Collector.running(tmp_path) as collector:
        env = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.otlp_grpc,
            "OTEL_TRACES_SAMPLER": "always_off",
            "OTEL_METRIC_EXPORT_INTERVAL": "500",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "OTEL_BLRP_SCHEDULE_DELAY": "100",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "2",
        }
        with Daemon.running(tmp_path, env=env) as daemon, Wire(daemon.address_unix) as wire:
            with Load(daemon.address_unix) as load:
                collector.pause()
                load.goes_on(1000)
                os.kill(observer_pid(daemon), signal.SIGKILL)
                load.goes_on(1000)
                collector.resume()
                load.goes_on(400)
            assert not load.errors
            samples_agree(daemon, load)

            offered = 3 * load.stopped_loops  # a FORCE_NONE, a REJECT and a tool_loop each
            assert wire.status().observer.facts_offered == offered + 1  # and the policies
            until(
                lambda: len(told_spans(collector)) + span_losses(daemon) >= offered,
                timeout_s=60,
                what="each span to be at the Collector, or counted as lost",
            )
            ids = [span["spanId"] for span in told_spans(collector)]
            assert len(ids) == len(set(ids)) <= offered  # a span is never told twice


def told_spans(collector: Collector) -> list[dict[str, Any]]:
    return [span for span in collector.spans() if span["name"].startswith(("turnkeeper.v1", "tool_loop"))]


def span_losses(daemon: Daemon) -> float:
    return total(metrics(daemon.admin), "turnkeeper_facts_dropped_total")


def samples_agree(daemon: Daemon, load: Load) -> None:
    until(
        lambda: total(metrics(daemon.admin), "turnkeeper_decisions_total") == load.decisions,
        timeout_s=30,
        what="every decision on /metrics",
    )
