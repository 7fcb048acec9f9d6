"""The account of facts in one observer's life.

Law: a fact is settled once, when the last span or event of it is: told if an exporter took every one, else dropped
by the first cause that lost one. What the account says goes to the deciding process, which outlives this one.
"""

import threading
from typing import NamedTuple

from turnkeeper.facts.records import Report


class _Open(NamedTuple):
    items: int
    cause: str


class Ledger:
    """Facts by sequence number, until they are settled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[int, _Open] = {}
        self._told = 0
        self._dropped: dict[str, int] = {}
        self._export_failures = 0

    def open(self, seq: int, items: int) -> None:
        """Take a fact that becomes this many spans and events."""
        with self._lock:
            if items:
                self._open[seq] = _Open(items, "")
            else:
                self._told += 1

    def settle(self, seq: int, cause: str = "") -> None:
        """Account for one span or event of a fact: taken by an exporter, or lost by a cause."""
        with self._lock:
            entry = self._open.pop(seq, None)
            if entry is None:
                return  # abandoned already
            cause = entry.cause or cause
            if entry.items > 1:
                self._open[seq] = _Open(entry.items - 1, cause)
            else:
                self._close(cause)

    def abandon(self, cause: str) -> None:
        """Settle all that is open: no time is left for it."""
        with self._lock:
            for _, earlier in self._open.values():
                self._close(earlier or cause)
            self._open.clear()

    def export_failed(self) -> None:
        """Count a failed export call."""
        with self._lock:
            self._export_failures += 1

    def report(self) -> Report:
        """Return the account so far."""
        with self._lock:
            return Report(self._told, dict(self._dropped), self._export_failures)

    def _close(self, cause: str) -> None:
        if cause:
            self._dropped[cause] = self._dropped.get(cause, 0) + 1
        else:
            self._told += 1
