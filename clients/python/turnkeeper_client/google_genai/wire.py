"""What a Gemini request and response mean to Turnkeeper, and how an answer is applied to a request."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.genai import types

from turnkeeper_client._gen.words import FinishReason, FunctionCall, Mode, Usage
from turnkeeper_client.answers import BeforeModelAnswer
from turnkeeper_client.loop import Seen

_FINISH = {
    "": FinishReason.UNSPECIFIED,
    "FINISH_REASON_UNSPECIFIED": FinishReason.UNSPECIFIED,
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "UNEXPECTED_TOOL_CALL": FinishReason.UNEXPECTED_TOOL_CALL,
    "MALFORMED_FUNCTION_CALL": FinishReason.MALFORMED_FUNCTION_CALL,
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"),
        FinishReason.CONTENT_FILTER,
    ),
}
_BAD = (FinishReason.MALFORMED_FUNCTION_CALL, FinishReason.UNEXPECTED_TOOL_CALL)
Response = types.GenerateContentResponse
Config = types.GenerateContentConfig


@dataclass(frozen=True)
class Asked:
    """What the application asks of a model call. ``enabled_tools`` None: some tool has no name that could be told."""

    mode: Mode
    allowed_function_names: tuple[str, ...]
    enabled_tools: tuple[str, ...] | None


def asked(config: Config) -> Asked:
    """Read a request's config."""
    calling = config.tool_config.function_calling_config if config.tool_config else None
    mode = getattr(Mode, calling.mode.value, Mode.UNSPECIFIED) if calling and calling.mode else Mode.UNSPECIFIED
    allowed = tuple(calling.allowed_function_names or ()) if calling else ()
    names = [names_of(tool) for tool in config.tools or ()]
    enabled = None if None in names else tuple(name for of_tool in names for name in of_tool or ())
    return Asked(mode, allowed, enabled)


def names_of(tool: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - whatever an application may pass as a tool
    """Return the functions that one tool declares; None when it does not tell."""
    if isinstance(tool, types.Tool):
        return tuple(declared.name or "" for declared in tool.function_declarations or ())
    name = getattr(tool, "__name__", None) or getattr(tool, "name", None)
    return (name,) if isinstance(name, str) else None


def applied(
    config: Config, asks: Asked, answer: BeforeModelAnswer, known: Mapping[str, Any]
) -> tuple[Config, Mode | int]:
    """Return the config to send, and the mode that it really has."""
    tools = list(config.tools or ())
    if answer.drop_declarations:
        tools = [tool for tool in map(_without_functions, tools) if tool is not None]
    declared = {name for tool in tools for name in names_of(tool) or ()}
    wanted = [known[name] for name in answer.declare_tools if name in known and name not in declared]
    tools += wanted
    changes: dict[str, Any] = {
        "tools": tools or None,
        "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
    }
    mode: Mode | int = answer.mode
    declares = bool(wanted) or any(names_of(tool) != () for tool in tools)
    if not declares:
        mode = Mode.UNSPECIFIED  # the API refuses a mode without declarations
    if mode != asks.mode:
        calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode[Mode(mode).name]) if mode else None
        tool_config = config.tool_config or types.ToolConfig()
        changes["tool_config"] = tool_config.model_copy(update={"function_calling_config": calling})
    return config.model_copy(update=changes), mode


def _without_functions(tool: Any) -> Any:  # noqa: ANN401
    """Return what is left of a tool without its function declarations."""
    if not isinstance(tool, types.Tool):
        return None
    rest = tool.model_copy(update={"function_declarations": None})
    return rest if rest.model_dump(exclude_none=True) else None


def declarations(config: Config) -> Iterator[tuple[str, Any]]:
    """Return each declared function by its name, as a tool of its own."""
    for tool in config.tools or ():
        if isinstance(tool, types.Tool):
            for declared in tool.function_declarations or ():
                if declared.name:
                    yield declared.name, types.Tool(function_declarations=[declared])
        else:
            for name in names_of(tool) or ():
                yield name, tool


