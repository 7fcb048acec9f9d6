"""The core's dumb twin: it keeps every event and counts all of them again for each question.

Nothing is shared with the core but the words: events, answers and policies. There is no state beside the list of
what was told, no bound, and no attention to speed. Where both agree on random input, a mistake would have to have
been made twice, in two different ways.

Texts for people are left out: an answer here has the facts of a decision, see ``facts_of``.
"""

from typing import Any, NamedTuple

from turnkeeper.core.events import AfterModel, BeforeModel, Call, EndRequest, Event
from turnkeeper.core.model import (
    PRECEDENCE,
    AfterAnswer,
    Answer,
    BeforeAnswer,
    Disposition,
    EndAnswer,
    Enforcement,
    FinishReason,
    Mode,
    Reason,
    Refusal,
    Unit,
    Verdict,
)
from turnkeeper.core.policy import Act, Limit, Policy

KEPT = 4  # model calls whose answers are kept
LAST = 2**32 - 1  # the highest number of the contract
REASON_OF = {
    Unit.TURNS: Reason.TURN_LIMIT,
    Unit.MODEL_CALLS: Reason.MODEL_CALL_LIMIT,
    Unit.FUNCTION_CALLS: Reason.FUNCTION_CALL_LIMIT,
}


class Found(NamedTuple):
    """One rule that speaks, or what came of all that did."""

    verdict: Verdict
    reason: Reason
    disposition: Disposition = Disposition.RAISE
    drop: bool = False


class Entry(NamedTuple):
    """One event that counted, or the response that results told of (``event`` None)."""

    number: int
    attempt: int
    event: BeforeModel | AfterModel | None
    calls: tuple[Call, ...] = ()
    found: Found = Found(Verdict.ALLOW, Reason.WITHIN_POLICY)
    forced: Found | None = None
    answer: tuple[Any, ...] = ()


NOTHING = Found(Verdict.ALLOW, Reason.WITHIN_POLICY)
SUPERSEDED = Found(Verdict.REJECT, Reason.SUPERSEDED)


def worst(found: list[Found]) -> Found:
    """Return the most severe; among equals the first in precedence, then RAISE, then what drops declarations."""
    best = NOTHING
    for one in found:
        if one.verdict != best.verdict:
            better = one.verdict > best.verdict
        elif one.reason is not best.reason:
            better = PRECEDENCE.index(one.reason) < PRECEDENCE.index(best.reason)
        elif one.disposition is not best.disposition:
            better = one.disposition is Disposition.RAISE
        else:
            better = one.drop and not best.drop
        if better:
            best = one
    return best


