"""Limits: used >= n + offset before a model call, used > n + offset after a response."""

import pytest
from told import NONE, REJECT, REMOVE, SEARCH, Loop, after, before, turns

from turnkeeper.core.events import Call
from turnkeeper.core.model import Disposition, Mode, Reason, Unit, Verdict
from turnkeeper.core.policy import Act, Limit, Policy

ALLOW, FORCE, REFUSE = Verdict.ALLOW, Verdict.FORCE_NONE, Verdict.REJECT


def run(policy: Policy, requests_max: int = 6) -> tuple[int, int]:
    """Let a model that always calls loop until a REJECT; return the requests made and the turns run."""
    loop, ran = Loop(policy), 0
    for number in range(1, requests_max + 1):
        if loop.tell(before(number)).decision.verdict is REFUSE:
            return number - 1, ran
        verdict = loop.tell(after(number, SEARCH)).decision.verdict
        if verdict is REFUSE:
            return number, ran
        ran += verdict is ALLOW
    return requests_max, ran


@pytest.mark.parametrize(
    ("unit", "n", "at_before", "at_after", "requests", "ran"),
    [
        (Unit.TURNS, 3, NONE, REJECT, 4, 3),
        (Unit.TURNS, 3, REMOVE, REJECT, 4, 3),
        (Unit.TURNS, 3, None, REJECT, 4, 3),
        (Unit.TURNS, 3, REJECT, None, 3, 3),
        (Unit.TURNS, 3, Act(REFUSE, 1), None, 4, 4),
        (Unit.TURNS, 3, Act(REFUSE, -1), None, 2, 2),
        (Unit.TURNS, 0, NONE, REJECT, 1, 0),
        (Unit.TURNS, 0, REJECT, None, 0, 0),
        (Unit.TURNS, 1, NONE, REJECT, 2, 1),
        (Unit.TURNS, None, NONE, REJECT, 6, 6),
        (Unit.MODEL_CALLS, 3, REJECT, None, 3, 3),
        (Unit.MODEL_CALLS, 3, None, Act(REFUSE, -1), 3, 2),
        (Unit.MODEL_CALLS, 3, None, REJECT, 4, 3),
        (Unit.MODEL_CALLS, 1, None, Act(REFUSE, -1), 1, 0),
        (Unit.MODEL_CALLS, 0, REJECT, None, 0, 0),
        (Unit.FUNCTION_CALLS, 3, None, REJECT, 4, 3),
        (Unit.FUNCTION_CALLS, 3, REJECT, None, 3, 3),
    ],
)
def test_requests_and_turns_of_a_model_that_always_calls(
    unit: Unit, n: int | None, at_before: Act | None, at_after: Act | None, requests: int, ran: int
) -> None:
    assert run(Policy("p", limits=(Limit(unit, n, before=at_before, after=at_after),))) == (requests, ran)


@pytest.mark.parametrize(("n", "requests", "ran"), [(0, 1, 0), (1, 1, 1), (2, 2, 2)])
def test_zero_no_calls_makes_the_request_and_runs_nothing(n: int, requests: int, ran: int) -> None:
    policy = Policy("p", limits=(Limit(Unit.MODEL_CALLS, n, before=REJECT, zero_no_calls=True),))
    assert run(policy) == (requests, ran)


def test_the_message_has_the_count_and_the_limit() -> None:
    loop = Loop(turns(1)).tell(before(1), after(1, SEARCH), before(2))
    assert loop.decision.message == "1 tool-calling turns made, the limit is 1"
    assert "1 tool-calling turns" in loop.decision.model_hint


@pytest.mark.parametrize(("act", "drop"), [(NONE, False), (REMOVE, True)])
def test_only_remove_tools_drops_declarations(act: Act, drop: bool) -> None:
    assert Loop(turns(0, act)).tell(before(1)).sent == (Mode.NONE, drop, ())


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["mail"], (ALLOW, Reason.WITHIN_POLICY)),
        (["mail", "search", "search"], (ALLOW, Reason.WITHIN_POLICY)),
        (["mail", "mail"], (REFUSE, Reason.FUNCTION_CALL_LIMIT)),
    ],
)
def test_a_tool_has_a_limit_of_its_own(names: list[str], said: tuple[Verdict, Reason]) -> None:
    policy = Policy("p", limits=(Limit(Unit.FUNCTION_CALLS, 1, "mail", after=REJECT),))
    calls = [Call(str(index), name) for index, name in enumerate(names)]
    assert Loop(policy).tell(before(1), after(1, *calls)).said == said


def test_the_nearest_limit_is_told() -> None:
    policy = Policy(
        "p",
        limits=(
            Limit(Unit.TURNS, 5, after=REJECT),
            Limit(Unit.FUNCTION_CALLS, 4, after=REJECT),
            Limit(Unit.MODEL_CALLS, None, after=REJECT),
        ),
    )
    loop = Loop(policy).tell(before(1))
    assert loop.decision.counters[6:] == (4, 4, False, Unit.FUNCTION_CALLS)
    assert loop.tell(after(1)).tell(*[before(number) for number in range(2, 5)]).decision.counters.remaining == 4
    assert Loop(turns(None)).tell(before(1)).decision.counters[6:] == (0, 0, True, Unit.UNSPECIFIED)


@pytest.mark.parametrize("disposition", [Disposition.RAISE, Disposition.RETURN])
def test_the_disposition_is_the_limits_own(disposition: Disposition) -> None:
    policy = Policy("p", limits=(Limit(Unit.TURNS, 0, before=REJECT, disposition=disposition),))
    assert Loop(policy).tell(before(1)).decision.disposition is disposition
