"""A real ``Feed`` with its real observer process, for tests, and facts to offer it.

``async with feeding(environ) as rig`` starts both on the running loop; ``rig`` offers facts and counts what a
daemon would, and reads the admin HTTP. ``signal_observer`` does to the observer what a fault would.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from turnkeeper.core.model import Mode, Reason, Verdict
from turnkeeper.facts.feed import Feed
from turnkeeper.facts.meters import Meters
from turnkeeper.facts.records import (
    CallerRecord,
    CountersRecord,
    DecisionRecord,
    Exemplar,
    FactRecord,
    LoopRecord,
    PolicyRecord,
    Status,
)

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
CALLER_SPAN_ID = "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE_ID}-{CALLER_SPAN_ID}-01"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def decision(seq: int, **changes: object) -> DecisionRecord:
    """A REJECT at the turn limit, of a caller that traces."""
    now_ns = time.time_ns()
    record = DecisionRecord(
        seq=seq,
        exported=True,
        method="AfterModel",
        point="after_model",
        request_id="request-1",
        tenant="",
        parent="",
        model_call=11,
        attempt=0,
        chunk=0,
        started_ns=now_ns,
        duration_ns=120_000,
        verdict=Verdict.REJECT,
        verdict_if_enforced=Verdict.REJECT,
        enforced=True,
        reason=Reason.TURN_LIMIT,
        message="turn 11 of at most 10",
        model_hint="",
        disposition=1,
        policy="default",
        policy_version="v1",
        decision_id="11.0.after_model.0",
        counters=CountersRecord(11, 11, 11, 0, 0, 0, 10, 0, limit_off=False, unit=1),
        caller=CallerRecord("shop", "helper", "gemini", "flash", "talk-1"),
        mode_from=Mode.ANY,
        mode_to=Mode.NONE,
        mode_switched=False,
        function_calls=1,
        traceparent=TRACEPARENT,
        span_id=f"{seq:016x}",
        trace_id=TRACE_ID,
    )
    return msgspec.structs.replace(record, **changes)


def loop_end(seq: int, **changes: object) -> LoopRecord:
    """The end of the same request id."""
    now_ns = time.time_ns()
    record = LoopRecord(
        seq=seq,
        request_id="request-1",
        tenant="",
        outcome="rejected",
        policy="default",
        counters=CountersRecord(11, 11, 11, 0, 0, 0, 10, 0, limit_off=False, unit=1),
        caller=CallerRecord("shop", "helper", "gemini", "flash", "talk-1"),
        started_ns=now_ns - 5_000_000_000,
        ended_ns=now_ns,
        traceparent=TRACEPARENT,
        trace_id=TRACE_ID,
        span_id=f"{seq:016x}",
    )
    return msgspec.structs.replace(record, **changes)


def policies(seq: int, **changes: object) -> PolicyRecord:
    """A policy file that was loaded."""
    record = PolicyRecord(seq, time.time_ns(), (("default", "v1"), ("strict", "v2")), "", "")
    return msgspec.structs.replace(record, **changes)


@dataclass
class Rig:
    """A feed, its meters, and what the admin HTTP answers."""

    feed: Feed
    meters: Meters
    admin: str
    ready: bool = True
    reason: str = ""
    seqs: list[int] = field(default_factory=list)

    def decide(self, count: int = 1, **changes: object) -> None:
        """Count and offer decisions as a daemon does."""
        for _ in range(count):
            seq = self.feed.take_seq()
            record = decision(seq, **changes)
            labels = ("reject", "turn_limit", record.point, "true", "default", "helper")
            exemplar = Exemplar(0.00012, record.started_ns, record.trace_id, record.span_id)
            self.meters.add("decisions", labels)
            self.meters.record("decision_duration", ("reject", record.point), 0.00012, exemplar)
            self.feed.offer(record)
            self.seqs.append(seq)

    def offer(self, make: Callable[..., FactRecord], **changes: object) -> int:
        """Offer one fact and return its sequence number."""
        seq = self.feed.take_seq()
        self.feed.offer(make(seq, **changes))
        return seq

    async def get(self, path: str, *, method: str = "GET", accept: str = "") -> tuple[int, str]:
        """Ask the admin HTTP for a path: its status and its text."""
        return await asyncio.to_thread(fetch, self.admin + path, method, accept)

    async def samples(self) -> dict[str, float]:
        """What ``/metrics`` shows: values by name and labels."""
        status, text = await self.get("/metrics")
        assert status == 200, text
        return samples(text)

    async def settled(self, timeout_s: float = 20.0) -> None:
        """Wait until every fact is told or dropped."""
        await until(lambda: self.feed.pending == 0, timeout_s, lambda: f"{self.feed.pending} facts are pending")


def samples(text: str) -> dict[str, float]:
    """The samples of a Prometheus or OpenMetrics text: values by name and labels."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            sample, _, value = line.partition(" # ")[0].rpartition("} ") if "}" in line else line.partition(" ")
            found[sample + "}" if "{" in sample else sample] = float(value.split()[0])
    return found


def fetch(url: str, method: str = "GET", accept: str = "") -> tuple[int, str]:
    """Ask a URL: its status and its text."""
    request = urllib.request.Request(url, method=method, headers={"Accept": accept} if accept else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@contextlib.asynccontextmanager
async def feeding(environ: Mapping[str, str], *, stop_s: float = 5.0) -> AsyncIterator[Rig]:
    """Start a feed and its observer; at the end stop both."""
    meters = Meters()
    with socket.create_server(("127.0.0.1", 0)) as admin:
        rig: Rig

        def status() -> Status:
            return Status(time.time_ns(), rig.ready, rig.reason, json.dumps({"ready": rig.ready}))

        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TURNKEEPER_", "OTEL_"))}
        feed = Feed(
            meters,
            version="1.2.3",
            started_ns=time.time_ns(),
            instance_id="instance-1",
            admin_socket=admin,
            status=status,
            environ={**kept, **environ},
            clock_ns=time.time_ns,
        )
        rig = Rig(feed, meters, f"http://127.0.0.1:{admin.getsockname()[1]}")
        await feed.start()
        try:
            yield rig
        finally:
            await feed.stop(stop_s)


def observer_pids() -> list[int]:
    """The observers that this process started."""
    children = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            is_observer = "turnkeeper.observer" in (process / "cmdline").read_text()
            if int(parent) == os.getpid() and state != "Z" and is_observer:
                children.append(int(process.name))
    return children


async def signal_observer(number: signal.Signals) -> int:
    """Send a signal to the observer once there is one, and return its process id."""
    await until(lambda: len(observer_pids()) == 1)
    (pid,) = observer_pids()
    os.kill(pid, number)
    return pid


async def until(
    condition: Callable[[], object], timeout_s: float = 20.0, what: Callable[[], str] = lambda: "the condition"
) -> None:
    """Wait until a condition holds, letting the loop run; fail when it does not in time."""
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            message = f"{what()} after {timeout_s} s"
            raise AssertionError(message)
        await asyncio.sleep(0.01)


@contextlib.contextmanager
def silent_port() -> Iterator[str]:
    """A port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def refusing_port() -> str:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
