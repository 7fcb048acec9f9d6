"""The deciding side of the pipe: a bounded queue of facts, snapshots of the meters, and the observer's life.

Law: nothing here makes a decision wait. ``offer`` never blocks and never raises; a full queue drops the new
fact and counts it. Every fact is settled once, so that when all is quiet ``offered == told + dropped``: the
observer reports what it told and what it dropped; what a dead observer had been sent and had not reported is
dropped by the cause ``observer_lost`` and is not sent again, since a span told twice is worse than one counted
as lost. Metrics lose nothing: a new observer is sent every point.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping

from turnkeeper.facts.meters import Meters
from turnkeeper.facts.records import Cause, FactRecord, Facts, Frame, Hello, Report, Status, Stop, Unpacker, pack

QUEUE_FACTS = 8_192  # about 8 MB, and 1 s of the decisions that one daemon makes when none is ALLOW
BATCH_FACTS = 256  # about 0.1 ms of the event loop to encode
GATHER_S = 0.01  # facts wait this long for company: a wake-up of the loop costs more than a fact
TICK_S = 1.0  # a snapshot, and a look at the observer
SILENT_TICKS = 10  # an observer reports every second, from its first on
BACKOFF_MIN_S, BACKOFF_MAX_S = 0.1, 5.0
STEADY_S = 30.0  # an observer that lived this long is started again without delay
LAST_REPORT_S = 0.25  # of the deadline of a stop, kept for what the observer says last
KILL_S = 0.1  # of the same, kept to reap an observer that did not end
READ_BYTES = 65_536

_log = logging.getLogger(__name__)


class _Life:
    """One observer process, and the account of what it was sent."""

    def __init__(self, sock: socket.socket, process: asyncio.subprocess.Process) -> None:
        self.sock = sock
        self.process = process
        self.sent = 0
        self.report = Report(0, {}, 0)
        self.silent_ticks = 0

    @property
    def unsettled(self) -> int:
        """Facts that went into the pipe and of which nothing was heard."""
        return self.sent - self.report.told - sum(self.report.dropped.values())

    def kill(self) -> None:
        """End the process whatever it does; it may be stopped."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)


