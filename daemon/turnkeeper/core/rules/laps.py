"""Repetition and cycles: the same turns, again and again, with the same results.

A turn's symbol is the set of pairs (call fingerprint, result digest): order and duplicates within one response are no
loop, and a poll whose result changes is progress. A result that was not told equals another that was not told. A
*lap* is one pass through a pattern of ``period`` turns; repetition is period 1. The turn that was just asked for has
no results yet and is compared by its calls alone, and so is one whose calls we did not let run: what a blocked call
was answered is our own text, not progress.

A pattern that was warned of, left and came back is acted on as soon as it would be warned of again.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from turnkeeper.core import bounds
from turnkeeper.core.model import Reason, Verdict
from turnkeeper.core.policy import Detector, Policy
from turnkeeper.core.rules.moment import After, Before, Findings
from turnkeeper.core.state import Finding, Lap, State, Turn


def before(moment: Before) -> Findings:
    """Judge finished laps, and warn."""
    if moment.record.side or not _judges(moment.policy):
        return ()
    return _found(moment.state, moment.policy, moment.state.history, pending=False)


def after(moment: After) -> Findings:
    """Judge finished laps and the pending one, once the whole response is known."""
    if not moment.event.last or not moment.record.turn or not _judges(moment.policy):
        return ()
    history = moment.state.history
    if not history or history[-1].number != moment.record.number:
        return ()  # a late response: what it repeats is not the newest
    return _found(moment.state, moment.policy, history, pending=True)


def _judges(policy: Policy) -> bool:
    return policy.repetition is not None or policy.cycle is not None


def _found(state: State, policy: Policy, turns: Sequence[Turn], *, pending: bool) -> Findings:
    if len(turns) < 2 or turns[-1].calls == ():  # noqa: PLR2004 - one turn repeats nothing
        return ()
    findings = []
    longest = policy.cycle.max_period if policy.cycle is not None else 1
    matches: dict[int, int] = {}
    newest = turns[-1].prints
    for period in range(1, min(longest, len(turns) - 1) + 1):
        detector = policy.repetition if period == 1 else policy.cycle
        compared = detector or policy.cycle  # one turn over and over is no cycle, whether repetition is judged or not
        if compared is None or turns[-1 - period].prints != newest:
            continue
        matches[period] = _matches(turns, period, compared, pending=pending)
        if detector is None or matches[period] < period or _is_shorter(matches, period):
            continue
        finding = _judge(state, policy, detector, turns, period, matches[period], pending=pending)
        if finding is not None:
            findings.append(finding)
    return findings


def _is_shorter(matches: Mapping[int, int], period: int) -> bool:
    """Whether a lap is itself made of laps of a shorter pattern."""
    return any(period % shorter == 0 and matches.get(shorter, 0) >= period - shorter for shorter in range(1, period))


def _matches(turns: Sequence[Turn], period: int, detector: Detector, *, pending: bool) -> int:
    """Count the newest turns that equal the one a period before."""
    count = 0
    for index in range(len(turns) - 1, period - 1, -1):
        newer, older = turns[index], turns[index - period]
        if newer.prints != older.prints:
            break
        by_calls = not detector.same_result or (pending and index == len(turns) - 1) or newer.blocked or older.blocked
        if not by_calls and newer.symbol != older.symbol:
            break
        count += 1
    return count


def _judge(
    state: State, policy: Policy, detector: Detector, turns: Sequence[Turn], period: int, matches: int, *, pending: bool
) -> Finding | None:
    laps = matches // period + 1
    least = detector.at if detector.warn is None else min(detector.warn, detector.at)
    if laps < least:
        return None
    block = turns[-period:]
    exempt = policy.may_repeat if period == 1 else policy.may_cycle
    if exempt and any(call.name in exempt for turn in block for call in turn.calls):
        return None
    key = _key(block)
    known = state.lap(key)
    run = len(turns) - matches - period
    whole = run == 0 and len(turns) == bounds.TURNS_KEPT  # its beginning is forgotten
    start = known.start if known is not None and whole else turns[run].number
    lap = Lap(key, start, period, laps)
    returned = known is not None and known.start != start and detector.warn is not None
    if laps >= (least if returned else detector.at):
        return _finding(detector.then, detector, lap)
    if pending or detector.warn is None or laps < detector.warn:
        return None
    if known is not None and known.start == start and laps < 2 * known.laps:
        return None  # told already; next at twice as many
    return _finding(Verdict.ALLOW, detector, lap)


def _key(block: Sequence[Turn]) -> bytes:
    """Name a pattern, wherever in it one begins; one call over and over by its fingerprint."""
    if len(block) == 1 and len(block[0].prints) == 1:
        return next(iter(block[0].prints))
    turns = sorted(b"".join(sorted(turn.prints)) for turn in block)
    return sha256(b"|".join(turns)).digest()[:8]


def _finding(verdict: Verdict, detector: Detector, lap: Lap) -> Finding:
    results = " with equal results" if detector.same_result else ""
    if lap.period == 1:
        reason = Reason.REPETITION
        message = f"the same function calls {lap.laps} times in a row{results}"
        hint = (
            f"You have asked for the same function calls with the same arguments {lap.laps} times in a row"
            f"{' and got the same results' if detector.same_result else ''}. Asking again will not help."
        )
    else:
        reason = Reason.CYCLE
        message = f"a cycle of {lap.period} turns, {lap.laps} times in a row{results}"
        hint = f"You are going round in a cycle of {lap.period} steps, {lap.laps} times so far, with no change."
    hint += " Use what you have, try something different, or give your answer."
    return Finding(verdict, reason, message, hint, detector.disposition, lap=lap)
