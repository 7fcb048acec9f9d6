"""The three calls, sync and async.

Law: a call returns a decision within its deadline, whatever the daemon does, and raises nothing but this package's
own errors. ``TurnKeeper`` and ``AsyncTurnKeeper`` differ only in how bytes are sent.

A channel that could not reach the daemon is replaced, because a channel waits before it connects again: the first
decision after a restart of the daemon is answered by it.
"""

import asyncio
import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, Unpack

import grpc
from google.protobuf.message import DecodeError

from turnkeeper_client._gen import turnkeeper_pb2 as pb
from turnkeeper_client._gen.words import After, Before, Caller, CallVerdict, Counters, End, Reason, Verdict
from turnkeeper_client.answers import (
    AfterModelAnswer,
    BeforeModelAnswer,
    NotUnderstoodError,
    known_mode,
    read,
    read_after,
    read_before,
)
from turnkeeper_client.errors import ArgumentError
from turnkeeper_client.fallback import Alone, Reports
from turnkeeper_client.loop import AsyncLoop, Loop
from turnkeeper_client.options import Given, Options

try:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    _inject: Callable[[dict[str, str]], None] | None = TraceContextTextMapPropagator().inject
except ImportError:
    _inject = None

_log = logging.getLogger("turnkeeper_client")
_CHANNEL = (
    ("grpc.use_local_subchannel_pool", 1),  # a new channel must not inherit the waiting of the one it replaces
    ("grpc.min_reconnect_backoff_ms", 1000),  # an attempt to connect that hangs is given up
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.enable_retries", 0),
)
_NOT_UNDERSTOOD = 0
_UNAVAILABLE = 14
_TRANSCRIPT = ("turns_since_prompt", "has_function_calls", "instruction_tools")
_VALUES = {"caller": pb.Caller, "calls": pb.FunctionCall, "results": pb.FunctionResult, "usage": pb.Usage}
Metadata = list[tuple[str, str]]
A = TypeVar("A")


class Under(End, total=False):
    """What holds for every model call of a loop."""

    policy: str
    parent_request_id: str


@dataclass
class _Ask(Generic[A]):
    """One event on its way: how to read its answer, and how to do without."""

    method: str
    message: Any
    metadata: Metadata
    read: Callable[[bytes], A]
    alone: Callable[[int, int], A]
    as_asked: A
    decides: bool = True


