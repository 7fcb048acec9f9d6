"""Modes, tools, bad finishes and the stop switch: one table each."""

import pytest
from told import SEARCH, Loop, after, before, turns

from turnkeeper.core import facts as f
from turnkeeper.core.events import Call, Transcript
from turnkeeper.core.model import FinishReason, Mode, Reason, Verdict
from turnkeeper.core.policy import Guards, Policy

ALLOW, FORCE, REFUSE = Verdict.ALLOW, Verdict.FORCE_NONE, Verdict.REJECT
PLAIN = Policy("p")
WITHIN = (ALLOW, Reason.WITHIN_POLICY)
CALLED = Transcript(1, has_function_calls=True, instruction_tools=("old",))
FRESH = Transcript()


@pytest.mark.parametrize(
    ("mode", "enabled", "transcript", "sent", "reason"),
    [
        (Mode.AUTO, None, None, (Mode.AUTO, False, ()), Reason.WITHIN_POLICY),
        (Mode.UNSPECIFIED, None, None, (Mode.UNSPECIFIED, False, ()), Reason.WITHIN_POLICY),
        (77, None, CALLED, (77, False, ()), Reason.WITHIN_POLICY),
        (Mode.NONE, None, FRESH, (Mode.NONE, False, ()), Reason.DISALLOWED),
        (Mode.NONE, None, CALLED, (Mode.NONE, False, ("old",)), Reason.DISALLOWED),
        (Mode.NONE, ("search",), CALLED, (Mode.NONE, False, ()), Reason.DISALLOWED),
        (Mode.NONE, (), FRESH, (Mode.NONE, True, ()), Reason.DISALLOWED),
        (Mode.NONE, (), CALLED, (Mode.NONE, False, ("old",)), Reason.DISALLOWED),
        (Mode.ANY, (), FRESH, (Mode.UNSPECIFIED, True, ()), Reason.NO_TOOLS_ENABLED),
        (Mode.ANY, (), CALLED, (Mode.NONE, False, ("old",)), Reason.NO_TOOLS_ENABLED),
        (Mode.UNSPECIFIED, (), CALLED, (Mode.NONE, False, ("old",)), Reason.NO_TOOLS_ENABLED),
        (Mode.ANY, ("search",), CALLED, (Mode.ANY, False, ()), Reason.WITHIN_POLICY),
    ],
)
def test_what_is_sent(
    mode: int,
    enabled: tuple[str, ...] | None,
    transcript: Transcript | None,
    sent: tuple[int, bool, tuple[str, ...]],
    reason: Reason,
) -> None:
    loop = Loop(PLAIN).tell(before(1, mode, enabled_tools=enabled, transcript=transcript))
    assert (loop.sent, loop.said) == (sent, (ALLOW, reason))


def test_tools_last_seen_enabled_are_declared_when_the_event_names_none() -> None:
    loop = Loop(PLAIN).tell(before(1, enabled_tools=("search", "mail")), after(1, SEARCH))
    assert loop.tell(before(2, enabled_tools=())).sent == (Mode.NONE, False, ("search", "mail"))


@pytest.mark.parametrize(
    ("mode", "enabled", "allowed", "name", "reason"),
    [
        (Mode.AUTO, None, (), "any", Reason.WITHIN_POLICY),
        (Mode.AUTO, None, (), " ", Reason.TOOL_NOT_ENABLED),
        (Mode.AUTO, ("search",), (), "search", Reason.WITHIN_POLICY),
        (Mode.AUTO, ("search",), (), "other", Reason.TOOL_NOT_ENABLED),
        (Mode.AUTO, ("search",), (), "", Reason.TOOL_NOT_ENABLED),
        (Mode.ANY, ("search", "mail"), ("mail",), "search", Reason.TOOL_NOT_ENABLED),
        (Mode.VALIDATED, ("search", "mail"), ("mail",), "search", Reason.TOOL_NOT_ENABLED),
        (Mode.AUTO, ("search", "mail"), ("mail",), "search", Reason.WITHIN_POLICY),
        (Mode.ANY, None, ("mail",), "search", Reason.WITHIN_POLICY),
        (Mode.AUTO, (), (), "search", Reason.NO_TOOLS_ENABLED),
        (Mode.NONE, ("search",), (), "search", Reason.DISALLOWED),
        (Mode.NONE, (), (), "", Reason.DISALLOWED),
    ],
)
def test_which_call_may_run(
    mode: int, enabled: tuple[str, ...] | None, allowed: tuple[str, ...], name: str, reason: Reason
) -> None:
    loop = Loop(PLAIN).tell(before(1, mode, enabled_tools=enabled, allowed_names=allowed), after(1, Call("a", name)))
    assert loop.said == (ALLOW if reason is Reason.WITHIN_POLICY else REFUSE, reason)


