"""What is counted: it never falls, ALLOW keeps every limit, and a higher limit is never harsher."""

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import POLICIES, limits, loops
from table import Told, run

from turnkeeper.core.events import AfterModel, BeforeModel, EndRequest, Event, Usage
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Counters, EndAnswer, Unit, Verdict
from turnkeeper.core.policy import Limit, Policy
from turnkeeper.core.state import ModelCall, State

ENFORCED = POLICIES.filter(lambda policy: policy.enforcement.value == "enforce")


def counters(told: Told) -> Counters | None:
    answer = told.done.answer
    if isinstance(answer, EndAnswer):
        return answer.counters
    return answer.decision.counters if isinstance(answer, BeforeAnswer | AfterAnswer) else None


def number_of(told: Told) -> tuple[int, int]:
    """Return the model call and the attempt that were judged."""
    assert isinstance(told.done.answer, BeforeAnswer | AfterAnswer)
    number, attempt = told.done.answer.decision.decision_id.split(".")[:2]
    return int(number), int(attempt)


def record_of(told: Told) -> ModelCall | None:
    return told.done.state.find(number_of(told)[0]) if told.done.state else None


def rolls_back(told: Told) -> bool:
    """Whether this event replaces an attempt, or begins the id anew."""
    if isinstance(told.event, EndRequest) or told.old is None:
        return False
    if isinstance(told.event, BeforeModel) and told.old.ended is not None and told.event.model_call <= 1:
        return True
    known = told.old.find(number_of(told)[0])
    return known is not None and known.attempt < told.event.attempt


@given(policy=POLICIES, events=loops())
def test_counters_never_fall_within_an_attempt(policy: Policy, events: list[Event]) -> None:
    """Usage is told rising here: the last value counts, so a provider that corrects itself may lower tokens."""
    rising = [
        event._replace(usage=Usage(total_tokens=index, cost_micro_usd=index))
        if isinstance(event, AfterModel)
        else event
        for index, event in enumerate(events)
    ]
    before = Counters()
    for told in run(rising, policy):
        now = counters(told)
        if now is None or not told.done.fresh:
            continue
        if not rolls_back(told):
            assert all(new >= old for new, old in zip(now[:6], before[:6], strict=True))
        elif told.old is not None and told.old.ended is None:
            assert all(new >= old for new, old in zip(now[3:6], before[3:6], strict=True)), "what was spent is spent"
        before = now


def used(limit: Limit, state: State) -> int:
    if limit.unit is Unit.TURNS:
        return state.turns
    return state.tools.get(limit.tool, 0) if limit.tool else state.function_calls


def used_with(limit: Limit, state: State, record: ModelCall) -> int:
    """Return what is used up to this response: its own turn, its own model call, all function calls."""
    if limit.unit is Unit.TURNS:
        return record.turn
    if limit.unit is Unit.MODEL_CALLS:
        return record.ordinal or state.model_calls
    return used(limit, state)


@given(policy=ENFORCED, events=loops())
def test_allow_implies_that_every_limit_holds(policy: Policy, events: list[Event]) -> None:
    for told in run(events, policy):
        answer, state = told.done.answer, told.done.state
        if not told.done.fresh or not isinstance(answer, BeforeAnswer | AfterAnswer) or state is None:
            continue
        record = record_of(told)
        if (
            answer.decision.verdict is not Verdict.ALLOW
            or record is None
            or (record.side and isinstance(answer, BeforeAnswer))
        ):
            continue
        for limit in policy.active_limits:
            if limit.n is None or (limit.n == 0 and limit.zero_no_calls and isinstance(answer, BeforeAnswer)):
                continue
            if isinstance(answer, BeforeAnswer) and limit.before:
                made = record.ordinal - 1 if limit.unit is Unit.MODEL_CALLS else used(limit, state)
                assert made < limit.n + limit.before.offset
            known = told.old.find(record.number) if told.old else None
            had = known.function_calls if known and known.attempt == record.attempt else 0
            calls_it = not limit.tool or any(call.name == limit.tool for call in getattr(told.event, "calls", ()))
            if isinstance(answer, AfterAnswer) and limit.after and record.function_calls > had and calls_it:
                no_calls = limit.n == 0 and limit.zero_no_calls
                assert not no_calls
                assert used_with(limit, state, record) <= limit.n + limit.after.offset


@given(policy=ENFORCED, events=loops(), limit=limits(st.integers(0, 4)), more=st.integers(1, 3))
def test_a_higher_limit_is_never_harsher(policy: Policy, events: list[Event], limit: Limit, more: int) -> None:
    """Until the lower limit rejects: then the loop is over. ``zero: no_calls`` makes 0 a rule of its own."""
    assume(limit.n is not None and not (limit.n == 0 and limit.zero_no_calls))
    higher = replace(limit, n=(limit.n or 0) + more)
    low = run(events, replace(policy, limits=(*policy.limits, limit)))
    high = run(events, replace(policy, limits=(*policy.limits, higher)))
    for one, other in zip(low, high, strict=True):
        answers = one.done.answer, other.done.answer
        if not isinstance(answers[0], BeforeAnswer | AfterAnswer) or not isinstance(
            answers[1], BeforeAnswer | AfterAnswer
        ):
            assert type(answers[0]) is type(answers[1])
            continue
        assert answers[1].decision.verdict <= answers[0].decision.verdict
        if answers[0].decision.verdict is Verdict.REJECT:
            return
