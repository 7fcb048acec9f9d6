"""The order of rules is of no consequence, the order of verdicts and reasons is everything."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import POLICIES, loops
from table import run

from turnkeeper.core import after as after_model
from turnkeeper.core import before as before_model
from turnkeeper.core import engine
from turnkeeper.core.events import AfterModel, BeforeModel, Call, Event
from turnkeeper.core.model import PRECEDENCE, AfterAnswer, BeforeAnswer, Reason, Verdict
from turnkeeper.core.policy import Policy
from turnkeeper.core.rules import AFTER, BEFORE
from turnkeeper.core.state import Finding

FOUND = [reason for reason in PRECEDENCE if reason is not Reason.WITHIN_POLICY]
EVENTS = [BeforeModel("r", 1), AfterModel("r", 1, calls=(Call("a", "search"),))]


@contextmanager
def rules(before: tuple[object, ...], after: tuple[object, ...]) -> Iterator[None]:
    """Let the engine ask these rules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(before_model, "BEFORE", before)
        patch.setattr(after_model, "AFTER", after)
        yield


@given(policy=POLICIES, events=loops(), random=st.randoms(use_true_random=False))
def test_order_of_rules_is_irrelevant(policy: Policy, events: list[Event], random: Random) -> None:
    expected = run(events, policy)
    with rules(tuple(random.sample(BEFORE, len(BEFORE))), tuple(random.sample(AFTER, len(AFTER)))):
        shuffled = run(events, policy)
    for one, other in zip(expected, shuffled, strict=True):
        assert one.done.answer == other.done.answer
        assert one.done.state == other.done.state
        assert sorted(map(repr, one.done.facts)) == sorted(map(repr, other.done.facts))


def told(event: Event, *findings: Finding) -> tuple[Verdict, Reason]:
    """Return what is answered when rules find this."""
    each = tuple((lambda _moment, found=finding: (found,)) for finding in findings)
    with rules(each, each):
        answer = engine.step(None, event, Policy("p"), 0).answer
    assert isinstance(answer, BeforeAnswer | AfterAnswer)
    return answer.decision.verdict, answer.decision.reason


@pytest.mark.parametrize("event", EVENTS, ids=["before", "after"])
@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.FORCE_NONE, Verdict.REJECT])
@pytest.mark.parametrize(("higher", "lower"), list(pairwise(FOUND)))
def test_neighbours_in_precedence(event: Event, verdict: Verdict, higher: Reason, lower: Reason) -> None:
    findings = [Finding(verdict, higher, "a"), Finding(verdict, lower, "b")]
    assert told(event, *findings) == told(event, *reversed(findings)) == (verdict, higher)


@pytest.mark.parametrize("event", EVENTS, ids=["before", "after"])
@pytest.mark.parametrize(("mild", "severe"), list(pairwise([Verdict.ALLOW, Verdict.FORCE_NONE, Verdict.REJECT])))
@pytest.mark.parametrize(("higher", "lower"), list(pairwise(FOUND)))
def test_severity_before_precedence(
    event: Event, mild: Verdict, severe: Verdict, higher: Reason, lower: Reason
) -> None:
    assert told(event, Finding(mild, higher, "a"), Finding(severe, lower, "b")) == (severe, lower)


def test_every_reason_has_its_place() -> None:
    assert set(PRECEDENCE) == set(Reason) - {Reason.UNSPECIFIED, Reason.UNAVAILABLE}
    assert len(PRECEDENCE) == len(set(PRECEDENCE))
