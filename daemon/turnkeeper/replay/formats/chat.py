"""OpenAI chat messages, and Anthropic messages: a list, or an object with ``messages``.

An assistant message is a response, a user message without a result begins a prompt. OpenAI tells calls in
``tool_calls`` and results in messages of role ``tool``, Anthropic both as blocks of the content, a result's failure
too. A system message is neither.
"""

from typing import Any

import msgspec

from turnkeeper.core.events import Usage
from turnkeeper.replay.runs import Builder, Run, arguments, digest


class _Function(msgspec.Struct):
    name: str
    arguments: Any = ""


class _ToolCall(msgspec.Struct):
    id: str = ""
    function: _Function | None = None
    name: str = ""
    input: str = ""  # of a custom tool


class _Block(msgspec.Struct):
    type: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: Any = None
    is_error: bool | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0

    def told(self) -> Usage:
        """Return it as the core has it; Anthropic tells cached input beside the input."""
        cached = self.cache_read_input_tokens + self.cache_creation_input_tokens
        given = self.prompt_tokens + self.input_tokens + cached
        return Usage(given, self.completion_tokens + self.output_tokens, self.total_tokens)


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Block] | None = None
    tool_calls: list[_ToolCall] | None = None
    function_call: _Function | None = None
    tool_call_id: str | None = None
    name: str | None = None
    usage: _Usage | None = None


class _Chat(msgspec.Struct):
    messages: list[_Message]
    id: str | int | None = None
    agent: str | None = None
    model: str | None = None
    success: bool | None = None


_chat = msgspec.json.Decoder(_Chat).decode
_list = msgspec.json.Decoder(list[_Message]).decode


def read(data: bytes, where: str) -> list[Run]:
    """Return the run of one document."""
    chat = _Chat(_list(data)) if data.lstrip()[:1] == b"[" else _chat(data)
    built = Builder()
    for message in chat.messages:
        _take(built, message)
    name = "" if chat.id is None else str(chat.id)
    return [Run(name, where, built.prompts(), chat.agent or "", chat.model or "", chat.success)]


def _take(built: Builder, message: _Message) -> None:
    blocks = message.content if isinstance(message.content, list) else []
    if message.role == "assistant":
        usage = message.usage.told() if message.usage else Usage()
        built.response([*_calls(message), *_uses(blocks)], usage)
    elif message.role in ("tool", "function"):
        text = message.content if isinstance(message.content, str) else msgspec.to_builtins(message.content)
        built.result(message.tool_call_id or "", digest(text), name=message.name or "")
    elif message.role == "user":
        results = [block for block in blocks if block.type == "tool_result"]
        for block in results:
            built.result(block.tool_use_id, digest(block.content), is_error=bool(block.is_error))
        if not results:
            built.user()


def _calls(message: _Message) -> list[tuple[str, str, str | None]]:
    calls: list[tuple[str, str, str | None]] = []
    for call in message.tool_calls or ():
        if call.function is None:
            calls.append((call.id, call.name, call.input))
        else:
            calls.append((call.id, call.function.name, arguments(call.function.arguments)))
    if message.function_call is not None:
        calls.append(("", message.function_call.name, arguments(message.function_call.arguments)))
    return calls


def _uses(blocks: list[_Block]) -> list[tuple[str, str, str | None]]:
    return [(block.id, block.name, arguments(block.input)) for block in blocks if block.type == "tool_use"]
