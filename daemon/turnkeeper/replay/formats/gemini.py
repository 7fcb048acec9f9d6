"""Gemini contents: a list of contents, or an object with ``contents``, in the REST or the Python spelling.

A content of role ``model`` is a response. A content with a function response answers calls, by id or by name; another
content of a user begins a prompt. A function response whose only key is ``error`` is an error.
"""

from typing import Any

import msgspec

from turnkeeper.core.events import Usage
from turnkeeper.replay.runs import Builder, Run, arguments, digest


class _Call(msgspec.Struct):
    name: str
    args: Any = None
    id: str | None = None


class _Answer(msgspec.Struct):
    name: str = ""
    response: Any = None
    id: str | None = None


class _Part(msgspec.Struct):
    function_call: _Call | None = None
    function_call_rest: _Call | None = msgspec.field(default=None, name="functionCall")
    function_response: _Answer | None = None
    function_response_rest: _Answer | None = msgspec.field(default=None, name="functionResponse")


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None
    role: str | None = None


class _Conversation(msgspec.Struct):
    contents: list[_Content]
    id: str | int | None = None
    agent: str | None = None
    model: str | None = None
    success: bool | None = None


_conversation = msgspec.json.Decoder(_Conversation).decode
_list = msgspec.json.Decoder(list[_Content]).decode


def read(data: bytes, where: str) -> list[Run]:
    """Return the run of one document."""
    told = _Conversation(_list(data)) if data.lstrip()[:1] == b"[" else _conversation(data)
    built = Builder()
    for content in told.contents:
        _take(built, content)
    name = "" if told.id is None else str(told.id)
    return [Run(name, where, built.prompts(), told.agent or "", told.model or "", told.success)]


def _take(built: Builder, content: _Content) -> None:
    parts = content.parts or []
    if content.role == "model":
        calls = [call for part in parts if (call := part.function_call or part.function_call_rest)]
        built.response([(call.id or "", call.name, arguments(call.args or {})) for call in calls], Usage())
        return
    answers = [answer for part in parts if (answer := part.function_response or part.function_response_rest)]
    for answer in answers:
        failed = isinstance(answer.response, dict) and set(answer.response) == {"error"}
        built.result(answer.id or "", digest(answer.response), is_error=failed, name=answer.name)
    if not answers:
        built.user()
