"""The core and its dumb twin give the same answers to the same events."""

from collections.abc import Callable

from hypothesis import given, settings
from oracle import Oracle, facts_of
from strategies import POLICIES, TIMES, loops

from turnkeeper.core.engine import step
from turnkeeper.core.events import Event
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State


@settings(max_examples=3 * settings().max_examples)
@given(policy=POLICIES, told=loops(), time_of=TIMES)
def test_core_answers_as_the_oracle(policy: Policy, told: list[Event], time_of: Callable[[int], int]) -> None:
    oracle = Oracle(policy)
    state: State | None = None
    for index, event in enumerate(told):
        done = step(state, event, policy, time_of(index))
        state = done.state
        assert facts_of(done.answer) == oracle.tell(event, time_of(index)), f"event {index + 1} of {len(told)}"