def seen(
    response: Response, identify: Callable[[FunctionCall], FunctionCall], *, partial: bool
) -> tuple[Seen, dict[str, types.FunctionCall]]:
    """Read a response or chunk; also the SDK's calls by id. ``partial``: arguments come in pieces, names but once."""
    calls: dict[str, types.FunctionCall] = {}
    told: list[FunctionCall] = []
    reason, raw, text = FinishReason.UNSPECIFIED, "", False
    for candidate in response.candidates or ():
        name = candidate.finish_reason.value if candidate.finish_reason else ""
        found = _FINISH.get(name, FinishReason.OTHER)
        if not raw or found in _BAD:
            reason, raw = found, name
        for part in (candidate.content.parts if candidate.content else None) or ():
            text = text or bool(part.text and not part.thought)
            if part.function_call and (part.function_call.name or not partial):
                call = identify(_call(part.function_call))
                told.append(call)
                calls[call.id] = part.function_call
    return Seen(told, reason, raw, _usage(response), text), calls


def _call(call: types.FunctionCall) -> FunctionCall:
    return FunctionCall(call.id or "", call.name or "", json.dumps(call.args or {}, default=repr))


def _usage(response: Response) -> Usage | None:
    told = response.usage_metadata
    if told is None:
        return None
    reasoning = told.thoughts_token_count or 0
    return Usage(
        input_tokens=(told.prompt_token_count or 0) + (told.tool_use_prompt_token_count or 0),
        output_tokens=(told.candidates_token_count or 0) + reasoning,
        total_tokens=told.total_token_count or 0,
        cached_input_tokens=told.cached_content_token_count or 0,
        reasoning_tokens=reasoning,
    )


@dataclass(frozen=True)
class History:
    """What a list of contents tells: turns since the latest prompt, functions called, whether it ends in results."""

    turns: int
    called: tuple[str, ...]
    mid_loop: bool


def history(contents: Sequence[types.Content]) -> History:
    """Count the turns since the latest prompt; neighbouring contents of the model are one response."""
    turns, in_turn, called = 0, False, {}
    for content in contents:
        names = [part.function_call.name or "" for part in content.parts or () if part.function_call]
        called.update(dict.fromkeys(names))
        if content.role == "model":
            turns += bool(names) and not in_turn
            in_turn = in_turn or bool(names)
            continue
        in_turn = False
        if any(not part.function_response for part in content.parts or ()):
            turns = 0
    return History(turns, tuple(called), bool(_results(contents)))


def results(contents: Sequence[types.Content], calls: Iterable[FunctionCall]) -> Iterator[tuple[FunctionCall, Any]]:
    """Match the results at the end of the history to the calls they answer: by id, else by name in order."""
    left = list(calls)
    for result in _results(contents):
        wanted = (result.id, result.name) if result.id else (None, result.name)
        match = next((call for call in left if wanted in ((call.id, call.name), (None, call.name))), None)
        if match is not None:
            left.remove(match)
            yield match, result.response


def _results(contents: Sequence[types.Content]) -> list[types.FunctionResponse]:
    trailing: list[types.FunctionResponse] = []
    for content in reversed(contents):
        found = [part.function_response for part in content.parts or () if part.function_response]
        if not found:
            break
        trailing = found + trailing
    return trailing


def answer_part(call: types.FunctionCall, response: dict[str, Any]) -> types.Part:
    """Return the part that answers a call."""
    return types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))


def without_calls(response: Response) -> Response:
    """Return a copy of a response that has no call an application could run."""
    copied = response.model_copy(deep=True)
    for candidate in copied.candidates or ():
        if candidate.content and candidate.content.parts:
            candidate.content.parts = [part for part in candidate.content.parts if not part.function_call]
    return copied
