"""The default store: this process's memory.

Law: ``transact`` reads, changes and writes without a pause, so that events of one id are atomic. Live ids are
capped; at the cap the longest idle one goes. An id idle longer than its policy's ``idle_ttl`` goes, in slices.

Ids are kept in one ordered table per time to live, the longest idle first: the next to expire, and the next to
evict, are always at the front of a table.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Protocol

from turnkeeper.core.engine import Step
from turnkeeper.core.state import State

EXPIRE_SLICE = 256  # about 0.3 ms of work between two decisions

Key = tuple[str, str]  # (tenant, request id)
Change = Callable[[State | None], Step]


class Forgotten(Protocol):
    """Told of each state that is forgotten, and why: ``ttl`` or ``capacity``."""

    def __call__(self, key: Key, state: State, cause: str) -> None:
        """Take note."""


class MemoryStore:
    """States by key. ``ttl_ns`` gives the time to live of a state, by its policy."""

    url = "memory:"

    def __init__(self, ids_max: int, ttl_ns: Callable[[State], int], forgotten: Forgotten) -> None:
        self._ids_max = ids_max
        self._ttl_ns = ttl_ns
        self._forgotten = forgotten
        self._ttl_of: dict[Key, int] = {}
        self._tables: dict[int, OrderedDict[Key, State]] = {}

    def __len__(self) -> int:
        """Return the number of ids kept, tombstones included."""
        return len(self._ttl_of)

    def get(self, key: Key) -> State | None:
        """Return the state of an id, for people; it is not a use of it."""
        ttl = self._ttl_of.get(key)
        return None if ttl is None else self._tables[ttl][key]

    def items(self) -> Iterator[tuple[Key, State]]:
        """Iterate over all ids, the longest idle first within each time to live."""
        for table in self._tables.values():
            yield from table.items()

    def transact(self, key: Key, change: Change) -> Step:
        """Change the state of one id by a pure step, and return the step."""
        ttl = self._ttl_of.get(key)
        old = None if ttl is None else self._tables[ttl][key]
        step = change(old)
        state = step.state
        if state is None or state is old:
            return step
        new_ttl = self._ttl_ns(state)
        if ttl is None:
            if len(self._ttl_of) >= self._ids_max:
                if state.ended is not None:
                    return step  # the end of an unknown id is not worth a live one
                self._evict()
            self._ttl_of[key] = new_ttl
        elif new_ttl != ttl:
            del self._tables[ttl][key]
            self._ttl_of[key] = new_ttl
        table = self._tables.get(new_ttl)
        if table is None:
            table = self._tables[new_ttl] = OrderedDict()
        table[key] = state
        table.move_to_end(key)
        return step

    def expire(self, now_ns: int) -> int:
        """Forget ids that are due, at most one slice of them, and return how many."""
        done = 0
        for ttl, table in list(self._tables.items()):
            while table and done < EXPIRE_SLICE:
                key, state = next(iter(table.items()))
                if now_ns - state.seen_ns <= ttl:
                    break
                self._forget(key, "ttl")
                done += 1
            if not table:
                del self._tables[ttl]
        return done

    def _evict(self) -> None:
        heads = [next(iter(table.items())) for table in self._tables.values() if table]
        key, _ = min(heads, key=lambda head: head[1].seen_ns)
        self._forget(key, "capacity")

    def _forget(self, key: Key, cause: str) -> None:
        state = self._tables[self._ttl_of.pop(key)].pop(key)
        self._forgotten(key, state, cause)
