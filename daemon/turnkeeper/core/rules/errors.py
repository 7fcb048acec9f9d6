"""Error streaks: turns in a row whose calls fail.

A turn fails when all (or any) of its results are errors; a result that was not told is no error. With ``same_error``
only equal errors go on: an agent that makes new mistakes is trying. A turn that was not run says nothing.
"""

from turnkeeper.core.model import Reason, Verdict
from turnkeeper.core.rules.moment import Before, Findings
from turnkeeper.core.state import Finding, Lap, Turn

_KEY = b"errors"


def before(moment: Before) -> Findings:
    """Judge finished turns."""
    streak = moment.policy.error_streak
    if streak is None or moment.record.side:
        return ()
    count, start = 0, 0
    newer: frozenset[bytes] = frozenset()
    for turn in reversed(moment.state.history):
        if turn.blocked:
            continue
        if not _fails(turn, all_of=streak.all_results, exempt=moment.policy.may_fail):
            break
        errors = _errors(turn)
        if streak.same_error and count and errors != newer:
            break
        count, start, newer = count + 1, turn.number, errors
    if count >= streak.at:
        return (_finding(streak.then, count, start, moment),)
    if streak.warn is None or count < streak.warn:
        return ()
    known = moment.state.lap(_KEY)
    if known is not None and known.start == start and count < 2 * known.laps:
        return ()
    return (_finding(Verdict.ALLOW, count, start, moment),)


def _fails(turn: Turn, *, all_of: bool, exempt: frozenset[str]) -> bool:
    if not turn.results or any(call.name in exempt for call in turn.calls):
        return False
    if all_of:
        return len(turn.results) >= len({call.id for call in turn.calls}) and all(one.is_error for one in turn.results)
    return any(one.is_error for one in turn.results)


def _errors(turn: Turn) -> frozenset[bytes]:
    return frozenset(one.digest for one in turn.results if one.is_error)


def _finding(verdict: Verdict, count: int, start: int, moment: Before) -> Finding:
    streak = moment.policy.error_streak
    assert streak is not None
    same = "the same error" if streak.same_error else "errors"
    message = f"{count} turns in a row ended in {same}"
    hint = (
        f"The last {count} attempts ended in {same}. Do not retry the same way: change the approach, "
        "or answer and say what went wrong."
    )
    return Finding(verdict, Reason.ERROR_STREAK, message, hint, streak.disposition, lap=Lap(_KEY, start, 1, count))
