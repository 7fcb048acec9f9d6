"""A guard for loops: what a loop of model calls and tools must tell, keep and hold back.

Law: no function call reaches the application before its chunk and the last chunk of the response are answered;
nothing of a rejected chunk, or of one after it, ever does. Text flows until a call is held. Results of functions
are digested here and never leave.

``Guarded`` is the whole of it without any I/O. ``Loop`` and ``AsyncLoop`` send what it says, for hand-written
loops; an adapter for an SDK does the same.
"""

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from turnkeeper_client._gen.words import (
    After,
    Before,
    CallKind,
    CallVerdict,
    Disposition,
    End,
    FinishReason,
    FunctionCall,
    FunctionResult,
    Mode,
    Outcome,
    Usage,
    Verdict,
)
from turnkeeper_client.answers import AfterModelAnswer, BeforeModelAnswer
from turnkeeper_client.errors import ToolLoopRejected

if TYPE_CHECKING:
    from turnkeeper_client.client import AsyncTurnKeeper, TurnKeeper

_IN_AFTER = ("policy", "caller", "tenant", "root_request_id", "traceparent")
_IN_END = ("tenant", "root_request_id", "traceparent")
_NOT_RUN = "This function call was not run."


@dataclass(frozen=True)
class Seen:
    """What a response, or a chunk of one, holds. A call without an id gets one."""

    calls: Sequence[FunctionCall] = ()
    finish_reason: FinishReason = FinishReason.UNSPECIFIED
    raw_finish_reason: str = ""
    usage: Usage | None = None
    text: bool = False


@dataclass(frozen=True)
class Checked:
    """A response that was answered. ``not_run``: calls to answer with the text given, instead of running them."""

    run: tuple[FunctionCall, ...] = ()
    not_run: tuple[tuple[FunctionCall, str], ...] = ()
    items: tuple[Any, ...] = ()

    @property
    def calls(self) -> bool:
        """Whether the loop goes on."""
        return bool(self.run or self.not_run)


@dataclass
class _Response:
    """One attempt of one model call, as far as it was read."""

    seen: Seen = Seen()
    chunk: int = 0
    calls: dict[str, FunctionCall] = field(default_factory=dict)
    verdicts: dict[str, CallVerdict] = field(default_factory=dict)
    minted: int = 0
    deferred: tuple[Seen, int] | None = None  # a chunk that may be the last
    held: list[Any] = field(default_factory=list)
    text: bool = False
    off: AfterModelAnswer | None = None  # why none of its calls is run


