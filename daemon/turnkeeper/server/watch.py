"""Those who watch decisions as they are made.

Law: a watcher that reads too slowly loses records and is told how many; it never slows a decision. While nobody
watches, nothing is made for watchers.
"""

import asyncio

from turnkeeper.facts.records import DecisionRecord

WATCHERS_MAX = 16  # people and scripts at one daemon; each costs a decision about 1 µs
BACKLOG = 1024  # records a watcher may lag behind: about a second of a busy daemon


class Watcher:
    """One reader: a bounded queue and what it lost."""

    def __init__(self, request_id: str, tenant: str, *, without_allow: bool) -> None:
        self._request_id = request_id
        self._tenant = tenant
        self._least = 2 if without_allow else 0  # Verdict.FORCE_NONE
        self.queue: asyncio.Queue[DecisionRecord] = asyncio.Queue(BACKLOG)
        self.dropped = 0

    def take(self, record: DecisionRecord) -> None:
        """Queue a record that this watcher asked for."""
        if self._request_id and record.request_id != self._request_id:
            return
        if (self._tenant and record.tenant != self._tenant) or record.verdict_if_enforced < self._least:
            return
        try:
            self.queue.put_nowait(record)
        except asyncio.QueueFull:
            self.dropped += 1


class Watchers:
    """All of them. ``watched`` is what a decision looks at first."""

    def __init__(self) -> None:
        self._watchers: set[Watcher] = set()
        self.watched = False

    def __len__(self) -> int:
        """Return how many watch."""
        return len(self._watchers)

    def publish(self, record: DecisionRecord) -> None:
        """Hand a record to each watcher."""
        for watcher in self._watchers:
            watcher.take(record)

    def add(self, watcher: Watcher) -> None:
        """Begin to watch."""
        self._watchers.add(watcher)
        self.watched = True

    def remove(self, watcher: Watcher) -> None:
        """Stop watching."""
        self._watchers.discard(watcher)
        self.watched = bool(self._watchers)
