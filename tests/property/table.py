"""Run events through the core as a daemon does: one state for each id, nothing shared."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from turnkeeper.core.engine import Step, step
from turnkeeper.core.events import Event
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State


class Told(NamedTuple):
    """One event, the state before it, and what came of it."""

    event: Event
    old: State | None
    done: Step


def run(events: Iterable[Event], policy: Policy, time_of: Callable[[int], int] = lambda index: index) -> list[Told]:
    """Play events in order."""
    states: dict[tuple[str, str], State | None] = {}
    told = []
    for index, event in enumerate(events):
        key = (event.tenant, event.request_id)
        old = states.get(key)
        done = step(old, event, policy, time_of(index))
        states[key] = done.state
        told.append(Told(event, old, done))
    return told
