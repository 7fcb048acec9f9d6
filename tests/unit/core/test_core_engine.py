"""What a step leaves beside its answer: facts, outcomes, and the state."""

import pytest
from told import NONE, REJECT, SEARCH, Loop, after, before, end, turns

from turnkeeper.core import bounds
from turnkeeper.core import facts as f
from turnkeeper.core.engine import expire, starts_over, step
from turnkeeper.core.events import AfterModel, BeforeModel, Call, EndRequest, Event, Result, Trace, Usage
from turnkeeper.core.model import Outcome, Reason, Refusal, Unit, Verdict
from turnkeeper.core.policy import Act, Limit, Policy

PLAIN = Policy("p")


@pytest.mark.parametrize(
    ("events", "told", "outcome"),
    [
        ([before(1), after(1, has_text=True)], Outcome.COMPLETED, "completed"),
        ([before(1), after(1, has_text=True)], Outcome.UNSPECIFIED, "completed"),
        ([before(1)], Outcome.FAILED, "failed"),
        ([before(1)], Outcome.CANCELLED, "cancelled"),
        ([before(1), after(1, SEARCH), before(2), after(2, has_text=True)], Outcome.COMPLETED, "forced_completion"),
        ([before(1), after(1, SEARCH), before(2), after(2)], Outcome.COMPLETED, "final_empty"),
        ([before(1), after(1, SEARCH), before(2), after(2, Call("b", "x"))], Outcome.FAILED, "rejected"),
        ([before(1), after(1, SEARCH), before(2), after(2, Call("b", "x"))], Outcome.CANCELLED, "cancelled"),
    ],
)
def test_how_a_loop_ends(events: list[Event], told: Outcome, outcome: str) -> None:
    loop = Loop(turns(1)).tell(*events, end(outcome=told))
    ended = loop.step.facts[0]
    assert isinstance(ended, f.RequestEnded)
    assert ended.outcome == outcome
    assert ended.outcome in f.OUTCOMES


def test_an_end_tells_how_much_was_used() -> None:
    loop = Loop(turns(4)).tell(before(1), after(1, SEARCH), end())
    ended = loop.step.facts[0]
    assert isinstance(ended, f.RequestEnded)
    assert ended.budgets == (f.BudgetUse(Unit.TURNS, 1, 4),)
    assert (ended.started_ns, ended.ended_ns, ended.counters.turns) == (1, 3, 1)
    assert loop.tell(end()).step.facts == ()


def test_expiry_is_told_once() -> None:
    loop = Loop(PLAIN).tell(before(1))
    assert loop.state is not None
    told = expire(loop.state, PLAIN)
    assert told is not None
    assert told.outcome == "expired"
    loop.tell(end())
    assert expire(loop.state, PLAIN) is None


@pytest.mark.parametrize(
    ("event", "over"), [(before(0), True), (before(1), True), (before(2), False), (after(1), False), (end(), False)]
)
def test_what_starts_an_ended_id_over(event: Event, over: bool) -> None:
    loop = Loop(PLAIN).tell(before(1), end())
    assert starts_over(None, event)
    assert starts_over(loop.state, event) == over
    told = loop.tell(event).step.facts
    assert (f.RequestReused() in told) == over


def test_rejected_calls_are_told_once_each() -> None:
    loop = Loop(turns(0, None)).tell(before(1), after(1, SEARCH, chunk=1))
    assert f.CallsRejected(1, Reason.TURN_LIMIT) in loop.step.facts
    loop.tell(after(1, SEARCH, chunk=2))
    assert not [fact for fact in loop.step.facts if isinstance(fact, f.CallsRejected)]
    loop.tell(after(1, SEARCH, Call("b", "x"), chunk=3))
    assert f.CallsRejected(1, Reason.TURN_LIMIT) in loop.step.facts


def test_a_finding_below_the_verdict_is_told() -> None:
    limits = (Limit(Unit.TURNS, 0, before=NONE), Limit(Unit.MODEL_CALLS, 0, before=REJECT))
    loop = Loop(Policy("p", limits=limits)).tell(before(1))
    assert loop.said == (Verdict.REJECT, Reason.MODEL_CALL_LIMIT)
    assert [(fact.reason, fact.verdict) for fact in loop.step.facts if isinstance(fact, f.Reported)] == [
        (Reason.TURN_LIMIT, Verdict.FORCE_NONE)
    ]


