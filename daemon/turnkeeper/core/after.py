"""After a response, or a chunk of it: whether the function calls in it may be run."""

from hashlib import blake2b

from turnkeeper.core import bounds
from turnkeeper.core import facts as f
from turnkeeper.core.attempts import open_attempt, touched
from turnkeeper.core.events import AfterModel, Usage
from turnkeeper.core.judging import (
    SUPERSEDED,
    WITHIN,
    Step,
    decision,
    decision_id,
    note_laps,
    remember,
    reported,
    worst,
)
from turnkeeper.core.model import (
    AfterAnswer,
    CallVerdict,
    Decision,
    Enforcement,
    Mode,
    Point,
    Refusal,
    Verdict,
)
from turnkeeper.core.policy import Policy
from turnkeeper.core.rules import AFTER, finish, limits
from turnkeeper.core.rules.moment import After, Findings
from turnkeeper.core.state import ChunkAnswer, Finding, ModelCall, State

_NOT_RUN = "This function call was not run."


def begin(event: AfterModel, policy: Policy, now_ns: int) -> Step:
    """Take an AfterModel as the first event of a request id."""
    state = State.begin(policy.name, now_ns, event.caller, event.trace.traceparent)
    number = event.model_call or min(event.turns_since_prompt + 1, bounds.COUNT_MAX)
    return _decide(state, event, number, policy, _content(event))


def go_on(old: State, event: AfterModel, policy: Policy, now_ns: int) -> Step:
    """Take a further event: a repeat is answered as before, what is superseded changes nothing."""
    number = event.model_call or old.latest or 1
    if old.ended is not None or old.is_superseded(number, event.attempt):
        return _superseded(old, event, number, policy)
    content = _content(event)
    known = old.find(number)
    if known is not None and known.attempt == event.attempt:
        kept = next((kept for kept in known.chunks if kept.chunk == event.chunk), None)
        if kept is not None:
            return _repeat(old, event, kept, content)
        if event.chunk <= known.forgotten:
            return _superseded(old, event, number, policy)
    return _decide(touched(old, now_ns), event, number, policy, content)


def _decide(state: State, event: AfterModel, number: int, policy: Policy, content: bytes) -> Step:
    record, spent, fresh = _count(state, event, number, policy)
    moment = After(state, event, policy, record, fresh)
    findings = [finding for rule in AFTER for finding in rule(moment)]
    if record.held is not None:
        findings.append(record.held)
    verdict = worst(findings)
    facts = [*_facts(moment, findings, verdict), *note_laps(state, findings), *spent]
    record = _hold(state, record, verdict, policy)
    answer = _answer(state, event, policy, verdict, decision_id(record, Point.AFTER_MODEL, event.chunk))
    record, rejected = _tell_rejected(record, verdict)
    kept = ChunkAnswer(event.chunk, content, answer._replace(calls=()), len(event.calls))
    state.put(record.keep(kept))
    _note_final(state, event, record, answer.decision)
    remember(state, event, answer.decision)
    return Step(state, answer, (*facts, *rejected))


def _count(state: State, event: AfterModel, number: int, policy: Policy) -> tuple[ModelCall, list[f.Fact], bool]:
    """Count what the event tells; return its record, what was spent, and whether it brought new calls."""
    record = open_attempt(state, event, number)
    state.raise_turns(event.turns_since_prompt, event.model_call, own=1 if record.turn else 0)
    record = _lost_answer(state, event, policy, record)
    counted = record.function_calls
    record = state.count_calls(record, event.calls, policy.limited_tools)
    spent: list[f.Fact] = []
    if event.usage is not None:
        spent = _spent(record.usage, event.usage)
        record = state.spend(record, event.usage)
    record = record._replace(told=True, text=record.text or event.has_text)
    return record, spent, record.function_calls > counted


def _lost_answer(state: State, event: AfterModel, policy: Policy, record: ModelCall) -> ModelCall:
    """Judge anew what was answered before a model call that went out with NONE, when that answer is lost."""
    unanswered = record.before is None and record.forced is None and not record.told
    if event.mode_sent != Mode.NONE or not unanswered or policy.enforcement is not Enforcement.ENFORCE:
        return record
    found = limits.at_request(state, policy, record)
    return record._replace(forced=worst(found) if found else None)


def _hold(state: State, record: ModelCall, verdict: Finding, policy: Policy) -> ModelCall:
    """Let a verdict hold for the rest of the response, and what follows from it for the next model call."""
    if verdict.verdict is Verdict.ALLOW:
        return record
    if verdict.verdict is Verdict.FORCE_NONE:
        state.pending, state.pending_from = verdict, record.number
    if policy.enforcement is Enforcement.ENFORCE:
        state.block(record.number)
    return record._replace(held=verdict)


def _spent(old: Usage, new: Usage) -> list[f.Fact]:
    """Tell what the newest usage adds; a provider that corrects itself downwards adds nothing."""
    added_in, added_out = new.input_tokens - old.input_tokens, new.output_tokens - old.output_tokens
    split = new.input_tokens + new.output_tokens
    unsplit = 0 if split else new.total_tokens - old.total_tokens
    told = f.TokensSpent(max(0, added_in), max(0, added_out), max(0, unsplit))
    return [told] if any(told) else []


def _content(event: AfterModel) -> bytes:
    """Digest what makes two events of one key the same: the calls and the finish reason."""
    told = repr((event.calls, int(event.finish_reason))).encode("utf-8", "surrogatepass")
    return blake2b(told, digest_size=8).digest()


def _repeat(state: State, event: AfterModel, kept: ChunkAnswer, content: bytes) -> Step:
    if kept.content == content:
        answer = kept.answer._replace(calls=_calls(event, kept.answer.decision))
        return Step(state, answer, fresh=False)
    message = (
        f"chunk: {event.chunk} of this model call and attempt was told before with other calls or another finish"
        " reason; a repeat must be equal, a retry has a higher attempt"
    )
    return Step(state, Refusal("chunk", message), fresh=False)


def _answer(state: State, event: AfterModel, policy: Policy, verdict: Finding, name: str) -> AfterAnswer:
    told = decision(state, policy, verdict, name)
    return AfterAnswer(told, _calls(event, told))


def _calls(event: AfterModel, told: Decision) -> tuple[CallVerdict, ...]:
    """Return the verdict on each call: that of the response."""
    run = told.verdict is Verdict.ALLOW
    text = "" if run else f"{_NOT_RUN} {told.model_hint}".rstrip()
    return tuple(CallVerdict(call.id, call.name, run, told.reason, text) for call in event.calls)


def _facts(moment: After, findings: Findings, verdict: Finding) -> list[f.Fact]:
    facts = reported(findings, verdict)
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


def _note_final(state: State, event: AfterModel, record: ModelCall, told: Decision) -> None:
    """Note how the newest MAIN response looks; it is the outcome if the loop ends here."""
    if record.side or record.number != state.latest:
        return
    if told.verdict is Verdict.REJECT:
        state.final = "rejected"
    elif event.last or event.chunk == 0:
        forced = record.forced is not None and not record.turn
        state.final = ("forced_completion" if record.text else "final_empty") if forced else ""


def _superseded(state: State, event: AfterModel, number: int, policy: Policy) -> Step:
    record = ModelCall(number, event.attempt)
    verdict = worst((SUPERSEDED, *finish.judge(event, policy)))
    answer = _answer(state, event, policy, verdict, decision_id(record, Point.AFTER_MODEL, event.chunk))
    return Step(state, answer, (f.CallsRejected(max(1, len(event.calls)), verdict.reason),))
