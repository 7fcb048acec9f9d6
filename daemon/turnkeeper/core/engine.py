"""The only meeting point: ``step(state, event, policy, now_ns)``.

Law: count first, then judge, then answer. What is counted does not depend on the verdict, so ENFORCE and OBSERVE
count alike; what is judged does not depend on enforcement, so OBSERVE changes the answer only. ``step`` returns
for every valid event and leaves the state it was given untouched.

An event told before is answered from the stored answer. An event of a replaced attempt or of an ended request is
*superseded*: it changes nothing, and nothing of it may be used.
"""

from hashlib import blake2b
from typing import NamedTuple

from turnkeeper.core import bounds
from turnkeeper.core import facts as f
from turnkeeper.core.events import AfterModel, BeforeModel, Call, EndRequest, Event, Result, Transcript, Usage
from turnkeeper.core.model import (
    RANK,
    AfterAnswer,
    Answer,
    BeforeAnswer,
    CallVerdict,
    Decision,
    Disposition,
    EndAnswer,
    Enforcement,
    Mode,
    Outcome,
    Point,
    Reason,
    Refusal,
    Verdict,
    Warning,
)
from turnkeeper.core.policy import Policy
from turnkeeper.core.rules import AFTER, BEFORE, limits
from turnkeeper.core.rules.moment import After, Before, Findings
from turnkeeper.core.state import ChunkAnswer, Finding, ModelCall, State

_BUDGETS = (Reason.COST_BUDGET, Reason.TOKEN_BUDGET, Reason.TIME_BUDGET)
WITHIN = Finding(Verdict.ALLOW, Reason.WITHIN_POLICY, "")
SUPERSEDED = Finding(Verdict.REJECT, Reason.SUPERSEDED, "this event is of a replaced attempt or an ended request")
_NOT_RUN = "This function call was not run."
_NO_TRANSCRIPT = Transcript()


class Step(NamedTuple):
    """What one event does. ``fresh`` is False for a repeat, a refusal, and an end that was told before."""

    state: State | None
    answer: Answer
    facts: tuple[f.Fact, ...] = ()
    fresh: bool = True


def starts_over(state: State | None, event: Event) -> bool:
    """Whether this event begins a request id at zero, and so chooses its policy anew."""
    if state is None:
        return True
    return state.ended is not None and isinstance(event, BeforeModel) and event.model_call <= 1


def step(state: State | None, event: Event, policy: Policy, now_ns: int) -> Step:
    """Take one event: the state after it, the answer, and what to tell."""
    if isinstance(event, BeforeModel):
        return _before(state, event, policy, now_ns)
    if isinstance(event, AfterModel):
        return _after(state, event, policy, now_ns)
    return _end(state, event, policy, now_ns)


# --- before a model call --------------------------------------------------------------------------------------


def _before(old: State | None, event: BeforeModel, policy: Policy, now_ns: int) -> Step:
    facts: list[f.Fact] = []
    if starts_over(old, event):
        if old is not None:
            facts.append(f.RequestReused())
        state = State(policy.name, now_ns, event.caller, event.trace.traceparent)
    else:
        assert old is not None
        known = old.find(event.model_call)
        if old.is_superseded(event.model_call, event.attempt) and event.model_call:
            return _superseded_before(old, event, policy)
        if known is not None and known.before is not None and known.attempt == event.attempt:
            return Step(old, known.before, fresh=False)
        state = _touched(old, now_ns)
        state.ended = None
    record = _open(state, event, event.model_call or _next_number(state, event))
    unmatched = _count_results(state, event.results, record, policy)
    seen = event.transcript or _NO_TRANSCRIPT
    state.raise_turns(seen.turns_since_prompt, event.model_call, own=0)
    if event.enabled_tools:
        state.tools_seen = event.enabled_tools
    if not record.side and record.pending is None and state.pending is not None:
        record = record._replace(pending=state.pending)
        state.pending = None
    record = record._replace(
        mode_asked=event.mode, enabled_tools=event.enabled_tools, allowed_names=event.allowed_names
    )
    moment = Before(state, event, policy, record)
    findings = [finding for rule in BEFORE for finding in rule(moment)]
    verdict = _worst(findings)
    if verdict.verdict is Verdict.FORCE_NONE and verdict.reason in _BUDGETS and not record.graced:
        state.grace_used += 1
        record = record._replace(graced=True)
    facts += _note_laps(state, findings)
    answer = _answer_before(moment, verdict, _warnings(findings))
    enforced = policy.enforcement is Enforcement.ENFORCE
    forced = verdict if enforced and verdict.verdict > Verdict.ALLOW else None
    record = record._replace(mode_answered=answer.mode, before=answer, forced=forced)
    state.put(record)
    if not record.side:
        state.final = "rejected" if enforced and verdict.verdict is Verdict.REJECT else ""
    _remember(state, event, answer.decision)
    if unmatched:
        facts.append(f.ResultsUnmatched(unmatched))
    facts += _reported(findings, verdict)
    mode_to = answer.mode if enforced else _mode(moment, verdict)[0]
    if mode_to == Mode.NONE != event.mode and verdict.verdict is not Verdict.REJECT:
        facts.append(f.ModeSwitched(event.mode, mode_to, verdict.reason))
    return Step(state, answer, tuple(facts))


