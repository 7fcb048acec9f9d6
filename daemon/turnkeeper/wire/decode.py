"""Bytes of a request to a core event.

Law: every value is checked here, once, against ``core.bounds``; the error names the field, the value and the
limit. An enum value from the future is taken as UNSPECIFIED, but for a mode, which is kept to be echoed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from google.protobuf.message import DecodeError, Message

from turnkeeper.core import bounds
from turnkeeper.core.events import (
    AfterModel,
    BeforeModel,
    Call,
    Caller,
    EndRequest,
    Result,
    Trace,
    Transcript,
    Usage,
)
from turnkeeper.core.model import FinishReason, Outcome
from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.wire.canonical import Pointers
from turnkeeper.wire.errors import refuse, refuse_bytes
from turnkeeper.wire.fingerprint import fingerprint

_SHOWN = 64  # characters of a bad value in an error
_SHORT = bounds.TEXT_BYTES // 4  # characters that cannot be too many bytes
_FINISH = {int(value): value for value in FinishReason}
_OUTCOME = {int(value): value for value in Outcome}
_NO_CALLER = Caller()
Ignored = Mapping[str, Pointers]  # by tool


def before_model(data: bytes, trace: Trace = Trace()) -> BeforeModel:
    """Decode a BeforeModelRequest. Raises ``InvalidArgumentError``."""
    message = pb.BeforeModelRequest()
    _parse(message, data)
    request_id = _id(message.request_id)
    parent = _text("parent_request_id", message.parent_request_id)
    if parent and parent == request_id:
        refuse("parent_request_id", f"{_shown(parent)} is the request's own id")
    enabled = message.enabled_tools.names if message.HasField("enabled_tools") else None
    return BeforeModel(
        request_id,
        message.model_call,
        message.attempt,
        _text("policy", message.policy),
        _caller(message.caller) if message.HasField("caller") else _NO_CALLER,
        message.kind == pb.CALL_KIND_SIDE,
        message.mode,
        _names("allowed_function_names", message.allowed_function_names),
        None if enabled is None else _names("enabled_tools.names", enabled),
        _transcript(message.transcript) if message.HasField("transcript") else None,
        _results(message.results) if message.results else (),
        parent,
        _text("tenant", message.tenant),
        _text("root_request_id", message.root_request_id),
        _fallbacks(message.fallbacks) if message.fallbacks else (),
        trace,
    )


def after_model(
    data: bytes, trace: Trace = Trace(), *, key: bytes = b"", ignored: Callable[[AfterModel], Ignored] | None = None
) -> AfterModel:
    """Decode an AfterModelRequest. Raises ``InvalidArgumentError``.

    ``ignored`` is asked, with the event without its calls, which arguments its policy leaves out of fingerprints.
    """
    message = pb.AfterModelRequest()
    _parse(message, data)
    _text("raw_finish_reason", message.raw_finish_reason)
    event = AfterModel(
        _id(message.request_id),
        message.model_call,
        message.attempt,
        message.chunk,
        message.last or message.chunk == 0,
        (),
        _FINISH.get(message.finish_reason, FinishReason.UNSPECIFIED),
        _usage(message.usage) if message.HasField("usage") else None,
        message.has_text,
        _text("policy", message.policy),
        _caller(message.caller) if message.HasField("caller") else _NO_CALLER,
        message.mode_sent,
        message.turns_since_prompt,
        message.kind == pb.CALL_KIND_SIDE,
        _text("tenant", message.tenant),
        _text("root_request_id", message.root_request_id),
        _fallbacks(message.fallbacks) if message.fallbacks else (),
        trace,
    )
    if not message.calls:
        return event
    return event._replace(calls=_calls(message.calls, key, ignored(event) if ignored is not None else {}))


def end_request(data: bytes, trace: Trace = Trace()) -> EndRequest:
    """Decode an EndRequestRequest. Raises ``InvalidArgumentError``."""
    message = pb.EndRequestRequest()
    _parse(message, data)
    return EndRequest(
        _id(message.request_id),
        _OUTCOME.get(message.outcome, Outcome.UNSPECIFIED),
        _text("tenant", message.tenant),
        _text("root_request_id", message.root_request_id),
        _fallbacks(message.fallbacks) if message.fallbacks else (),
        trace,
    )


def _parse(message: Message, data: bytes) -> None:
    try:
        message.ParseFromString(data)
    except DecodeError:
        refuse_bytes(message.DESCRIPTOR.name, data)


def _shown(value: str) -> str:
    text = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return repr(text)


def _text(field: str, value: str) -> str:
    if len(value) > _SHORT:
        size = len(value.encode())
        if size > bounds.TEXT_BYTES:
            refuse(field, f"{_shown(value)} has {size} bytes, at most {bounds.TEXT_BYTES} are allowed")
    return value


def _secret(field: str, value: str) -> str:
    """Check a text that stands in for arguments: its error does not show it."""
    size = len(value.encode())
    if size > bounds.TEXT_BYTES:
        refuse(field, f"{size} bytes, at most {bounds.TEXT_BYTES} are allowed")
    return value


def _id(value: str) -> str:
    if not value.strip():
        refuse("request_id", f"{_shown(value)} is blank, an id of 1 to {bounds.TEXT_BYTES} bytes is needed")
    return _text("request_id", value)


def _count(field: str, values: Sequence[object], limit: int) -> None:
    if len(values) > limit:
        refuse(field, f"{len(values)} entries, at most {limit} are allowed")


def _names(field: str, names: Sequence[str]) -> tuple[str, ...]:
    _count(field, names, bounds.TOOLS_PER_EVENT)
    for index, name in enumerate(names):
        if len(name) > _SHORT:
            _text(f"{field}[{index}]", name)
    return tuple(names)


def _caller(message: pb.Caller) -> Caller:
    return Caller(
        _text("caller.service", message.service),
        _text("caller.agent", message.agent),
        _text("caller.provider", message.provider),
        _text("caller.model", message.model),
        _text("caller.conversation_id", message.conversation_id),
    )


def _transcript(message: pb.Transcript) -> Transcript:
    tools = _names("transcript.instruction_tools", message.instruction_tools)
    return Transcript(message.turns_since_prompt, message.has_function_calls, tools)


def _calls(messages: Sequence[pb.FunctionCall], key: bytes, ignored: Ignored) -> tuple[Call, ...]:
    _count("calls", messages, bounds.CALLS_PER_EVENT)
    calls = []
    for index, call in enumerate(messages):
        call_id = _text(f"calls[{index}].id", call.id)
        name = _text(f"calls[{index}].name", call.name)
        loop_key = _secret(f"calls[{index}].loop_key", call.loop_key)
        calls.append(Call(call_id, name, fingerprint(key, name, call.args_json, loop_key, ignored.get(name, ()))))
    return tuple(calls)


def _results(messages: Sequence[pb.FunctionResult]) -> tuple[Result, ...]:
    _count("results", messages, bounds.RESULTS_PER_EVENT)
    results = []
    for index, result in enumerate(messages):
        if len(result.digest) > bounds.DIGEST_BYTES:
            text = f"{len(result.digest)} bytes, at most {bounds.DIGEST_BYTES} are allowed"
            refuse(f"results[{index}].digest", text)
        call_id = _text(f"results[{index}].call_id", result.call_id)
        name = _text(f"results[{index}].name", result.name)
        results.append(Result(call_id, name, result.digest, result.is_error))
    return tuple(results)


def _usage(message: pb.Usage) -> Usage:
    return Usage(
        message.input_tokens,
        message.output_tokens,
        message.total_tokens,
        message.cost_micro_usd,
        message.cached_input_tokens,
        message.reasoning_tokens,
    )


def _fallbacks(messages: Iterable[pb.Fallback]) -> tuple[tuple[int, int], ...]:
    fallbacks = tuple((message.grpc_code, message.count) for message in messages)
    _count("fallbacks", fallbacks, bounds.FALLBACKS_PER_EVENT)
    return fallbacks
