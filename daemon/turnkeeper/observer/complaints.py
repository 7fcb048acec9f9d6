"""What is said about a collector that does not answer: one line an interval, not one a failure.

Law: the OpenTelemetry libraries log into ``LastError`` alone; their newest complaint is the ``error`` of our line.
"""

import logging
import threading
import time

INTERVAL_S = 60.0
ERROR_CHARS = 300

_log = logging.getLogger(__name__)


class LastError(logging.Handler):
    """Keeps the newest message of the libraries it is installed on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.message = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.message = record.getMessage()[:ERROR_CHARS]

    def install(self) -> None:
        """Take everything that the libraries log; none of it reaches stderr."""
        for name in ("opentelemetry", "urllib3", "requests", "grpc"):
            logger = logging.getLogger(name)
            logger.handlers[:] = [self]
            logger.propagate = False


class Complaints:
    """Says that exports fail, and that they work again."""

    def __init__(self, last_error: LastError) -> None:
        self._last_error = last_error
        self._lock = threading.Lock()
        self._said_at = -INTERVAL_S
        self._failures: dict[str, int] = {}
        self._failing: set[str] = set()

    def failed(self, signal: str) -> None:
        """Take note of a failed export, and say so if it is time."""
        with self._lock:
            self._failing.add(signal)
            self._failures[signal] = self._failures.get(signal, 0) + 1
            if time.monotonic() - self._said_at < INTERVAL_S:
                return
            self._said_at = time.monotonic()
            fields = {"failures": dict(self._failures), "error": self._last_error.message}
            _log.warning("the collector does not take what is exported", extra={"fields": fields})

    def worked(self, signal: str) -> None:
        """Take note of an export that worked; once none fails, say so if it was said that some do."""
        with self._lock:
            if signal not in self._failing:
                return
            self._failing.remove(signal)
            if not self._failing:
                _log.info("exports work again", extra={"fields": {"failures": dict(self._failures)}})
                self._failures.clear()