class Feed:
    """Feeds the observer and keeps it alive. It belongs to the event loop that decides."""

    def __init__(  # noqa: PLR0913 - built in one place, by name
        self,
        meters: Meters,
        *,
        version: str,
        started_ns: int,
        instance_id: str,
        admin_socket: socket.socket | None,
        status: Callable[[], Status],
        environ: Mapping[str, str],
        clock_ns: Callable[[], int],
    ) -> None:
        self.restarts = 0
        self.offered = 0
        self.told = 0
        self._meters = meters
        self._hello = Hello(version, started_ns, instance_id)
        self._admin_socket = admin_socket
        self._status = status
        self._environ = environ
        self._clock_ns = clock_ns
        self._seq = 0
        self._queue: deque[FactRecord] = deque()
        self._wake = asyncio.Event()
        self._snapshot_due = False
        self._stopping = asyncio.Event()
        self._stop_at = 0.0
        self._life: _Life | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def running(self) -> bool:
        """Whether an observer is alive."""
        return self._life is not None

    @property
    def dropped(self) -> int:
        """Facts that were not told, whatever the cause."""
        return self._meters.total("facts_dropped")

    @property
    def export_failures(self) -> int:
        """Export calls that failed, of all observers so far."""
        return self._meters.total("export_failures")

    @property
    def pending(self) -> int:
        """Facts that are not settled yet: ``offered == told + dropped + pending`` at any time."""
        return self.offered - self.told - self.dropped

    async def start(self) -> None:
        """Start the observer and keep one alive until ``stop``."""
        self._meters.add("observer_restarts", (), 0)
        self._meters.add("export_failures", (), 0)
        for cause in Cause:
            self._meters.add("facts_dropped", (cause,), 0)
        self._tasks = [asyncio.create_task(self._supervise()), asyncio.create_task(self._tick())]

    def take_seq(self) -> int:
        """Return the sequence number of the next fact."""
        self._seq += 1
        return self._seq

    def offer(self, record: FactRecord) -> None:
        """Queue a fact; when the queue is full it is dropped and counted."""
        self.offered += 1
        if len(self._queue) >= QUEUE_FACTS:
            self._meters.add("facts_dropped", (Cause.QUEUE_FULL,))
            return
        self._queue.append(record)
        self._wake.set()

    def status_changed(self) -> None:
        """Send the status now instead of with the next tick."""
        self._snapshot_due = True
        self._wake.set()

    async def stop(self, deadline_s: float) -> None:
        """Send what is queued and let the observer export it; never takes longer than the deadline."""
        self._stop_at = asyncio.get_running_loop().time() + deadline_s
        self._stopping.set()
        self._wake.set()
        supervisor, ticker = self._tasks
        ticker.cancel()
        _, late = await asyncio.wait([supervisor], timeout=max(0.0, deadline_s - KILL_S))
        if late and self._life is not None:
            self._life.kill()
            await asyncio.wait([supervisor], timeout=KILL_S)
        supervisor.cancel()
        self._drop_queue()
        if self.dropped:
            _log.warning("facts were dropped", extra={"fields": {"dropped": self.dropped, "offered": self.offered}})

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self.status_changed()
            if self._life is not None:
                self._life.silent_ticks += 1
                if self._life.silent_ticks > SILENT_TICKS:
                    _log.warning("the observer hangs and is killed", extra={"fields": {"silent_s": SILENT_TICKS}})
                    self._life.kill()

    async def _supervise(self) -> None:
        loop = asyncio.get_running_loop()
        backoff_s = BACKOFF_MIN_S
        while True:
            started = loop.time()
            await self._live()
            if self._stopping.is_set():
                return
            self.restarts += 1
            self._meters.add("observer_restarts")
            backoff_s = BACKOFF_MIN_S if loop.time() - started > STEADY_S else backoff_s
            _log.warning("the observer ended and is started again", extra={"fields": {"in_s": backoff_s}})
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), backoff_s)
                return
            backoff_s = min(2 * backoff_s, BACKOFF_MAX_S)

    async def _live(self) -> None:
        """Start an observer, feed it, and settle its account when it is gone."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # noqa: FBT003 - its only argument
        with ours:
            try:
                with theirs:
                    process = await self._spawn(theirs)
            except OSError:
                _log.exception("the observer does not start")
                return
            life = self._life = _Life(ours, process)
            self._meters.touch_all()
            self._snapshot_due = True
            writer = asyncio.create_task(self._write(life))
            try:
                await self._read(life)
            finally:
                writer.cancel()
                self._life = None
                self._settle_lost(life)
            life.kill()
            await process.wait()

    async def _spawn(self, theirs: socket.socket) -> asyncio.subprocess.Process:
        fds = [theirs.fileno()] + ([self._admin_socket.fileno()] if self._admin_socket else [])
        # Its own session: Ctrl-C at a terminal is for the daemon, which lets the observer drain.
        # -P: a module in the working directory must not be taken for one of ours.
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "turnkeeper.observer", *map(str, fds)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,  # the ready line alone is on the daemon's, whose end a reader may await
            env=dict(self._environ),
            pass_fds=fds,
            start_new_session=True,
        )

    async def _write(self, life: _Life) -> None:
        try:
            await self._write_frames(life)
        except OSError:
            pass  # the reader sees the end of the process too
        except Exception:  # noqa: BLE001 - a fault of telling is not one of deciding
            _log.exception("the observer cannot be fed and is killed")
            life.kill()

    async def _write_frames(self, life: _Life) -> None:
        await self._send(life, self._hello)
        while True:
            if self._snapshot_due:
                await self._send_state(life)
            if self._queue:
                await self._send_facts(life)
            elif self._stopping.is_set():
                break
            else:
                await self._wake.wait()
                self._wake.clear()
                await asyncio.sleep(GATHER_S)
        await self._send_state(life)
        left_s = self._stop_at - asyncio.get_running_loop().time()
        await self._send(life, Stop(max(0.0, left_s - LAST_REPORT_S)))

    async def _send_state(self, life: _Life) -> None:
        self._snapshot_due = False
        complete = False
        while not complete:
            snapshot = self._meters.snapshot(self._clock_ns())
            complete = snapshot.complete
            await self._send(life, snapshot)
        await self._send(life, self._status())

    async def _send_facts(self, life: _Life) -> None:
        count = min(len(self._queue), BATCH_FACTS)
        facts = Facts(tuple(self._queue.popleft() for _ in range(count)))
        life.sent += count
        await self._send(life, facts)

    async def _send(self, life: _Life, frame: Frame) -> None:
        """Hand one frame to the pipe; the next one waits, so nothing piles up outside the queue."""
        await asyncio.get_running_loop().sock_sendall(life.sock, pack(frame))
        await asyncio.sleep(0)  # a pipe with room must not keep the loop from deciding

    async def _read(self, life: _Life) -> None:
        loop = asyncio.get_running_loop()
        unpacker = Unpacker()
        with contextlib.suppress(OSError, ValueError):
            while data := await loop.sock_recv(life.sock, READ_BYTES):
                for frame in unpacker.feed(data):
                    if isinstance(frame, Report):
                        self._settle(life, frame)

    def _settle(self, life: _Life, report: Report) -> None:
        for cause, count in report.dropped.items():
            new = count - life.report.dropped.get(cause, 0)
            if new:
                self._meters.add("facts_dropped", (cause,), new)
        self.told += report.told - life.report.told
        self._meters.add("export_failures", (), report.export_failures - life.report.export_failures)
        life.report = report
        life.silent_ticks = 0

    def _settle_lost(self, life: _Life) -> None:
        if life.unsettled:
            self._meters.add("facts_dropped", (Cause.OBSERVER_LOST,), life.unsettled)

    def _drop_queue(self) -> None:
        if self._queue:
            self._meters.add("facts_dropped", (Cause.OBSERVER_LOST,), len(self._queue))
            self._queue.clear()
