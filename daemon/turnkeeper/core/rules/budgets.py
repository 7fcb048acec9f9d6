"""Budgets: tokens, cost and elapsed time of a request id.

Each is spent before it is known, so a budget is judged before a model call (used >= budget: nothing is left) and
after a response with a call (used > budget). A final answer is never rejected for what it cost. ``grace_calls``
forced model calls are left to give that answer; then REJECT.
"""

from turnkeeper.core.model import Reason, Verdict
from turnkeeper.core.policy import NS, Policy
from turnkeeper.core.rules.moment import After, Before, Findings
from turnkeeper.core.state import Finding, State

_HINT = "The budget for this request is used up and tools are off. Give your final answer now, with what you have."


def before(moment: Before) -> Findings:
    """Act when nothing is left. SIDE calls spend too, so they are judged too."""
    budgets = moment.policy.budgets
    if budgets is None:
        return ()
    verdict = budgets.then
    graced = moment.state.grace_used - (1 if moment.record.graced else 0)
    if verdict is Verdict.FORCE_NONE and graced >= budgets.grace_calls:
        verdict = Verdict.REJECT
    return [
        Finding(verdict, reason, f"{_told(used, unit)} used, the budget is {_told(most, unit)}", _HINT, budgets.disposition)
        for reason, unit, used, most in _spent(moment.state, moment.policy)
        if used >= most
    ]


def after(moment: After) -> Findings:
    """Act when more was used than there was, on a response with a call."""
    budgets = moment.policy.budgets
    if budgets is None or not moment.event.calls:
        return ()
    return [
        Finding(budgets.then, reason, f"{_told(used, unit)} used, the budget is {_told(most, unit)}", _HINT, budgets.disposition)
        for reason, unit, used, most in _spent(moment.state, moment.policy)
        if used > most
    ]


def _spent(state: State, policy: Policy) -> list[tuple[Reason, str, int, int]]:
    """Return (reason, unit, used, budget) of each budget there is."""
    budgets = policy.budgets
    assert budgets is not None
    elapsed = state.seen_ns - state.started_ns
    rows = (
        (Reason.COST_BUDGET, "usd", state.cost_micro_usd, budgets.cost_micro_usd),
        (Reason.TOKEN_BUDGET, "tokens", state.tokens, budgets.tokens),
        (Reason.TIME_BUDGET, "s", elapsed, budgets.elapsed_ns),
    )
    return [(reason, unit, used, most) for reason, unit, used, most in rows if most is not None]


def _told(value: int, unit: str) -> str:
    if unit == "usd":
        return f"{value / 1_000_000:.6f} US dollars"
    return f"{value / NS:.1f} s" if unit == "s" else f"{value} tokens"
