"""Limits: at most n turns, model calls or function calls.

*Used* before a model call is what was made before it; *used* after a response includes it. So with n = 10 turns
the eleventh model call is acted on before it is made (10 >= 10), and the tenth turn is not acted on after it
(10 > 10 is false): ten turns run. ``offset`` moves either point.
"""

from turnkeeper.core.model import Counters, Reason, Unit, Verdict
from turnkeeper.core.policy import Act, Limit, Policy
from turnkeeper.core.rules.moment import After, Before, Findings
from turnkeeper.core.state import Finding, ModelCall, State

_REASON = {
    Unit.TURNS: Reason.TURN_LIMIT,
    Unit.MODEL_CALLS: Reason.MODEL_CALL_LIMIT,
    Unit.FUNCTION_CALLS: Reason.FUNCTION_CALL_LIMIT,
}
_WORD = {Unit.TURNS: "tool-calling turns", Unit.MODEL_CALLS: "model calls", Unit.FUNCTION_CALLS: "function calls"}
_NO_CALLS = Act(Verdict.REJECT)


def before(moment: Before) -> Findings:
    """Act when the limit was used up before this model call. A SIDE call is beside the loop."""
    if moment.record.side:
        return ()
    return at_request(moment.state, moment.policy, moment.record)


def at_request(state: State, policy: Policy, record: ModelCall) -> list[Finding]:
    """Judge a model call by what was made before it."""
    findings = []
    for limit in policy.active_limits:
        act = limit.before
        if act is None or limit.n is None or (limit.n == 0 and limit.zero_no_calls):
            continue
        used = record.ordinal - 1 if limit.unit is Unit.MODEL_CALLS else total(state, limit)
        if used >= limit.n + act.offset:
            findings.append(_finding(limit, act, used))
    return findings


def after(moment: After) -> Findings:
    """Act when the limit is exceeded with this response."""
    if not moment.fresh:
        return ()
    findings = []
    for limit in moment.policy.active_limits:
        act = _NO_CALLS if limit.n == 0 and limit.zero_no_calls else limit.after
        if act is None or limit.n is None:
            continue
        if limit.tool and all(call.name != limit.tool for call in moment.event.calls):
            continue  # what does not call the tool does not exceed its limit
        used = _with_response(moment.state, moment.record, limit)
        if used > limit.n + act.offset:
            findings.append(_finding(limit, act, used))
    return findings


def nearest(state: State, policy: Policy) -> tuple[Limit, int] | None:
    """Return the limit with the least left, and what is used of it."""
    best = None
    for limit in policy.active_limits:
        used = total(state, limit)
        if limit.n is not None and (best is None or limit.n - used < best[2]):
            best = (limit, used, limit.n - used)
    return best[:2] if best else None


def counters(state: State, policy: Policy) -> Counters:
    """Return the counts as they are told."""
    elapsed = state.seen_ns - state.started_ns
    told = (state.turns, state.model_calls, state.function_calls, state.tokens, state.cost_micro_usd, elapsed)
    found = nearest(state, policy)
    if found is None:
        return Counters(*told)
    limit, used = found
    n = limit.n or 0
    return Counters(*told, n, max(0, n - used), limit_off=False, unit=limit.unit)


def total(state: State, limit: Limit) -> int:
    """Return what is used of a limit so far."""
    if limit.unit is Unit.TURNS:
        return state.turns
    if limit.unit is Unit.MODEL_CALLS:
        return state.model_calls
    return state.tools.get(limit.tool, 0) if limit.tool else state.function_calls


def _with_response(state: State, record: ModelCall, limit: Limit) -> int:
    """Count up to this response: with calls in flight side by side, later ones are not held against it."""
    if limit.unit is Unit.TURNS:
        return record.turn
    if limit.unit is Unit.MODEL_CALLS:
        return record.ordinal or state.model_calls
    return total(state, limit)


def _finding(limit: Limit, act: Act, used: int) -> Finding:
    of_tool = " of one tool" if limit.tool else ""
    message = f"{used} {_WORD[limit.unit]}{of_tool} made, the limit is {limit.n}"
    if limit.tool:
        hint = f"The limit of {limit.n} calls of this function is reached. Do not call it again; use what you have."
    else:
        hint = f"The limit of {limit.n} {_WORD[limit.unit]} is reached and tools are off. Answer with what you have."
    return Finding(act.then, _REASON[limit.unit], message, hint, limit.disposition, act.remove_tools)
