"""The observer process: reads the pipe, tells what came through it, reports what became of it.

Law: the thread that reads the pipe never waits for a collector or a client. The process ends by a Stop or when
the pipe ends, within a deadline, whatever hangs; signals are for the deciding process.
"""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from turnkeeper import logs
from turnkeeper.facts.records import Facts, Frame, Hello, Snapshot, Status, Stop, Unpacker, pack
from turnkeeper.facts.sampling import exports
from turnkeeper.observer.admin import AdminServer
from turnkeeper.observer.ledger import Ledger
from turnkeeper.observer.points import Points

if TYPE_CHECKING:
    from turnkeeper.observer.telemetry import Telemetry

REPORT_S = 1.0
ORPHANED_S = 2.0  # to export what is there when the deciding process is gone
NICENESS = 5  # where processors are few, a decision comes before its telling
READ_BYTES = 65_536

_log = logging.getLogger(__name__)


class Observer:
    """Takes frames, and says what became of the facts in them."""

    def __init__(self, pipe: socket.socket, environ: Mapping[str, str]) -> None:
        self.points = Points()
        self._pipe = pipe
        self._environ = environ
        self._ledger = Ledger()
        self._send_lock = threading.Lock()
        self._telemetry: Telemetry | None = None
        threading.Thread(target=self._report_always, name="report", daemon=True).start()

    def run(self) -> None:
        """Read frames until a Stop or the end of the pipe, then export what is left."""
        unpacker = Unpacker()
        while data := self._read():
            for frame in unpacker.feed(data):
                if isinstance(frame, Stop):
                    self._end(frame.deadline_s)
                    return
                self._take(frame)
        self._end(ORPHANED_S)

    def report(self) -> None:
        """Say what became of the facts."""
        with self._send_lock:
            frame = pack(self._ledger.report())
            try:
                self._pipe.sendall(frame)
            except OSError:
                return  # the deciding process is gone: the reader sees it

    def _read(self) -> bytes:
        try:
            return self._pipe.recv(READ_BYTES)
        except ConnectionError:
            return b""

    def _take(self, frame: Frame) -> None:
        match frame:
            case Hello():
                if exports(self._environ):
                    # 0.4 s and 30 MB, for those who have a collector.
                    from turnkeeper.observer.telemetry import Telemetry  # noqa: PLC0415 - half of the memory, only when something is exported

                    self._telemetry = Telemetry(self._environ, frame, self.points, self._ledger, self.report)
            case Snapshot():
                self.points.apply(frame)
            case Status():
                self.points.take_status(frame)
            case Facts(records=records):
                for record in records:
                    if self._telemetry is None:
                        self._ledger.open(record.seq, 0)
                    else:
                        self._telemetry.tell(record)

    def _end(self, deadline_s: float) -> None:
        if self._telemetry is not None:
            self._telemetry.flush(deadline_s)
        self.report()

    def _report_always(self) -> None:
        waiting = threading.Event()
        while not waiting.wait(REPORT_S):
            self.report()


def main(arguments: list[str]) -> None:
    """Run with the pipe's and the admin listener's file descriptors; there may be no admin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its C core writes to stderr past every logger
    os.nice(NICENESS)
    logs.configure(os.environ.get("TURNKEEPER_LOG_FORMAT", "console"), os.environ.get("TURNKEEPER_LOG_LEVEL", "info"))
    pipe, *admin = [socket.socket(fileno=int(argument)) for argument in arguments]
    observer = Observer(pipe, os.environ)
    for listener in admin:
        AdminServer(listener, observer.points).start()
    code = 0
    try:
        observer.run()
    except Exception:  # noqa: BLE001 - whatever it is, the exit below is the only one
        _log.exception("the observer fails and ends")
        code = 1
    os._exit(code)  # exporters may hang in threads and at exit; everything that is to be told was told


if __name__ == "__main__":
    main(sys.argv[1:])
