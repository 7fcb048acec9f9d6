"""``step`` is a function: equal input gives equal output, and the input stays as it was."""

from collections.abc import Callable
from copy import deepcopy

from hypothesis import given
from strategies import ID, POLICIES, TIMES, loops
from table import run

from turnkeeper.core.engine import step
from turnkeeper.core.events import Event
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State


@given(policy=POLICIES, events=loops(), time_of=TIMES)
def test_deterministic_and_pure(policy: Policy, events: list[Event], time_of: Callable[[int], int]) -> None:
    state: State | None = None
    for index, event in enumerate(events):
        untouched = deepcopy(state)
        done = step(state, event, policy, time_of(index))
        assert state == untouched
        assert step(untouched, event, policy, time_of(index)) == done
        state = done.state


@given(policy=POLICIES, events=loops(), time_of=TIMES)
def test_what_is_not_fresh_changes_nothing(policy: Policy, events: list[Event], time_of: Callable[[int], int]) -> None:
    for told in run(events, policy, time_of):
        if not told.done.fresh and told.old is not None:
            assert told.done.state is told.old
            assert told.done.facts == ()


@given(policy=POLICIES, first=loops(12), second=loops(12))
def test_ids_are_independent(policy: Policy, first: list[Event], second: list[Event]) -> None:
    """Two interleaved ids, one of another tenant, get the answers they get alone."""
    others = [event._replace(tenant="t", request_id=ID) for event in second]
    woven: list[Event] = []
    for index in range(max(len(first), len(others))):
        woven += [*first[index : index + 1], *others[index : index + 1]]
    together = run(woven, policy, lambda _: 0)
    alone = run(first, policy, lambda _: 0)
    assert [told.done for told in together if not told.event.tenant] == [told.done for told in alone]
    alone = run(others, policy, lambda _: 0)
    assert [told.done for told in together if told.event.tenant] == [told.done for told in alone]
