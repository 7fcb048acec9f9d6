"""Attempts: which record an event belongs to, and what a missing event is made up from.

Law: a higher attempt replaces the one before it, whose calls never ran; a turn is counted once, by whatever event
tells of it first.
"""

from turnkeeper.core.events import AfterModel, BeforeModel, Call, Result
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import ModelCall, State


def touched(old: State, now_ns: int) -> State:
    """Copy; a time before the last seen one is taken as the last seen."""
    state = old.copy()
    state.seen_ns = max(old.seen_ns, now_ns)
    return state


def open_attempt(state: State, event: BeforeModel | AfterModel, number: int) -> ModelCall:
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


def count_results(state: State, results: tuple[Result, ...], record: ModelCall, policy: Policy) -> int:
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
    unknown = f"untold {target.number}".encode()  # its arguments were not told: equal to no other call
    calls = tuple(Call(result.call_id, result.name, unknown) for result in unmatched)
    state.put(state.count_calls(target, calls, policy.limited_tools)._replace(told=True))
    state.take_results(unmatched)
    return 0