@pytest.mark.parametrize(
    ("asked", "sent", "said"),
    [
        (Mode.AUTO, Mode.UNSPECIFIED, WITHIN),
        (Mode.AUTO, Mode.AUTO, WITHIN),
        (Mode.AUTO, Mode.NONE, (REFUSE, Reason.DISALLOWED)),
        (Mode.NONE, Mode.AUTO, (REFUSE, Reason.DISALLOWED)),
    ],
)
def test_none_answered_or_sent_is_held_against_a_call(asked: int, sent: int, said: tuple[Verdict, Reason]) -> None:
    loop = Loop(PLAIN).tell(before(1, asked), after(1, SEARCH, mode_sent=sent))
    assert loop.said == said
    assert (f.ModeMismatch(asked, sent) in loop.step.facts) == (sent not in (Mode.UNSPECIFIED, asked))


@pytest.mark.parametrize("calls", [(), (SEARCH,)])
@pytest.mark.parametrize("rejects", [True, False])
@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (FinishReason.MALFORMED_FUNCTION_CALL, Reason.MALFORMED_CALL),
        (FinishReason.UNEXPECTED_TOOL_CALL, Reason.UNEXPECTED_TOOL_CALL),
    ],
)
def test_a_bad_finish_with_and_without_a_call(
    finish: FinishReason, reason: Reason, rejects: bool, calls: tuple[Call, ...]
) -> None:
    policy = Policy("p", guards=Guards(bad_finish=rejects))
    loop = Loop(policy).tell(before(1), after(1, *calls, finish_reason=finish))
    assert loop.said == (REFUSE if rejects else ALLOW, reason)


@pytest.mark.parametrize(
    ("guards", "asked", "name", "reason"),
    [
        (Guards(disallowed=False), before(1, Mode.NONE), "search", Reason.DISALLOWED),
        (Guards(no_tools=False), before(1, enabled_tools=()), "search", Reason.NO_TOOLS_ENABLED),
        (Guards(not_enabled=False), before(1, enabled_tools=("mail",)), "search", Reason.TOOL_NOT_ENABLED),
    ],
)
def test_a_guard_that_reports_tells_a_fact(guards: Guards, asked: object, name: str, reason: Reason) -> None:
    loop = Loop(Policy("p", guards=guards)).tell(asked, after(1, Call("a", name)))  # type: ignore[arg-type]
    assert loop.said == (ALLOW, reason)
    assert [(fact.reason, fact.verdict) for fact in loop.step.facts if isinstance(fact, f.Reported)] == [
        (reason, ALLOW)
    ]


def test_the_stop_switch_has_the_operators_text() -> None:
    loop = Loop(Policy("p", deny="closed for the night")).tell(before(1))
    assert (*loop.said, loop.decision.message) == (REFUSE, Reason.POLICY_REJECT, "closed for the night")
    assert loop.tell(after(1, SEARCH)).said == (REFUSE, Reason.POLICY_REJECT)
    assert Loop(Policy("p", deny="closed")).tell(before(1), after(1, has_text=True)).said == WITHIN


def test_a_forced_none_is_held_against_the_response() -> None:
    loop = Loop(turns(0, after=None)).tell(before(1, Mode.ANY))
    assert loop.said == (FORCE, Reason.TURN_LIMIT)
    facts = list(loop.step.facts)
    assert facts == [f.ModeSwitched(Mode.ANY, Mode.NONE, Reason.TURN_LIMIT)]
    assert loop.tell(after(1, SEARCH)).said == (REFUSE, Reason.TURN_LIMIT)
    assert list(loop.step.facts) == [f.CallsRejected(1, Reason.TURN_LIMIT)]