class Guarded:
    """One request id: numbers its model calls, attempts and chunks, and applies every answer."""

    def __init__(self, request_id: str, always: Mapping[str, Any], *, mid_loop: bool = False) -> None:
        self.request_id = request_id or str(uuid.uuid4())
        self.always = {key: value for key, value in always.items() if value}
        self.turns = 0  # responses with a call, as seen here
        self.flowed = False
        self.last: Any = None
        self.open_calls: tuple[FunctionCall, ...] = ()  # those of the latest response that may be run
        self.rejection: ToolLoopRejected | None = None
        self.mode_sent: int = Mode.UNSPECIFIED
        self._mid_loop = mid_loop
        self._number = 0
        self._attempt = 0
        self._turns_before = 0  # as told before this model call
        self._retry = False
        self._kind = CallKind.MAIN
        self._results: dict[str, FunctionResult] = {}
        self._response = _Response()

    def before(self, asked: Before) -> Before:
        """Return what to tell before the next model call, or the next attempt of this one."""
        if self._retry:
            self._attempt += 1
            self.turns -= bool(self._response.calls)
        elif self._number or not self._mid_loop:
            self._number, self._attempt = self._number + 1, 0
        self._retry, self._response, self.rejection = False, _Response(), None
        self._kind = asked.get("kind", CallKind.MAIN)
        self._turns_before = max(self.turns, asked.get("turns_since_prompt", 0))
        numbers: Before = {
            "model_call": self._number,
            "attempt": self._attempt,
            "turns_since_prompt": self._turns_before,
            "has_function_calls": asked.get("has_function_calls", False) or self._turns_before > 0,
            "results": [*self._results.values(), *asked.get("results", ())],
        }
        return {**self.always, **asked, **numbers}  # type: ignore[typeddict-item]  # joined from parts that are typed

    def begin(self, answer: BeforeModelAnswer) -> BeforeModelAnswer:
        """Take the answer; raise when the model call may not be made."""
        self._number = answer.model_call or self._number or 1
        self.mode_sent = answer.mode
        if answer.verdict is Verdict.REJECT:
            self._reject(answer)
        return answer

    def identify(self, call: FunctionCall) -> FunctionCall:
        """Give a call an id if it has none: that of its place, so it is equal in every attempt."""
        if call.id:
            return call
        self._response.minted += 1
        return replace(call, id=f"{self._number}.{self._response.minted}")

    def whole(self, seen: Seen) -> After:
        """Return what to tell of a whole response."""
        return self._told(seen, chunk=0, last=True)

    def feed(self, item: Any, seen: Seen) -> list[After]:  # noqa: ANN401 - whatever the application streams
        """Read a chunk; return what to tell before anything of it may be used."""
        if self.rejection is not None:
            raise self.rejection
        response = self._response
        events = self._deferred(last=False)
        response.chunk += 1
        response.text = response.text or seen.text
        response.seen = replace(seen, calls=(), usage=seen.usage or response.seen.usage)
        response.held.append(item)
        if seen.finish_reason:
            response.deferred = (seen, response.chunk)
        elif seen.calls:
            events.append(self._told(seen, response.chunk, last=False))
        return events

    def flow(self) -> list[Any]:
        """Return the chunks that may be used now: all, until one with a call or a finish reason."""
        response = self._response
        if response.calls or response.deferred:
            return []
        free, response.held = response.held, []
        self.flowed = self.flowed or bool(free)
        return free

    def finish(self) -> list[After]:
        """Return what to tell when a stream is over."""
        if self._response.deferred:
            return self._deferred(last=True)
        self._response.chunk += 1
        usage = self._response.seen.usage
        return [self._told(Seen(usage=usage), self._response.chunk, last=True)]

    def take(self, answer: AfterModelAnswer) -> None:
        """Take the answer for a response or chunk; raise when nothing of it may be used."""
        if answer.verdict is Verdict.REJECT:
            self._response.held.clear()
            self._reject(answer)
        if answer.verdict is Verdict.FORCE_NONE:
            self._response.off = answer
        self._response.verdicts |= {verdict.call_id: verdict for verdict in answer.calls}

    def checked(self) -> Checked:
        """Sum up an answered response: what to run, and what not."""
        response, self._results = self._response, {}
        hint = response.off.model_hint if response.off else ""
        run: list[FunctionCall] = []
        not_run: list[tuple[FunctionCall, str]] = []
        for call in response.calls.values():
            verdict = response.verdicts[call.id]
            if verdict.run and response.off is None:
                run.append(call)
            else:
                not_run.append((call, verdict.result_text or f"{_NOT_RUN} {hint}".rstrip()))
        held, response.held = tuple(response.held), []
        self.open_calls = tuple(run)
        return Checked(self.open_calls, tuple(not_run), held)

    def result(self, call: FunctionCall, value: object, *, is_error: bool = False) -> None:
        """Note what a function answered; only a digest is told, with the next model call."""
        self._results[call.id] = FunctionResult(call.id, call.name, digest(value), is_error)

    def retry(self) -> None:
        """Say that the model call failed before its calls were run: the next one is another attempt of it."""
        self._retry = True

    def ends(self, error: BaseException | None) -> tuple[Outcome, bool]:
        """Return how the loop ended, and whether its error is answered by returning the last response."""
        returned = isinstance(error, ToolLoopRejected) and error.disposition is Disposition.RETURN
        if error is None or (returned and (self.last is not None or self.flowed)):
            return Outcome.COMPLETED, error is not None
        return Outcome.FAILED if isinstance(error, Exception) else Outcome.CANCELLED, False

    def _told(self, seen: Seen, chunk: int, *, last: bool) -> After:
        response = self._response
        calls = [self.identify(call) for call in seen.calls]
        self.turns += bool(calls) and not response.calls
        response.calls |= {call.id: call for call in calls if call.id not in response.calls}
        told: After = {
            "model_call": self._number,
            "attempt": self._attempt,
            "kind": self._kind,
            "chunk": chunk,
            "last": last,
            "calls": calls,
            "finish_reason": seen.finish_reason,
            "raw_finish_reason": seen.raw_finish_reason,
            "usage": seen.usage,
            "has_text": seen.text or response.text,
            "mode_sent": self.mode_sent,
            "turns_since_prompt": self._turns_before,
        }
        return {**_some(self.always, _IN_AFTER), **told}  # type: ignore[typeddict-item]

    def _deferred(self, *, last: bool) -> list[After]:
        deferred, self._response.deferred = self._response.deferred, None
        return [self._told(deferred[0], deferred[1], last=last)] if deferred else []

    def _reject(self, answer: BeforeModelAnswer | AfterModelAnswer) -> None:
        self.rejection = ToolLoopRejected(answer)
        raise self.rejection