class _Keeper:
    """What does not depend on how bytes are sent."""

    def __init__(self, options: Options | None = None, **given: Unpack[Given]) -> None:
        self.options = options or Options.of(given)
        self._alone = Alone(self.options.fallback)
        self._reports = Reports()
        self._logged: set[int] = set()
        self._lock = threading.Lock()
        self._owner: object = None
        self._channel: Any = None
        self._token = ""

    def _before(self, request_id: str, fields: Before) -> _Ask[BeforeModelAnswer]:
        told: dict[str, Any] = dict(fields)
        transcript = {key: told.pop(key) for key in _TRANSCRIPT if key in told}
        if transcript:
            told["transcript"] = _build(pb.Transcript, transcript)
        method, event, metadata = self._event("BeforeModel", pb.BeforeModelRequest, request_id, told)

        def understand(reply: bytes) -> BeforeModelAnswer:
            answer = _parse(pb.BeforeModelResponse, reply, lambda message: read_before(message, event.mode))
            self._alone.follow(event, answer, answer.model_call)
            return answer

        return _Ask(
            method,
            event,
            metadata,
            understand,
            lambda code, least: self._alone.before(event, code, least),
            BeforeModelAnswer(
                Verdict.ALLOW, Reason.WITHIN_POLICY, mode=known_mode(event.mode), model_call=event.model_call
            ),
        )

    def _after(self, request_id: str, fields: After) -> _Ask[AfterModelAnswer]:
        method, event, metadata = self._event("AfterModel", pb.AfterModelRequest, request_id, dict(fields))

        def understand(reply: bytes) -> AfterModelAnswer:
            answer = _parse(pb.AfterModelResponse, reply, lambda message: read_after(message, len(event.calls)))
            self._alone.follow(event, answer, event.model_call)
            return answer

        verdicts = tuple(CallVerdict(c.id, c.name, run=True, reason=Reason.WITHIN_POLICY) for c in event.calls)
        return _Ask(
            method,
            event,
            metadata,
            understand,
            lambda code, least: self._alone.after(event, code, least),
            AfterModelAnswer(Verdict.ALLOW, Reason.WITHIN_POLICY, calls=verdicts),
        )

    def _end(self, request_id: str, fields: End) -> _Ask[Counters]:
        method, event, metadata = self._event("EndRequest", pb.EndRequestRequest, request_id, dict(fields))

        def understand(reply: bytes) -> Counters:
            self._alone.forget(event)
            return _parse(pb.EndRequestResponse, reply, lambda message: Counters(**read(message.counters)))

        def alone(_code: int, _least: int) -> Counters:
            return self._alone.forget(event)

        return _Ask(method, event, metadata, understand, alone, Counters(), decides=False)

    def _event(self, method: str, kind: Any, request_id: str, told: dict[str, Any]) -> tuple[str, Any, Metadata]:  # noqa: ANN401
        metadata = self._metadata(told.pop("traceparent", ""))
        if self.options.policy and not told.get("policy") and method != "EndRequest":
            told["policy"] = self.options.policy
        return f"/turnkeeper.v1.TurnKeeper/{method}", _build(kind, {"request_id": request_id, **told}), metadata

    def _metadata(self, traceparent: str) -> Metadata:
        carrier: dict[str, str] = {}
        if traceparent:
            if not re.fullmatch(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?", traceparent):
                name = "traceparent"
                raise ArgumentError(name, f"{traceparent!r} is no W3C trace context")
            carrier["traceparent"] = traceparent
        elif _inject is not None:
            _inject(carrier)
        if self.options.token_file:
            try:
                self._token = Path(self.options.token_file).read_text().strip()
            except (OSError, ValueError):
                self._log_once(-1, "token_file cannot be read; the last token is sent")
            carrier["authorization"] = f"Bearer {self._token}"
        return list(carrier.items())

    def _begin(self, ask: _Ask[A]) -> Mapping[int, int]:
        reports = self._reports.take()
        told = (pb.Fallback(grpc_code=code, count=count) for code, count in sorted(reports.items()))
        ask.message.fallbacks.extend(told)
        return reports

    def _answered(self, ask: _Ask[A], reply: bytes) -> A:
        try:
            return ask.read(reply)
        except NotUnderstoodError as error:
            least = error.args[0] if error.args else 0
            return self._decide_alone(ask, _NOT_UNDERSTOOD, "the answer was not understood", least)

    def _failed(self, ask: _Ask[A], reports: Mapping[int, int], error: Exception, channel: object) -> A:
        """Decide without an answer. A channel that reaches nobody is left to those who still wait on it."""
        self._reports.add(reports)
        code, details = _UNAVAILABLE, str(error)
        if isinstance(error, grpc.Call | grpc.aio.AioRpcError):
            code, details = error.code().value[0], error.details() or ""
        if code == _UNAVAILABLE:
            self._drop(channel)
        return self._decide_alone(ask, code, details)

    def _decide_alone(self, ask: _Ask[A], code: int, details: str, least: int = 0) -> A:
        self._log_once(code, f"decided without the daemon, gRPC code {code}: {details[:200]}")
        if ask.decides:
            self._reports.add({code: 1})
        return ask.alone(code, least)

    def _log_once(self, code: int, text: str) -> None:
        if code not in self._logged:
            self._logged.add(code)
            _log.warning("%s", text)

    def _open(self, to: Any, owner: object) -> Any:  # noqa: ANN401 - grpc, or grpc.aio
        """Return the channel; a new one after a fork, on another event loop, and after ``_drop``."""
        with self._lock:
            if self._channel is None or self._owner != owner:
                options = self.options
                settings: tuple[tuple[str, Any], ...] = _CHANNEL
                if options.address.startswith("unix:"):
                    settings = (*_CHANNEL, ("grpc.default_authority", "localhost"))
                if options.tls_ca or options.tls_cert:
                    files = (options.tls_ca, options.tls_key, options.tls_cert)
                    pems = (Path(name).read_bytes() if name else None for name in files)
                    channel = to.secure_channel(options.address, grpc.ssl_channel_credentials(*pems), settings)
                else:
                    channel = to.insecure_channel(options.address, settings)
                self._owner, self._channel = owner, channel
            return self._channel

    def _drop(self, channel: object) -> None:
        """Take a channel out of use, unless another one already replaced it."""
        with self._lock:
            if channel is self._channel:
                self._channel = None


class TurnKeeper(_Keeper):
    """A client for threads. Safe to share; one channel, made at the first call."""

    def before_model(self, request_id: str, **told: Unpack[Before]) -> BeforeModelAnswer:
        """Ask before a model call: may it be made, and in which mode."""
        return self._tell(self._before(request_id, told))

    def after_model(self, request_id: str, **told: Unpack[After]) -> AfterModelAnswer:
        """Ask after a response, or a chunk of one: may its calls be run."""
        return self._tell(self._after(request_id, told))

    def end_request(self, request_id: str, **told: Unpack[End]) -> Counters:
        """Tell that the loop is over."""
        return self._tell(self._end(request_id, told))

    def loop(self, request_id: str = "", *, caller: Caller | None = None, **always: Unpack[Under]) -> Loop:
        """Guard a hand-written loop, as a ``with`` block; without a request id a fresh one is made."""
        return Loop(self, request_id, caller=caller, **always)

    def _tell(self, ask: _Ask[A]) -> A:
        if self.options.disabled:
            return ask.as_asked
        reports, channel = self._begin(ask), None
        try:
            channel = self._open(grpc, os.getpid())
            call = channel.unary_unary(ask.method)
            reply = call(ask.message.SerializeToString(), timeout=self.options.deadline_ms / 1e3, metadata=ask.metadata)
        except (grpc.RpcError, OSError, ValueError) as error:
            return self._failed(ask, reports, error, channel)
        return self._answered(ask, reply)

    def close(self) -> None:
        """Close the channel; a later call opens another."""
        channel = self._channel
        self._drop(channel)
        if channel is not None:
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncTurnKeeper(_Keeper):
    """A client for coroutines; one channel, made at the first call on an event loop."""

    async def before_model(self, request_id: str, **told: Unpack[Before]) -> BeforeModelAnswer:
        """Ask before a model call: may it be made, and in which mode."""
        return await self._tell(self._before(request_id, told))

    async def after_model(self, request_id: str, **told: Unpack[After]) -> AfterModelAnswer:
        """Ask after a response, or a chunk of one: may its calls be run."""
        return await self._tell(self._after(request_id, told))

    async def end_request(self, request_id: str, **told: Unpack[End]) -> Counters:
        """Tell that the loop is over."""
        return await self._tell(self._end(request_id, told))

    def loop(self, request_id: str = "", *, caller: Caller | None = None, **always: Unpack[Under]) -> AsyncLoop:
        """Guard a hand-written loop, as a ``async with`` block; without a request id a fresh one is made."""
        return AsyncLoop(self, request_id, caller=caller, **always)

    async def _tell(self, ask: _Ask[A]) -> A:
        if self.options.disabled:
            return ask.as_asked
        reports, channel = self._begin(ask), None
        try:
            channel = self._open(grpc.aio, (os.getpid(), asyncio.get_running_loop()))
            call = channel.unary_unary(ask.method)
            message = ask.message.SerializeToString()
            reply = await call(message, timeout=self.options.deadline_ms / 1e3, metadata=ask.metadata)
        except (grpc.RpcError, grpc.aio.UsageError, OSError, ValueError) as error:
            return self._failed(ask, reports, error, channel)
        except asyncio.CancelledError:
            self._reports.add(reports)
            raise
        return self._answered(ask, reply)

    async def close(self) -> None:
        """Close the channel; a later call opens another."""
        channel = self._channel
        self._drop(channel)
        if channel is not None:
            await channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _build(kind: Any, told: dict[str, Any]) -> Any:  # noqa: ANN401 - a message class, and its message
    """Build a message; what cannot be sent is named."""
    message = kind()
    for name, value in told.items():
        try:
            make = _VALUES.get(name)
            if name == "enabled_tools" and value is not None:
                value = pb.ToolNames(names=value)  # noqa: PLW2901 - the value as the message takes it
            elif make and isinstance(value, Iterable):
                value = [make(**vars(one)) for one in value]  # noqa: PLW2901
            elif make and value is not None:
                value = make(**vars(value))  # noqa: PLW2901
            message.MergeFrom(kind(**{name: value}))
        except (TypeError, ValueError) as error:
            raise ArgumentError(name, str(error)) from error
    return message


def _parse(kind: Any, reply: bytes, understand: Callable[[Any], A]) -> A:  # noqa: ANN401
    """Read an answer; one that is not understood tells the verdict that could be read."""
    try:
        message = kind.FromString(reply)
    except DecodeError as error:
        raise NotUnderstoodError from error
    try:
        return understand(message)
    except NotUnderstoodError as error:
        verdict = message.decision.verdict if "decision" in kind.DESCRIPTOR.fields_by_name else 0
        known = verdict in (Verdict.FORCE_NONE, Verdict.REJECT)
        raise NotUnderstoodError(verdict if known else 0) from error