def _next_number(state: State, event: BeforeModel) -> int:
    """Number a model call that the shim does not number; the turns in its transcript were model calls too."""
    seen = event.transcript.turns_since_prompt if event.transcript and not state.latest else 0
    return min(max(state.latest, seen) + 1, bounds.COUNT_MAX)


def _answer_before(moment: Before, verdict: Finding, warnings: tuple[Warning, ...]) -> BeforeAnswer:
    decision_id = _decision_id(moment.record, Point.BEFORE_MODEL, 0)
    decision = _decision(moment.state, moment.policy, verdict, decision_id, warnings)
    if not decision.enforced:
        return BeforeAnswer(decision, moment.event.mode, model_call=moment.record.number)
    mode, drop = _mode(moment, verdict)
    return BeforeAnswer(decision, mode, drop, _declared(moment), moment.record.number)


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


# --- after a response, or a chunk of it -----------------------------------------------------------------------


def _after(old: State | None, event: AfterModel, policy: Policy, now_ns: int) -> Step:
    content = _content(event)
    if old is None:
        state = State(policy.name, now_ns, event.caller, event.trace.traceparent)
        number = event.model_call or min(event.turns_since_prompt + 1, bounds.COUNT_MAX)
    else:
        number = event.model_call or old.latest or 1
        known = old.find(number)
        if old.ended is not None or old.is_superseded(number, event.attempt):
            return _superseded_after(old, event, number, policy)
        if known is not None and known.attempt == event.attempt:
            for kept in known.chunks:
                if kept.chunk == event.chunk:
                    return _repeat(old, event, kept, content)
            if event.chunk <= known.forgotten:
                return _superseded_after(old, event, number, policy)
        state = _touched(old, now_ns)
    record = _open(state, event, number)
    state.raise_turns(event.turns_since_prompt, event.model_call, own=1 if record.turn else 0)
    enforced = policy.enforcement is Enforcement.ENFORCE
    unanswered = record.before is None and record.forced is None and not record.told
    if enforced and unanswered and event.mode_sent == Mode.NONE:
        forced = limits.at_request(state, policy, record)  # the answer is lost; it would have been this one
        record = record._replace(forced=_worst(forced) if forced else None)
    counted = record.function_calls
    record = state.count_calls(record, event.calls, policy.limited_tools)
    spent: list[f.Fact] = []
    if event.usage is not None:
        spent = _spent(record.usage, event.usage)
        record = state.spend(record, event.usage)
    record = record._replace(told=True, text=record.text or event.has_text)
    moment = After(state, event, policy, record, fresh=record.function_calls > counted)
    findings = [finding for rule in AFTER for finding in rule(moment)]
    if record.held is not None:
        findings.append(record.held)
    verdict = _worst(findings)
    if verdict.verdict > Verdict.ALLOW:
        record = record._replace(held=verdict)
    loops = _note_laps(state, findings)
    if verdict.verdict is Verdict.FORCE_NONE:
        state.pending, state.pending_from = verdict, number
    if enforced and verdict.verdict > Verdict.ALLOW:
        state.block(number)
    answer = _answer_after(state, event, policy, verdict, _decision_id(record, Point.AFTER_MODEL, event.chunk))
    facts = _after_facts(moment, findings, verdict)
    record, rejected = _tell_rejected(record, verdict)
    state.put(record.keep(ChunkAnswer(event.chunk, content, answer)))
    _note_final(state, event, record, answer.decision)
    _remember(state, event, answer.decision)
    return Step(state, answer, (*facts, *loops, *spent, *rejected))


def _spent(old: Usage, new: Usage) -> list[f.Fact]:
    """Tell what the newest usage adds; a provider that corrects itself downwards adds nothing."""
    added_in, added_out = new.input_tokens - old.input_tokens, new.output_tokens - old.output_tokens
    split = new.input_tokens + new.output_tokens
    unsplit = 0 if split else new.total_tokens - old.total_tokens
    told = f.TokensSpent(max(0, added_in), max(0, added_out), max(0, unsplit))
    return [told] if any(told) else []


