"""Before a model call: whether it may be made, and in which mode."""

from turnkeeper.core import bounds
from turnkeeper.core import facts as f
from turnkeeper.core.attempts import count_results, open_attempt, touched
from turnkeeper.core.events import BeforeModel, Transcript
from turnkeeper.core.judging import (
    SUPERSEDED,
    Step,
    decision,
    decision_id,
    note_laps,
    remember,
    reported,
    warnings,
    worst,
)
from turnkeeper.core.model import BeforeAnswer, Enforcement, Mode, Point, Reason, Verdict
from turnkeeper.core.model import Warning as Warned
from turnkeeper.core.policy import Policy
from turnkeeper.core.rules import BEFORE
from turnkeeper.core.rules.moment import Before
from turnkeeper.core.state import Finding, ModelCall, State

_NO_TRANSCRIPT = Transcript()
_BUDGETS = (Reason.COST_BUDGET, Reason.TOKEN_BUDGET, Reason.TIME_BUDGET)


def begin(event: BeforeModel, policy: Policy, now_ns: int, *, reused: bool) -> Step:
    """Take the first event of a request id, or of one that ended and starts again at zero."""
    state = State.begin(policy.name, now_ns, event.caller, event.trace.traceparent)
    return _decide(state, event, policy, [f.RequestReused()] if reused else [])


def go_on(old: State, event: BeforeModel, policy: Policy, now_ns: int) -> Step:
    """Take a further event: a repeat is answered as before, what is superseded changes nothing."""
    if event.model_call and old.is_superseded(event.model_call, event.attempt):
        return _superseded(old, event, policy)
    known = old.find(event.model_call)
    if known is not None and known.before is not None and known.attempt == event.attempt:
        return Step(old, known.before, fresh=False)
    state = touched(old, now_ns)
    state.ended = None
    return _decide(state, event, policy, [])


def _decide(state: State, event: BeforeModel, policy: Policy, facts: list[f.Fact]) -> Step:
    record, unmatched = _count(state, event, policy)
    moment = Before(state, event, policy, record)
    findings = [finding for rule in BEFORE for finding in rule(moment)]
    verdict = worst(findings)
    if verdict.verdict is Verdict.FORCE_NONE and verdict.reason in _BUDGETS and not record.graced:
        state.grace_used += 1
        record = record._replace(graced=True)
    facts += note_laps(state, findings)
    answer = _answer(moment, verdict, warnings(findings))
    enforced = policy.enforcement is Enforcement.ENFORCE
    forced = verdict if enforced and verdict.verdict > Verdict.ALLOW else None
    state.put(record._replace(mode_answered=answer.mode, before=answer, forced=forced))
    if not record.side:
        state.final = "rejected" if enforced and verdict.verdict is Verdict.REJECT else ""
    remember(state, event, answer.decision)
    if unmatched:
        facts.append(f.ResultsUnmatched(unmatched))
    facts += reported(findings, verdict)
    facts += _switched(moment, verdict)
    return Step(state, answer, tuple(facts))


def _count(state: State, event: BeforeModel, policy: Policy) -> tuple[ModelCall, int]:
    """Count what the event tells; return the record of its model call, and how many results match nothing."""
    record = open_attempt(state, event, event.model_call or _next_number(state, event))
    unmatched = count_results(state, event.results, record, policy)
    seen = event.transcript or _NO_TRANSCRIPT
    state.raise_turns(seen.turns_since_prompt, event.model_call, own=0)
    if event.enabled_tools:
        state.tools_seen = event.enabled_tools
    if not record.side and record.pending is None and state.pending is not None:
        record = record._replace(pending=state.pending)
        state.pending = None
    return record._replace(
        mode_asked=event.mode, enabled_tools=event.enabled_tools, allowed_names=event.allowed_names
    ), unmatched


def _switched(moment: Before, verdict: Finding) -> list[f.Fact]:
    """Tell that the mode is not the one asked; under OBSERVE, that it would not have been."""
    mode_to = _mode(moment, verdict)[0]
    if mode_to == Mode.NONE != moment.event.mode and verdict.verdict is not Verdict.REJECT:
        return [f.ModeSwitched(moment.event.mode, mode_to, verdict.reason)]
    return []


def _next_number(state: State, event: BeforeModel) -> int:
    """Return the number of a model call that the shim does not number; turns in its transcript were calls too."""
    seen = event.transcript.turns_since_prompt if event.transcript and not state.latest else 0
    return min(max(state.latest, seen) + 1, bounds.COUNT_MAX)


def _answer(moment: Before, verdict: Finding, warned: tuple[Warned, ...]) -> BeforeAnswer:
    name = decision_id(moment.record, Point.BEFORE_MODEL, 0)
    told = decision(moment.state, moment.policy, verdict, name, warned)
    if not told.enforced:
        return BeforeAnswer(told, moment.event.mode, model_call=moment.record.number)
    mode, drop = _mode(moment, verdict)
    return BeforeAnswer(told, mode, drop, _declared(moment), moment.record.number)


def _mode(moment: Before, verdict: Finding) -> tuple[int, bool]:
    """Return the mode to send, and whether to send no declarations."""
    event = moment.event
    none_enabled = event.enabled_tools == () and moment.policy.guards.no_tools
    nothing_to_declare = none_enabled and not _has_calls(moment)
    if verdict.verdict > Verdict.ALLOW:
        return Mode.NONE, verdict.remove_tools or nothing_to_declare
    if event.mode == Mode.NONE:
        return Mode.NONE, nothing_to_declare
    if none_enabled:
        return (Mode.UNSPECIFIED, True) if nothing_to_declare else (Mode.NONE, False)
    return event.mode, False


def _has_calls(moment: Before) -> bool:
    """Whether the history that is about to be sent has function calls; without a transcript, what was counted."""
    transcript = moment.event.transcript
    if transcript is None:
        return moment.state.turns > 0
    return transcript.has_function_calls or transcript.turns_since_prompt > 0


def _declared(moment: Before) -> tuple[str, ...]:
    """Name the tools to declare when none is enabled but the history refers to some."""
    event = moment.event
    none_enabled = event.enabled_tools == () or (event.enabled_tools is None and event.mode == Mode.NONE)
    if not none_enabled or not _has_calls(moment):
        return ()
    told = event.transcript.instruction_tools if event.transcript else ()
    return told or moment.state.tools_seen


def _superseded(state: State, event: BeforeModel, policy: Policy) -> Step:
    record = ModelCall(event.model_call, event.attempt)
    told = decision(state, policy, SUPERSEDED, decision_id(record, Point.BEFORE_MODEL, 0))
    mode = Mode.NONE if told.enforced else event.mode
    return Step(state, BeforeAnswer(told, mode, model_call=event.model_call))
