"""What a client decides when the daemon does not: open, closed, or by its own turn count.

Law: a decision made alone is counted once, by gRPC code, and told with the next event that is answered.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnkeeper_client._gen import turnkeeper_pb2 as pb
from turnkeeper_client._gen.words import CallKind, CallVerdict, Counters, Disposition, LimitUnit, Mode, Reason, Verdict
from turnkeeper_client.answers import AfterModelAnswer, Answer, BeforeModelAnswer, known_mode

IDS_KEPT = 10_000  # loops under way in one process; the longest idle one goes
LIMIT = 10  # turns, until the daemon told another limit
_NOT_RUN = "This function call was not run. Tools are off. Answer with what you have."


class Reports:
    """Decisions made alone that the daemon was not told of yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[int] = Counter()

    def add(self, counts: Mapping[int, int]) -> None:
        """Count decisions by code, or give back what an event could not deliver."""
        with self._lock:
            self._counts.update(counts)

    def take(self) -> Mapping[int, int]:
        """Hand all out to one event."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken


@dataclass
class _Loop:
    limit: int
    turns: int = 0
    model_call: int = 0
    counted: int = 0  # the latest model call whose response was counted as a turn
    enforced: bool = True


class Alone:
    """Decides alone. It follows what the daemon decides, so that it goes on from there."""

    def __init__(self, fallback: str) -> None:
        self._fallback = fallback
        self._lock = threading.Lock()
        self._loops: OrderedDict[tuple[str, str], _Loop] = OrderedDict()
        self._limit = LIMIT

    def before(self, event: pb.BeforeModelRequest, code: int, least: int) -> BeforeModelAnswer:
        """Decide before a model call, no less severely than ``least``."""
        with self._lock:
            loop = self._loop(event)
            loop.model_call = event.model_call or loop.model_call + 1
            if event.attempt and loop.counted == loop.model_call:  # its calls never ran
                loop.turns, loop.counted = loop.turns - 1, loop.counted - 1
            seen = event.transcript.turns_since_prompt
            loop.turns = max(loop.turns, min(seen, event.model_call - 1) if event.model_call else seen)
            over = loop.turns - loop.limit if int(event.kind) != CallKind.SIDE else -1
            verdict = Verdict.ALLOW if over < 0 else Verdict.FORCE_NONE if over == 0 else Verdict.REJECT
            decided = self._decide(loop, verdict, code, least)
        mode = known_mode(event.mode) if decided["verdict"] is Verdict.ALLOW else Mode.NONE
        return BeforeModelAnswer(**decided, mode=mode, model_call=loop.model_call)

    def after(self, event: pb.AfterModelRequest, code: int, least: int) -> AfterModelAnswer:
        """Decide after a response: a call under NONE is never run."""
        with self._lock:
            loop = self._loop(event)
            number = event.model_call or loop.model_call or 1
            loop.turns = max(loop.turns, min(event.turns_since_prompt, number - 1))
            if event.calls and number > loop.counted:
                loop.turns, loop.counted = loop.turns + 1, number
            stop = event.calls and (int(event.mode_sent) == Mode.NONE or loop.turns > loop.limit)
            decided = self._decide(loop, Verdict.REJECT if stop else Verdict.ALLOW, code, least)
        run = decided["verdict"] is Verdict.ALLOW
        text, reason = "" if run else _NOT_RUN, decided["reason"]
        verdicts = (CallVerdict(call.id, call.name, run, reason, text) for call in event.calls)
        return AfterModelAnswer(**decided, calls=tuple(verdicts))

    def follow(self, event: pb.BeforeModelRequest | pb.AfterModelRequest, answer: Answer, model_call: int) -> None:
        """Take over the daemon's counts, and its limit if that is one of turns."""
        with self._lock:
            loop, told = self._loop(event), answer.counters
            loop.turns, loop.enforced = told.turns, answer.enforced
            loop.model_call = model_call or loop.model_call
            if isinstance(event, pb.AfterModelRequest) and event.calls:
                loop.counted = loop.model_call
            turns = told.unit is LimitUnit.TURNS and not told.limit_off
            loop.limit = self._limit = told.limit if turns else LIMIT

    def forget(self, event: pb.EndRequestRequest) -> Counters:
        """Drop the counts of a loop that is over, and return them."""
        with self._lock:
            return _counters(self._loops.pop((event.tenant, event.request_id), _Loop(self._limit)))

    def _loop(self, event: pb.BeforeModelRequest | pb.AfterModelRequest) -> _Loop:
        if not event.request_id.strip():
            return _Loop(self._limit)  # blank ids never share a count
        key = (event.tenant, event.request_id)
        loop = self._loops.setdefault(key, _Loop(self._limit))
        self._loops.move_to_end(key)
        if len(self._loops) > IDS_KEPT:
            self._loops.popitem(last=False)
        return loop

    def _decide(self, loop: _Loop, local: Verdict, code: int, least: int) -> dict[str, Any]:
        local = local if loop.enforced else Verdict.ALLOW
        chosen = {"open": Verdict.ALLOW, "closed": Verdict.REJECT, "local": local}[self._fallback]
        verdict = Verdict(max(chosen, least))
        own = self._fallback == "local" and verdict is local is not Verdict.ALLOW
        why = f"decided without the daemon (gRPC code {code})"
        return {
            "verdict": verdict,
            "verdict_if_enforced": verdict,
            "enforced": True,
            "reason": Reason.TURN_LIMIT if own else Reason.UNAVAILABLE,
            "message": f"{why}: {loop.turns} turns made, the limit is {loop.limit}",
            "disposition": Disposition.RAISE if verdict is Verdict.REJECT else Disposition.UNSPECIFIED,
            "counters": _counters(loop),
            "fallback_code": code,
        }


def _counters(loop: _Loop) -> Counters:
    left = max(0, loop.limit - loop.turns)
    return Counters(loop.turns, loop.model_call, limit=loop.limit, remaining=left, unit=LimitUnit.TURNS)
