"""The Python client under test, asking the daemon in this process.

Requests become the arguments an application would give, and what the client returns becomes a message again. Of a call
that failed a client tells the gRPC code alone.
"""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from daemon_target import TIMEOUT_S, DaemonTarget
from google.protobuf.message import Message

from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.vectors import Status
from turnkeeper_client import AsyncTurnKeeper
from turnkeeper_client._gen import words

_CODES = {code.value[0]: code.name for code in grpc.StatusCode}
_TRANSCRIPT = ("turns_since_prompt", "has_function_calls", "instruction_tools")
_CAN_TELL = {
    "before_model": {*words.Before.__annotations__, "request_id", "transcript"},
    "after_model": {*words.After.__annotations__, "request_id"},
    "end_request": {*words.End.__annotations__, "request_id"},
}


class ClientTarget(DaemonTarget):
    """A daemon, and a client of it."""

    def __init__(self, policies: str, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._client: AsyncTurnKeeper | None = None
        super().__init__(policies, folder, loop)

    async def _begin(self) -> None:
        await super()._begin()
        self._client = AsyncTurnKeeper(
            address=self._address.replace("unix:", "unix://"), deadline_ms=TIMEOUT_S * 1000, fallback="open"
        )

    async def _stop(self) -> None:
        assert self._client is not None
        await self._client.close()
        await super()._stop()

    async def _call(self, kind: str, request: Message) -> Message | Status:
        untold = {field.name for field, _ in request.ListFields()} - _CAN_TELL[kind]
        if untold:
            pytest.skip(f"an application does not tell {', '.join(untold)}")
        assert self._client is not None
        told = _arguments(request)
        match kind:
            case "before_model":
                return _answered(pb.BeforeModelResponse(), await self._client.before_model(**told))
            case "after_model":
                return _answered(pb.AfterModelResponse(), await self._client.after_model(**told))
        before, answer = set(self._client._logged), pb.EndRequestResponse()
        _fill(answer.counters, await self._client.end_request(**told))
        refused = self._client._logged - before  # an end that was refused is only logged
        return Status(_CODES[refused.pop()], "") if refused else answer


def _arguments(request: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"request_id": ""}
    for field, value in request.ListFields():
        if field.name == "transcript":
            told |= {name: getattr(value, name) for name in _TRANSCRIPT}
        elif field.name == "enabled_tools":
            told[field.name] = list(value.names)
        else:
            told[field.name] = _plain(field.is_repeated, value)
    return told


def _plain(repeated: bool, value: Any) -> Any:
    if repeated:
        return [_plain(False, item) for item in value]
    if not isinstance(value, Message):
        return value
    kind = getattr(words, value.DESCRIPTOR.name)
    return kind(**{field.name: _plain(field.is_repeated, item) for field, item in value.ListFields()})


def _answered(message: Any, answer: Any) -> Message | Status:
    if answer.fallback_code is not None:
        return Status(_CODES[answer.fallback_code], "")
    _fill(message.decision, answer)
    for field in message.DESCRIPTOR.fields:
        if field.name != "decision":
            _fill_field(message, field, getattr(answer, field.name))
    filled: Message = message
    return filled


def _fill(message: Any, held: Any) -> None:
    for field in message.DESCRIPTOR.fields:
        if field.message_type is not None and field.message_type.name == "Duration":
            getattr(message, field.name).FromNanoseconds(round(getattr(held, f"{field.name}_s") * 1e9))
        else:
            _fill_field(message, field, getattr(held, field.name))


def _fill_field(message: Any, field: Any, value: Any) -> None:
    if field.message_type is None:
        if field.is_repeated:
            getattr(message, field.name).extend(value)
        else:
            setattr(message, field.name, value)
    elif field.is_repeated:
        for one in value:
            _fill(getattr(message, field.name).add(), one)
    else:
        _fill(getattr(message, field.name), value)
