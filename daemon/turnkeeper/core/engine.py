"""The only way in: ``step(state, event, policy, now_ns)``.

Law: count first, then judge, then answer. What is counted does not depend on the verdict, so ENFORCE and OBSERVE
count alike; what is judged does not depend on enforcement, so OBSERVE changes the answer only. ``step`` returns
for every valid event and leaves the state it was given untouched.

An event told before is answered from the stored answer. An event of a replaced attempt or of an ended request is
*superseded*: it changes nothing, and nothing of it may be used.
"""

from turnkeeper.core import after, before
from turnkeeper.core import facts as f
from turnkeeper.core.attempts import touched
from turnkeeper.core.events import AfterModel, BeforeModel, EndRequest, Event
from turnkeeper.core.judging import Step
from turnkeeper.core.model import EndAnswer, Outcome
from turnkeeper.core.policy import Policy
from turnkeeper.core.rules import limits
from turnkeeper.core.state import State

__all__ = ["Step", "ended", "expire", "starts_over", "step"]


def starts_over(state: State | None, event: Event) -> bool:
    """Whether this event begins a request id at zero, and so chooses its policy anew."""
    if state is None:
        return True
    if state.ended is None or not isinstance(event, BeforeModel):
        return False
    return event.model_call <= 1 or not state.first  # nothing is kept of an id of which only the end was told


def step(state: State | None, event: Event, policy: Policy, now_ns: int) -> Step:
    """Take one event: the state after it, the answer, and what to tell."""
    if isinstance(event, BeforeModel):
        if state is None or starts_over(state, event):
            return before.begin(event, policy, now_ns, reused=state is not None)
        return before.go_on(state, event, policy, now_ns)
    if isinstance(event, AfterModel):
        return after.begin(event, policy, now_ns) if state is None else after.go_on(state, event, policy, now_ns)
    return _end(state, event, policy, now_ns)


def _end(old: State | None, event: EndRequest, policy: Policy, now_ns: int) -> Step:
    if old is None:
        tombstone = State.begin(policy.name, now_ns)
        tombstone.ended = event.outcome
        return Step(tombstone, EndAnswer(limits.counters(tombstone, policy)), fresh=False)
    if old.ended is not None:
        return Step(old, EndAnswer(limits.counters(old, policy)), fresh=False)
    state = touched(old, now_ns)
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