def _content(event: AfterModel) -> bytes:
    """Digest what makes two events of one key the same: the calls and the finish reason."""
    return blake2b(repr((event.calls, int(event.finish_reason))).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _repeat(state: State, event: AfterModel, kept: ChunkAnswer, content: bytes) -> Step:
    if kept.content == content:
        return Step(state, kept.answer, fresh=False)
    message = (
        f"chunk: {event.chunk} of this model call and attempt was told before with other calls or another finish"
        " reason; a repeat must be equal, a retry has a higher attempt"
    )
    return Step(state, Refusal("chunk", message), fresh=False)


def _answer_after(state: State, event: AfterModel, policy: Policy, verdict: Finding, decision_id: str) -> AfterAnswer:
    decision = _decision(state, policy, verdict, decision_id)
    run = decision.verdict is Verdict.ALLOW
    text = "" if run else f"{_NOT_RUN} {verdict.model_hint}".rstrip()
    calls = tuple(CallVerdict(call.id, call.name, run, verdict.reason, text) for call in event.calls)
    return AfterAnswer(decision, calls)


def _after_facts(moment: After, findings: Findings, verdict: Finding) -> list[f.Fact]:
    facts = _reported(findings, verdict)
    if verdict.verdict is Verdict.ALLOW and verdict is not WITHIN:  # a guard that only reports
        facts.append(f.Reported(verdict.reason, verdict.verdict, verdict.message))
    record, sent = moment.record, moment.event.mode_sent
    if record.before is not None and sent not in (Mode.UNSPECIFIED, record.mode_answered):
        facts.append(f.ModeMismatch(record.mode_answered, sent))
    return facts


def _tell_rejected(record: ModelCall, verdict: Finding) -> tuple[ModelCall, tuple[f.Fact, ...]]:
    """Tell function calls under a REJECT: once each, and at least one for a rejected response."""
    if verdict.verdict is not Verdict.REJECT:
        return record, ()
    calls = max(1, record.function_calls) - record.rejected_told
    if not calls:
        return record, ()
    told = record._replace(rejected_told=record.rejected_told + calls)
    return told, (f.CallsRejected(calls, verdict.reason),)


def _note_final(state: State, event: AfterModel, record: ModelCall, decision: Decision) -> None:
    """Note how the newest MAIN response looks; it is the outcome if the loop ends here."""
    if record.side or record.number != state.latest:
        return
    if decision.verdict is Verdict.REJECT:
        state.final = "rejected"
    elif event.last or event.chunk == 0:
        forced = record.forced is not None and not record.turn
        state.final = ("forced_completion" if record.text else "final_empty") if forced else ""


# --- the end --------------------------------------------------------------------------------------------------


def _end(old: State | None, event: EndRequest, policy: Policy, now_ns: int) -> Step:
    if old is None:
        tombstone = State(policy.name, now_ns)
        tombstone.ended = event.outcome
        return Step(tombstone, EndAnswer(limits.counters(tombstone, policy)), fresh=False)
    if old.ended is not None:
        return Step(old, EndAnswer(limits.counters(old, policy)), fresh=False)
    state = _touched(old, now_ns)
    state.ended = event.outcome
    told = limits.counters(state, policy)
    return Step(state, EndAnswer(told), (ended(state, policy, _outcome(state, event.outcome)),))


def expire(state: State, policy: Policy) -> f.RequestEnded | None:
    """Tell that a request id was forgotten without an end; None for one that ended."""
    return ended(state, policy, "expired") if state.ended is None else None


def ended(state: State, policy: Policy, outcome: str) -> f.RequestEnded:
    """Sum up a request id."""
    used = tuple(
        f.BudgetUse(limit.unit, limits.total(state, limit), limit.n)
        for limit in policy.active_limits
        if limit.n and not limit.tool
    )
    told = limits.counters(state, policy)
    return f.RequestEnded(outcome, told, state.started_ns, state.seen_ns, state.traceparent, state.links, used)


def _outcome(state: State, told: Outcome) -> str:
    if told is Outcome.CANCELLED:
        return "cancelled"
    if state.final == "rejected":  # an application that raised our error tells FAILED
        return "rejected"
    if told is Outcome.FAILED:
        return "failed"
    return state.final or "completed"


# --- common ---------------------------------------------------------------------------------------------------


def _touched(old: State, now_ns: int) -> State:
    """Copy; a time before the last seen one is taken as the last seen."""
    state = old.copy()
    state.seen_ns = max(old.seen_ns, now_ns)
    return state


def _open(state: State, event: BeforeModel | AfterModel, number: int) -> ModelCall:
    """Return the record of this attempt; a higher attempt rolls back the one it replaces."""
    known = state.find(number)
    if known is not None and known.attempt == event.attempt:
        return known
    if known is not None:
        state.roll_back(known)
        return ModelCall(
            number,
            event.attempt,
            known.ordinal,
            known.side,
            known.mode_asked,
            known.mode_answered,
            known.enabled_tools,
            known.allowed_names,
            forced=known.forced,
            pending=known.pending,
            graced=known.graced,
        )
    if not state.first:
        state.take_up(number)
    ordinal = state.count_model_call(number, side=event.side)
    return ModelCall(number, event.attempt, ordinal, event.side)


def _count_results(state: State, results: tuple[Result, ...], record: ModelCall, policy: Policy) -> int:
    """Match results; those of a response that was never told count its turn. Return how many match nothing."""
    if not results:
        return 0
    unmatched = state.take_results(results)
    if not unmatched:
        return 0
    earlier = [call for call in state.calls if call.number < record.number and not call.side]
    target = earlier[-1] if earlier else None
    if record.number > 1 and (target is None or (target.told and target.number < record.number - 1)):
        if state.find(record.number - 1) is not None or state.is_superseded(record.number - 1, 0):
            return len(unmatched)
        target = ModelCall(record.number - 1, ordinal=max(1, record.ordinal - 1))
    if target is None or target.told:
        return len(unmatched)
    calls = tuple(Call(result.call_id, result.name) for result in unmatched)
    state.put(state.count_calls(target, calls, policy.limited_tools)._replace(told=True))
    state.take_results(unmatched)
    return 0


def _worst(findings: Findings) -> Finding:
    """Return the most severe finding; among equals that of highest precedence.

    What is left to break a tie (two limits of one unit) is the stricter disposition, then the removal of tools, then
    the text, so that the order of rules is of no consequence.
    """
    if not findings:
        return WITHIN
    return min((*findings, WITHIN), key=_severity)


def _severity(finding: Finding) -> tuple[int, int, int, bool, str]:
    return -finding.verdict, RANK[finding.reason], finding.disposition, not finding.remove_tools, finding.message


def _reported(findings: Findings, verdict: Finding) -> list[f.Fact]:
    """Tell findings below the verdict; an ALLOW says nothing that the answer does not."""
    return [
        f.Reported(finding.reason, finding.verdict, finding.message)
        for finding in findings
        if finding is not verdict and finding.reason is not verdict.reason
    ]


def _decision(
    state: State, policy: Policy, verdict: Finding, decision_id: str, warnings: tuple[Warning, ...] = ()
) -> Decision:
    enforced = policy.enforcement is Enforcement.ENFORCE
    return Decision(
        verdict.verdict if enforced else Verdict.ALLOW,
        verdict.reason,
        verdict.message,
        verdict.model_hint,
        verdict.disposition if verdict.verdict is Verdict.REJECT else Disposition.UNSPECIFIED,
        policy.name,
        policy.version,
        enforced,
        verdict.verdict,
        decision_id,
        limits.counters(state, policy),
        warnings,
    )


def _warnings(findings: Findings) -> tuple[Warning, ...]:
    """Return the patterns that are told and not acted on."""
    return tuple(
        Warning(finding.reason, finding.message, finding.model_hint)
        for finding in findings
        if finding.lap is not None and finding.verdict is Verdict.ALLOW
    )


def _note_laps(state: State, findings: Findings) -> list[f.Fact]:
    """Remember each pattern found, and tell it the first time and at doublings."""
    facts: list[f.Fact] = []
    for finding in findings:
        lap = finding.lap
        if lap is None:
            continue
        known = state.lap(lap.key)
        if known is None or known.start != lap.start or lap.laps >= 2 * known.laps:
            state.note(lap)
            facts.append(f.LoopDetected(finding.reason, lap.period, lap.laps, lap.key))
    return facts


def _decision_id(record: ModelCall, point: Point, chunk: int) -> str:
    return f"{record.number}.{record.attempt}.{point.value}.{chunk}"


def _remember(state: State, event: BeforeModel | AfterModel, decision: Decision) -> None:
    state.last_verdict, state.last_reason = decision.verdict_if_enforced, decision.reason
    if decision.verdict_if_enforced > Verdict.ALLOW and event.trace.span_id:
        state.link(event.trace.traceparent, event.trace.span_id)


def _superseded_before(state: State, event: BeforeModel, policy: Policy) -> Step:
    record = ModelCall(event.model_call, event.attempt)
    decision = _decision(state, policy, SUPERSEDED, _decision_id(record, Point.BEFORE_MODEL, 0))
    mode = Mode.NONE if decision.enforced else event.mode
    return Step(state, BeforeAnswer(decision, mode, model_call=event.model_call))


def _superseded_after(state: State, event: AfterModel, number: int, policy: Policy) -> Step:
    record = ModelCall(number, event.attempt)
    decision_id = _decision_id(record, Point.AFTER_MODEL, event.chunk)
    answer = _answer_after(state, event, policy, SUPERSEDED, decision_id)
    return Step(state, answer, (f.CallsRejected(max(1, len(event.calls)), Reason.SUPERSEDED),))
