"""Budgets: tokens, cost and elapsed time of a request id.

Each is spent before it is known, so a budget is judged before a model call (used >= budget: nothing is left) and
after a response with a call (used > budget). A final answer is never rejected for what it cost. ``grace_calls``
forced model calls are left to give that answer; then REJECT.
"""

from typing import NamedTuple

from turnkeeper.core.model import Disposition, Reason, Verdict
from turnkeeper.core.policy import NS, Budgets
from turnkeeper.core.rules.moment import After, Before, Findings
from turnkeeper.core.state import Finding, State

_HINT = "The budget for this request is used up and tools are off. Give your final answer now, with what you have."


class _Spent(NamedTuple):
    reason: Reason
    unit: str
    used: int
    most: int


def before(moment: Before) -> Findings:
    """Act when nothing is left. SIDE calls spend too, so they are judged too."""
    budgets = moment.policy.budgets
    if budgets is None:
        return ()
    verdict = budgets.then
    used = moment.state.grace_used - (1 if moment.record.graced else 0)
    if verdict is Verdict.FORCE_NONE and used >= budgets.grace_calls:
        verdict = Verdict.REJECT
    rows = _spent(moment.state, budgets)
    return [_finding(verdict, row, budgets.disposition) for row in rows if row.used >= row.most]


def after(moment: After) -> Findings:
    """Act when more was used than there was, on a response with a call."""
    budgets = moment.policy.budgets
    if budgets is None or not moment.event.calls:
        return ()
    rows = _spent(moment.state, budgets)
    return [_finding(budgets.then, row, budgets.disposition) for row in rows if row.used > row.most]


def _spent(state: State, budgets: Budgets) -> list[_Spent]:
    """Return what is used of each budget there is."""
    rows = (
        (Reason.COST_BUDGET, "usd", state.cost_micro_usd, budgets.cost_micro_usd),
        (Reason.TOKEN_BUDGET, "tokens", state.tokens, budgets.tokens),
        (Reason.TIME_BUDGET, "s", state.seen_ns - state.started_ns, budgets.elapsed_ns),
    )
    return [_Spent(reason, unit, used, most) for reason, unit, used, most in rows if most is not None]


def _finding(verdict: Verdict, row: _Spent, disposition: Disposition) -> Finding:
    message = f"{_told(row.used, row.unit)} used, the budget is {_told(row.most, row.unit)}"
    return Finding(verdict, row.reason, message, _HINT, disposition)


def _told(value: int, unit: str) -> str:
    if unit == "usd":
        return f"{value / 1_000_000:.6f} US dollars"
    return f"{value / NS:.1f} s" if unit == "s" else f"{value} tokens"
