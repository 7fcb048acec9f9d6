"""What the observer knows: the newest value of every point, and the newest status.

Law: written by the thread that reads the pipe, read by all others; what is read is a copy.
"""

import threading
import time
from typing import NamedTuple

from turnkeeper.facts.records import CounterPoint, HistogramPoint, Snapshot, Status

STALE_S = 5.0  # the deciding process tells its status each second

Labels = tuple[str, ...]


class View(NamedTuple):
    """All points at one time, by short name and labels."""

    time_ns: int
    counters: dict[str, dict[Labels, CounterPoint]]
    gauges: dict[str, dict[Labels, CounterPoint]]
    histograms: dict[str, dict[Labels, HistogramPoint]]


class Points:
    """The points, complete from the first complete snapshot on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._complete = threading.Event()
        self._view = View(0, {}, {}, {})
        self._status: Status | None = None
        self._status_at = time.monotonic()

    def apply(self, snapshot: Snapshot) -> None:
        """Take the points of a snapshot."""
        with self._lock:
            counters, gauges, histograms = self._view[1:]
            for known, told in ((counters, snapshot.counters), (gauges, snapshot.gauges)):
                for name, points in told.items():
                    known.setdefault(name, {}).update((point.labels, point) for point in points)
            for name, buckets in snapshot.histograms.items():
                histograms.setdefault(name, {}).update((point.labels, point) for point in buckets)
            self._view = self._view._replace(time_ns=snapshot.time_ns)
        if snapshot.complete:
            self._complete.set()

    def read(self, wait_s: float = 0.0) -> View | None:
        """Return all points, or None when not all were told within ``wait_s``."""
        if not self._complete.wait(wait_s):
            return None
        with self._lock:
            view = self._view
            return View(
                view.time_ns,
                {name: dict(series) for name, series in view.counters.items()},
                {name: dict(series) for name, series in view.gauges.items()},
                {name: dict(series) for name, series in view.histograms.items()},
            )

    def take_status(self, status: Status) -> None:
        """Take the newest status."""
        with self._lock:
            self._status, self._status_at = status, time.monotonic()

    @property
    def status(self) -> Status | None:
        """The newest status, if one was told."""
        return self._status

    def not_live(self) -> str:
        """Say why the deciding process does not live; empty when it does."""
        with self._lock:
            age_s = time.monotonic() - self._status_at
        return f"no status from the deciding process for {age_s:.1f} s" if age_s > STALE_S else ""

    def not_ready(self) -> str:
        """Say why no work is taken; empty when it is."""
        status = self._status
        if status is None:
            return "starting"
        return self.not_live() or ("" if status.ready else status.reason or "not ready")