def test_unmatched_results_are_told() -> None:
    loop = Loop(PLAIN).tell(before(1), after(1, SEARCH), before(2, results=(Result("a"), Result("x"), Result("y"))))
    assert f.ResultsUnmatched(2) in loop.step.facts


def test_tokens_are_told_as_they_come() -> None:
    loop = Loop(PLAIN).tell(before(1), after(1, chunk=1, usage=Usage(100, 10)))
    assert f.TokensSpent(100, 10, 0) in loop.step.facts
    loop.tell(after(1, chunk=2, usage=Usage(100, 25)))
    assert f.TokensSpent(0, 15, 0) in loop.step.facts
    loop.tell(after(1, chunk=3, usage=Usage(90, 25)))
    assert not [fact for fact in loop.step.facts if isinstance(fact, f.TokensSpent)]
    assert loop.tell(before(2), after(2, usage=Usage(total_tokens=7))).decision.counters.tokens == 122
    assert f.TokensSpent(0, 0, 7) in loop.step.facts


def test_a_contradiction_names_the_field() -> None:
    loop = Loop(PLAIN).tell(before(1), after(1, SEARCH, chunk=4))
    answer = loop.tell(after(1, chunk=4)).step.answer
    assert isinstance(answer, Refusal)
    assert answer.field == "chunk"
    assert answer.message.startswith("chunk: 4 ")


@pytest.mark.parametrize(
    ("event", "decision_id"),
    [
        (BeforeModel("r", 3, 2), "3.2.before_model.0"),
        (BeforeModel("r"), "1.0.before_model.0"),
        (AfterModel("r", 3, 1, 5), "3.1.after_model.5"),
    ],
)
def test_decision_ids(event: Event, decision_id: str) -> None:
    assert Loop(PLAIN).tell(event).decision.decision_id == decision_id


def test_links_are_the_first_and_the_newest() -> None:
    loop = Loop(turns(0))
    for number in range(1, 2 * bounds.LINKS_KEPT):
        loop.tell(before(number, trace=Trace("t", f"{number}")))
    assert loop.state is not None
    ids = [int(span_id) for _, span_id in loop.state.links]
    assert ids == [1, *range(bounds.LINKS_KEPT + 1, 2 * bounds.LINKS_KEPT)]


def test_a_tombstone_is_left_for_an_unknown_id() -> None:
    done = step(None, EndRequest("r", Outcome.FAILED), PLAIN, 5)
    assert done.state is not None
    assert (done.state.ended, done.fresh, done.facts) == (Outcome.FAILED, False, ())


def test_chunks_that_were_forgotten_are_superseded() -> None:
    loop = Loop(PLAIN).tell(before(1), *[after(1, Call(f"c{n}", "x"), chunk=n) for n in range(1, 80)])
    assert loop.tell(after(1, Call("c1", "x"), chunk=1)).said == (Verdict.REJECT, Reason.SUPERSEDED)
    assert loop.tell(after(1, Call("c79", "x"), chunk=79)).said == (Verdict.ALLOW, Reason.WITHIN_POLICY)
    assert loop.decision.counters[:3] == (1, 1, 79)


def test_more_calls_than_are_remembered_are_counted() -> None:
    calls = [Call(f"c{n}", "x") for n in range(bounds.CALLS_KEPT + 100)]
    parts = [after(1, *calls[at : at + 100], chunk=at // 100 + 1) for at in range(0, len(calls), 100)]
    loop = Loop(PLAIN).tell(before(1), *parts)
    assert loop.decision.counters.function_calls == len(calls)
    assert loop.tell(before(1, attempt=1)).decision.counters[:3] == (0, 1, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Act(Verdict.ALLOW),
        lambda: Act(Verdict.REJECT, remove_tools=True),
        lambda: Limit(Unit.UNSPECIFIED, 1),
        lambda: Limit(Unit.TURNS, -1),
        lambda: Limit(Unit.TURNS, 1, tool="x"),
        lambda: Policy(""),
    ],
)
def test_a_rule_without_meaning_cannot_be_made(make: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        make()  # type: ignore[operator]