class Loop(Guarded):
    """Guards a hand-written loop: ``with keeper.loop(...) as loop``.

    A rejected loop raises ``ToolLoopRejected``. Where the policy says RETURN and there is a response to return, the
    ``with`` block just ends: ``loop.rejection`` tells why, and ``loop.last`` is what to return.
    """

    def __init__(self, keeper: "TurnKeeper", request_id: str = "", **always: Any) -> None:  # noqa: ANN401
        super().__init__(request_id, always)
        self._keeper = keeper

    def model_call(self, **asked: Unpack[Before]) -> BeforeModelAnswer:
        """Ask before a model call; make it with the answer's mode."""
        return self.begin(self._keeper.before_model(self.request_id, **self.before(asked)))

    def response(self, seen: Seen, response: Any = None) -> Checked:  # noqa: ANN401
        """Check a whole response before any of it is used."""
        self.last = response
        self._ask([self.whole(seen)])
        return self.checked()

    def chunk(self, item: Any, seen: Seen) -> list[Any]:  # noqa: ANN401
        """Check a chunk of a streamed response; return the chunks that may be used now."""
        self._ask(self.feed(item, seen))
        return self.flow()

    def chunks_done(self, response: Any = None) -> Checked:  # noqa: ANN401
        """Check the end of a streamed response; ``items`` are the chunks that were held."""
        self.last = response
        self._ask(self.finish())
        return self.checked()

    def _ask(self, events: Iterable[After]) -> None:
        for event in events:
            self.take(self._keeper.after_model(self.request_id, **event))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: TracebackType | None) -> bool:
        outcome, returned = self.ends(error)
        self._keeper.end_request(self.request_id, **_end(self.always, outcome))
        return returned


class AsyncLoop(Guarded):
    """As ``Loop``, for coroutines: ``async with keeper.loop(...) as loop``."""

    def __init__(self, keeper: "AsyncTurnKeeper", request_id: str = "", **always: Any) -> None:  # noqa: ANN401
        super().__init__(request_id, always)
        self._keeper = keeper

    async def model_call(self, **asked: Unpack[Before]) -> BeforeModelAnswer:
        """Ask before a model call; make it with the answer's mode."""
        return self.begin(await self._keeper.before_model(self.request_id, **self.before(asked)))

    async def response(self, seen: Seen, response: Any = None) -> Checked:  # noqa: ANN401
        """Check a whole response before any of it is used."""
        self.last = response
        await self._ask([self.whole(seen)])
        return self.checked()

    async def chunk(self, item: Any, seen: Seen) -> list[Any]:  # noqa: ANN401
        """Check a chunk of a streamed response; return the chunks that may be used now."""
        await self._ask(self.feed(item, seen))
        return self.flow()

    async def chunks_done(self, response: Any = None) -> Checked:  # noqa: ANN401
        """Check the end of a streamed response; ``items`` are the chunks that were held."""
        self.last = response
        await self._ask(self.finish())
        return self.checked()

    async def _ask(self, events: Iterable[After]) -> None:
        for event in events:
            self.take(await self._keeper.after_model(self.request_id, **event))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: TracebackType | None) -> bool:
        outcome, returned = self.ends(error)
        await self._keeper.end_request(self.request_id, **_end(self.always, outcome))
        return returned


def digest(value: object) -> bytes:
    """Return a SHA-256 that is equal for equal results."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if not isinstance(value, bytes | bytearray | memoryview):
        value = json.dumps(value, sort_keys=True, default=repr).encode()
    return hashlib.sha256(value).digest()


def _some(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _end(always: Mapping[str, Any], outcome: Outcome) -> End:
    return {**_some(always, _IN_END), "outcome": outcome}  # type: ignore[typeddict-item]