class Oracle:
    """One request id under one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.log: list[Entry] = []
        self.known = False
        self.ended = False
        self.started = 0
        self.seen = 0

    def tell(self, event: Event, now: int) -> tuple[Any, ...]:
        """Take one event and return what is to be answered, see ``facts_of``."""
        if isinstance(event, EndRequest):
            return self._end(now)
        starts_over = self.ended and (event.model_call in (0, 1) or not self.log)
        if not self.known or (isinstance(event, BeforeModel) and starts_over):
            self.log, self.known, self.ended, self.started, self.seen = [], True, False, now, now
        return self._before(event, now) if isinstance(event, BeforeModel) else self._after(event, now)

    def _end(self, now: int) -> tuple[Any, ...]:
        if not self.known:
            self.known, self.started, self.seen = True, now, now
        elif not self.ended:
            self.seen = max(self.seen, now)
        self.ended = True
        return ("end", self._counters())

    # --- before a model call ----------------------------------------------------------------------------------

    def _before(self, event: BeforeModel, now: int) -> tuple[Any, ...]:
        number = event.model_call
        if number:
            if self._too_old(number, event.attempt):
                return self._say_before(event, SUPERSEDED, number, event.attempt)
            for entry in self._live(number):
                if isinstance(entry.event, BeforeModel) and entry.attempt == event.attempt:
                    return entry.answer
        else:
            seen = event.transcript.turns_since_prompt if event.transcript and not self.log else 0
            number = min(max([seen, *(entry.number for entry in self.log)]) + 1, LAST)
        self.seen, self.ended = max(self.seen, now), False
        entry = Entry(number, event.attempt, event)
        carried = self._carried(entry)
        self.log = [*self.log, *self._implied(entry), entry]
        found = [] if self._is_side(number) else self._limits_before(number)
        found += self._asked(number)
        if carried:
            found.append(carried)
        if self.policy.deny:
            found.append(Found(Verdict.REJECT, Reason.POLICY_REJECT))
        verdict = worst(found)
        forced = verdict if self._enforces() and verdict.verdict > Verdict.ALLOW else None
        answer = self._say_before(event, verdict, number, event.attempt)
        self.log[-1] = entry._replace(found=verdict, forced=forced, answer=answer)
        return answer

    def _implied(self, entry: Entry) -> list[Entry]:
        """Return the response that results tell of, if it was never told."""
        assert isinstance(entry.event, BeforeModel)
        log = [*self.log, entry]
        ids = {call.id for calls in _responses(log).values() for call in calls if call.id}
        strange = tuple(result for result in entry.event.results if result.call_id not in ids)
        if not strange:
            return []
        kept = [number for number in self._kept(self.log) if number < entry.number]
        main = [number for number in kept if not self._is_side(number)]
        calls = tuple(Call(result.call_id, result.name) for result in strange)
        if main and not self._is_told(main[-1]):
            return [Entry(main[-1], self._attempt(main[-1]), None, calls, forced=self._forced(main[-1]))]
        if entry.number > 1 and entry.number - 1 not in kept and not self._too_old(entry.number - 1, 0):
            return [Entry(entry.number - 1, 0, None, calls)]
        return []

    def _asked(self, number: int) -> list[Found]:
        asked = self._question(number)
        found = []
        if asked and asked.mode == Mode.NONE:
            found.append(Found(Verdict.ALLOW, Reason.DISALLOWED))
        if asked and asked.enabled_tools == ():
            found.append(Found(Verdict.ALLOW, Reason.NO_TOOLS_ENABLED))
        return found

    def _say_before(self, event: BeforeModel, verdict: Found, number: int, attempt: int) -> tuple[Any, ...]:
        said = self._decision(verdict, f"{number}.{attempt}.before_model.0")
        if not self._enforces():
            return ("before", said, event.mode, False, (), number)
        if verdict is SUPERSEDED:
            return ("before", said, int(Mode.NONE), False, (), number)
        none_enabled = event.enabled_tools == ()
        if event.transcript is None:
            has_calls = _turns(self.log)[0] > 0
        else:
            has_calls = event.transcript.has_function_calls or event.transcript.turns_since_prompt > 0
        declare: tuple[str, ...] = ()
        if has_calls and (none_enabled or (event.enabled_tools is None and event.mode == Mode.NONE)):
            declare = event.transcript.instruction_tools if event.transcript else ()
            for entry in self.log:
                if (
                    isinstance(entry.event, BeforeModel)
                    and entry.event.enabled_tools
                    and not (event.transcript and event.transcript.instruction_tools)
                ):
                    declare = entry.event.enabled_tools
        none_enabled = none_enabled and self.policy.guards.no_tools
        mode: int = event.mode
        if verdict.verdict > Verdict.ALLOW or event.mode == Mode.NONE or (none_enabled and has_calls):
            mode = int(Mode.NONE)
        elif none_enabled:
            mode = int(Mode.UNSPECIFIED)
        drop = (none_enabled and not has_calls) or verdict.drop
        return ("before", said, mode, drop, declare, number)

    # --- after a response -------------------------------------------------------------------------------------

    def _after(self, event: AfterModel, now: int) -> tuple[Any, ...]:
        first = min(event.turns_since_prompt + 1, LAST)
        number = event.model_call or max((entry.number for entry in self.log), default=1 if self.ended else first)
        if self.ended or self._too_old(number, event.attempt):
            return self._say_after(event, worst([SUPERSEDED, *self._finish_judged(event)]), number)
        for entry in self._live(number):
            if (
                isinstance(entry.event, AfterModel)
                and entry.attempt == event.attempt
                and entry.event.chunk == event.chunk
            ):
                same = (entry.event.calls, entry.event.finish_reason) == (event.calls, event.finish_reason)
                return entry.answer if same else ("refused", "chunk")
        self.seen = max(self.seen, now)
        forced = self._forced_of_response(event, number)
        had = len(_responses([*self.log, Entry(number, event.attempt, event)]).get(number, ()))
        self.log = [*self.log, Entry(number, event.attempt, event, event.calls, forced=forced)]
        fresh = len(_responses(self.log)[number]) > had
        found = self._calls_judged(event, number, forced)
        if fresh:
            found += self._limits_after(number, {call.name for call in event.calls})
        found += self._finish_judged(event)
        earlier = [entry for entry in self._live(number)[:-1] if isinstance(entry.event, AfterModel)]
        found += [entry.found for entry in earlier if entry.found.verdict > Verdict.ALLOW]
        verdict = worst(found)
        answer = self._say_after(event, verdict, number)
        self.log[-1] = self.log[-1]._replace(found=verdict, answer=answer)
        return answer

    def _finish_judged(self, event: AfterModel) -> list[Found]:
        if event.finish_reason not in (FinishReason.MALFORMED_FUNCTION_CALL, FinishReason.UNEXPECTED_TOOL_CALL):
            return []
        malformed = event.finish_reason is FinishReason.MALFORMED_FUNCTION_CALL
        reason = Reason.MALFORMED_CALL if malformed else Reason.UNEXPECTED_TOOL_CALL
        return [self._guarded(reason, rejects=self.policy.guards.bad_finish)]

    def _forced_of_response(self, event: AfterModel, number: int) -> Found | None:
        """Return why this response had to be without calls, looked up or, when forgotten, found again."""
        forced = self._forced(number)
        answered = any(isinstance(entry.event, BeforeModel) for entry in self._live(number))
        retried = event.attempt > self._attempt(number)
        if forced or (answered and not retried) or (self._is_told(number) and not retried):
            return forced
        if not self._enforces() or event.mode_sent != Mode.NONE:
            return None
        kept = self.log
        self.log = [*kept, Entry(number, event.attempt, event)]
        found = self._limits_before(number)
        self.log = kept
        return worst(found) if found else None

    def _calls_judged(self, event: AfterModel, number: int, forced: Found | None) -> list[Found]:
        if not event.calls:
            return []
        found, guards, asked = [], self.policy.guards, self._question(number)
        if forced:
            found.append(Found(Verdict.REJECT, forced.reason, forced.disposition))
        if self.policy.deny:
            found.append(Found(Verdict.REJECT, Reason.POLICY_REJECT))
        answered_none = any(entry.answer[2] == Mode.NONE for entry in self.log if asked and entry.event is asked)
        unasked = event.mode_sent == Mode.NONE and not answered_none and not forced
        if (asked and asked.mode == Mode.NONE) or unasked:
            found.append(self._guarded(Reason.DISALLOWED, rejects=guards.disallowed))
        if asked and asked.enabled_tools == ():
            found.append(self._guarded(Reason.NO_TOOLS_ENABLED, rejects=guards.no_tools))
        for call in event.calls:
            enabled = set(asked.enabled_tools) if asked and asked.enabled_tools else None
            if enabled is not None and asked and asked.mode in (Mode.ANY, Mode.VALIDATED) and asked.allowed_names:
                enabled &= set(asked.allowed_names)
            if not call.name.strip() or (enabled is not None and call.name not in enabled):
                found.append(self._guarded(Reason.TOOL_NOT_ENABLED, rejects=guards.not_enabled))
        return found

    def _guarded(self, reason: Reason, *, rejects: bool) -> Found:
        return Found(Verdict.REJECT if rejects else Verdict.ALLOW, reason)

    def _say_after(self, event: AfterModel, verdict: Found, number: int) -> tuple[Any, ...]:
        said = self._decision(verdict, f"{number}.{event.attempt}.after_model.{event.chunk}")
        run = verdict.verdict is Verdict.ALLOW or not self._enforces()
        return ("after", said, tuple((call.id, call.name, run, verdict.reason, not run) for call in event.calls))

    # --- limits -----------------------------------------------------------------------------------------------

    def _limits_before(self, number: int) -> list[Found]:
        found = []
        for limit in self.policy.limits:
            if limit.n is None or limit.before is None or (limit.n == 0 and limit.zero_no_calls):
                continue
            made = _ordinals(self.log)[number] - 1 if limit.unit is Unit.MODEL_CALLS else self._used(limit)
            if made >= limit.n + limit.before.offset:
                found.append(_acted(limit, limit.before))
        return found

    def _limits_after(self, number: int, called: set[str]) -> list[Found]:
        found = []
        for limit in self.policy.limits:
            act = Act(Verdict.REJECT) if limit.n == 0 and limit.zero_no_calls else limit.after
            if limit.n is None or act is None or (limit.tool and limit.tool not in called):
                continue
            made = self._used(limit)
            if limit.unit is Unit.TURNS:
                made = _turns(self.log)[1][number]
            elif limit.unit is Unit.MODEL_CALLS:
                made = _ordinals(self.log)[number] or made
            if made > limit.n + act.offset:
                found.append(_acted(limit, act))
        return found

    def _used(self, limit: Limit) -> int:
        if limit.unit is Unit.TURNS:
            return _turns(self.log)[0]
        if limit.unit is Unit.MODEL_CALLS:
            return _model_calls(self.log)
        calls = [call for made in _responses(self.log).values() for call in made]
        return len([call for call in calls if limit.tool in ("", call.name)])

    def _counters(self) -> tuple[Any, ...]:
        calls = sum(len(made) for made in _responses(self.log).values())
        usage: dict[tuple[int, int], Any] = {}
        for entry in self.log:
            if isinstance(entry.event, AfterModel) and entry.event.usage is not None:
                usage[entry.number, entry.attempt] = entry.event.usage
        tokens = sum(use.total_tokens or use.input_tokens + use.output_tokens for use in usage.values())
        cost = sum(use.cost_micro_usd for use in usage.values())
        told = (_turns(self.log)[0], _model_calls(self.log), calls, tokens, cost, self.seen - self.started)
        left = [(limit.n - self._used(limit), limit) for limit in self.policy.limits if limit.n is not None]
        if not left:
            return (*told, 0, 0, True, Unit.UNSPECIFIED)
        least, limit = min(left, key=lambda pair: pair[0])
        return (*told, limit.n, max(0, least), False, limit.unit)

    # --- looking things up ------------------------------------------------------------------------------------

    def _enforces(self) -> bool:
        return self.policy.enforcement is Enforcement.ENFORCE

    def _decision(self, verdict: Found, decision_id: str) -> tuple[Any, ...]:
        disposition = verdict.disposition if verdict.verdict is Verdict.REJECT else Disposition.UNSPECIFIED
        told = verdict.verdict if self._enforces() else Verdict.ALLOW
        return (
            told,
            verdict.reason,
            disposition,
            self.policy.name,
            self.policy.version,
            self._enforces(),
            verdict.verdict,
            decision_id,
            self._counters(),
        )

    def _kept(self, log: list[Entry]) -> list[int]:
        return sorted({entry.number for entry in log})[-KEPT:]

    def _too_old(self, number: int, attempt: int) -> bool:
        kept = self._kept(self.log)
        if number in kept:
            return attempt < self._attempt(number)
        return len(kept) == KEPT and number < kept[0]

    def _attempt(self, number: int) -> int:
        return max((entry.attempt for entry in self.log if entry.number == number), default=0)

    def _live(self, number: int) -> list[Entry]:
        attempt = self._attempt(number)
        return [entry for entry in self.log if entry.number == number and entry.attempt == attempt]

    def _is_told(self, number: int) -> bool:
        return any(not isinstance(entry.event, BeforeModel) for entry in self._live(number))

    def _is_side(self, number: int) -> bool:
        entry = next(entry for entry in self.log if entry.number == number)
        return entry.event is not None and entry.event.side

    def _question(self, number: int) -> BeforeModel | None:
        """Return what the application asked before this model call, in the newest attempt that was told."""
        asked = [entry.event for entry in self.log if entry.number == number and isinstance(entry.event, BeforeModel)]
        return asked[-1] if asked else None

    def _forced(self, number: int) -> Found | None:
        entries = [entry for entry in self.log if entry.number == number]
        return entries[-1].forced if entries else None

    def _carried(self, new: Entry) -> Found | None:
        """Return the FORCE_NONE of a response that this model call has to bear."""
        waiting: tuple[int, Found] | None = None
        taken: dict[int, Found] = {}
        attempts: dict[int, int] = {}
        for entry in [*self.log, new]:
            if entry.attempt > attempts.get(entry.number, entry.attempt) and waiting and waiting[0] == entry.number:
                waiting = None
            attempts[entry.number] = entry.attempt
            side = next(one for one in [*self.log, new] if one.number == entry.number).event
            main = isinstance(entry.event, BeforeModel) and not (side and side.side)
            if main and waiting and entry.number not in taken:
                taken[entry.number] = waiting[1]
                waiting = None
            if isinstance(entry.event, AfterModel) and entry.found.verdict is Verdict.FORCE_NONE:
                waiting = (entry.number, entry.found)
        return taken.get(new.number)


def _acted(limit: Limit, act: Act) -> Found:
    return Found(act.then, REASON_OF[limit.unit], limit.disposition, act.remove_tools)


def _responses(log: list[Entry]) -> dict[int, list[Call]]:
    """Return the function calls of each response: of its newest attempt, each id once."""
    newest = {entry.number: max(one.attempt for one in log if one.number == entry.number) for entry in log}
    made: dict[int, list[Call]] = {}
    for entry in log:
        if entry.attempt != newest[entry.number]:
            continue
        calls = made.setdefault(entry.number, [])
        for call in entry.calls:
            if not call.id or call.id not in [other.id for other in calls]:
                calls.append(call)
    return made


def _turns(log: list[Entry]) -> tuple[int, dict[int, int]]:
    """Count turns from the first event on; and return which turn each response with a call is."""
    turns = 0
    turn_of: dict[int, int] = {}
    attempt_of: dict[int, int] = {}
    for entry in log:
        if entry.attempt > attempt_of.get(entry.number, entry.attempt) and turn_of.pop(entry.number, 0):
            turns -= 1
        attempt_of[entry.number] = entry.attempt
        event = entry.event
        if isinstance(event, BeforeModel):
            seen = event.transcript.turns_since_prompt if event.transcript else 0
            turns = max(turns, min(seen, event.model_call - 1) if event.model_call else seen)
        elif isinstance(event, AfterModel):
            seen = event.turns_since_prompt
            seen = min(seen, event.model_call - 1) if event.model_call else seen
            turns = max(turns, seen + (1 if entry.number in turn_of else 0))
        if entry.calls and entry.number not in turn_of:
            turns += 1
            turn_of[entry.number] = turns
    return turns, turn_of


def _ordinals(log: list[Entry]) -> dict[int, int]:
    """Return the how-manieth model call of the loop each number is; 0 for SIDE."""
    first, count = _taken_up(log)
    ordinals: dict[int, int] = {}
    for index, entry in enumerate(log):
        if entry.number in ordinals:
            continue
        if entry.event is None:
            owner = log[index + 1]
            own = ordinals.get(owner.number)
            if own is None:
                own = _ordinal_of(owner, first, count)
            ordinals[entry.number] = max(1, own - 1)
            continue
        ordinals[entry.number] = _ordinal_of(entry, first, count)
        if not entry.event.side and entry.number >= first:
            count += 1
    return ordinals


def _ordinal_of(entry: Entry, first: int, count: int) -> int:
    assert entry.event is not None
    if entry.event.side:
        return 0
    return entry.number if entry.number < first else count + 1


def _model_calls(log: list[Entry]) -> int:
    """Count the model calls of the loop: those before the first one told, and those told since."""
    first, count = _taken_up(log)
    counted: set[int] = set()
    seen: set[int] = set()
    for entry in log:
        if entry.event is not None and entry.number not in seen and not entry.event.side and entry.number >= first:
            counted.add(entry.number)
        seen.add(entry.number)
    return count + len(counted)


def _taken_up(log: list[Entry]) -> tuple[int, int]:
    """Return the number told first, and how many model calls were made by then."""
    for entry in log:
        if entry.event is not None:
            return entry.number, entry.number if entry.event.side and entry.number > 1 else entry.number - 1
    return 0, 0


def facts_of(answer: Answer) -> tuple[Any, ...]:
    """Return what of a core answer the oracle knows: all but texts for people, and those only as there or not."""
    if isinstance(answer, Refusal):
        return ("refused", answer.field)
    if isinstance(answer, EndAnswer):
        return ("end", tuple(answer.counters))
    told = answer.decision
    said = (
        told.verdict,
        told.reason,
        told.disposition,
        told.policy,
        told.policy_version,
        told.enforced,
        told.verdict_if_enforced,
        told.decision_id,
        tuple(told.counters),
    )
    if isinstance(answer, BeforeAnswer):
        declared = (int(answer.mode), answer.drop_declarations, answer.declare_tools, answer.model_call)
        return ("before", said, *declared)
    assert isinstance(answer, AfterAnswer)
    calls = tuple((call.call_id, call.name, call.run, call.reason, bool(call.result_text)) for call in answer.calls)
    return ("after", said, calls)
