"""OBSERVE changes the answer only.

It counts as ENFORCE does, whatever happens. It also judges as ENFORCE does, for as long as the same went to the
model: a response to a model call that only ENFORCE sent as NONE is judged by another mode, and from there on the
two are different loops. What differs in the state before that is what was answered, and what follows from it: the
stored answers, the mode answered, the force held against a response, and how the loop would be said to have ended.
"""

from dataclasses import replace

from hypothesis import given
from strategies import POLICIES, loops
from table import Told, run

from turnkeeper.core.events import AfterModel, BeforeModel, Event
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Enforcement, Mode, Verdict
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import ModelCall, State

ANSWERED = {"before", "forced", "mode_answered", "chunks", "rejected_told"}
COUNTED = (
    "turns",
    "model_calls",
    "function_calls",
    "tokens",
    "cost_micro_usd",
    "started_ns",
    "seen_ns",
    "first",
    "latest",
    "tools",
    "tools_seen",
    "pending",
    "pending_from",
    "ended",
    "last_verdict",
    "last_reason",
)


def judged_alike(one: ModelCall, other: ModelCall) -> bool:
    fields = [name for name in ModelCall._fields if name not in ANSWERED]
    return all(getattr(one, name) == getattr(other, name) for name in fields)


def counted_alike(one: State, other: State) -> bool:
    """Compare counts and history; whether calls were run is what the two differ in."""
    alike = all(getattr(one, name) == getattr(other, name) for name in COUNTED)
    turns = [[(turn.number, turn.calls, turn.results) for turn in state.history] for state in (one, other)]
    return alike and turns[0] == turns[1]


def told_apart(one: Told, other: Told) -> bool:
    """Whether this response comes from a model call that was not sent alike."""
    if not isinstance(one.event, AfterModel) or not one.event.calls:
        return False
    number = one.event.model_call or (one.old.latest if one.old else 0)
    records = [told.old.find(number) if told.old else None for told in (one, other)]
    if one.event.mode_sent == Mode.NONE:
        return True
    return any(record is not None and record.forced is not None for record in records) or (
        (records[0].mode_answered if records[0] else 0) != (records[1].mode_answered if records[1] else 0)
    )


@given(policy=POLICIES, events=loops())
def test_observe_counts_as_enforce(policy: Policy, events: list[Event]) -> None:
    enforced = run(events, replace(policy, enforcement=Enforcement.ENFORCE))
    observed = run(events, replace(policy, enforcement=Enforcement.OBSERVE))
    for one, other in zip(enforced, observed, strict=True):
        answers = one.done.answer, other.done.answer
        assert type(answers[0]) is type(answers[1])
        if isinstance(answers[0], BeforeAnswer | AfterAnswer) and isinstance(answers[1], BeforeAnswer | AfterAnswer):
            assert answers[0].decision.counters == answers[1].decision.counters


@given(policy=POLICIES, events=loops())
def test_observe_judges_as_enforce(policy: Policy, events: list[Event]) -> None:
    enforced = run(events, replace(policy, enforcement=Enforcement.ENFORCE))
    observed = run(events, replace(policy, enforcement=Enforcement.OBSERVE))
    for one, other in zip(enforced, observed, strict=True):
        if told_apart(one, other):
            return
        state, shadow = one.done.state, other.done.state
        assert state is not None
        assert shadow is not None
        assert counted_alike(state, shadow)
        assert all(judged_alike(*pair) for pair in zip(state.calls, shadow.calls, strict=True))
        if isinstance(one.done.answer, BeforeAnswer | AfterAnswer):
            assert isinstance(other.done.answer, BeforeAnswer | AfterAnswer)
            told = one.done.answer.decision, other.done.answer.decision
            assert told[0].verdict_if_enforced == told[1].verdict_if_enforced
            assert told[0].reason is told[1].reason


@given(policy=POLICIES, events=loops())
def test_observe_answers_allow_with_the_mode_asked(policy: Policy, events: list[Event]) -> None:
    for told in run(events, replace(policy, enforcement=Enforcement.OBSERVE)):
        answer = told.done.answer
        if isinstance(told.event, BeforeModel) and isinstance(answer, BeforeAnswer):
            assert (answer.drop_declarations, answer.declare_tools) == (False, ())
            assert not told.done.fresh or answer.mode == told.event.mode
        if isinstance(answer, AfterAnswer):
            assert all(call.run for call in answer.calls)
        if isinstance(answer, BeforeAnswer | AfterAnswer):
            assert (answer.decision.verdict, answer.decision.enforced) == (Verdict.ALLOW, False)
