"""Eight ways to run one loop with the SDK: unary or streaming, manual or automatic, sync or async.

Each is ``way(guarded, config, request_id, reached)`` and notes in ``reached`` what came to the application: the texts,
and the function calls.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types

MODEL = "gemini-2.5-flash"
PROMPT = "How is the weather in Paris?"
CALLS_MAX = 30  # far over every limit: a loop that is not stopped fails its test instead of running on


class Reached:
    """What reached the application."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[types.FunctionCall] = []
        self.last: types.GenerateContentResponse | None = None

    def take(self, response: types.GenerateContentResponse) -> list[types.FunctionCall]:
        self.last = response
        calls = []
        for candidate in response.candidates or ():
            for part in (candidate.content.parts if candidate.content else None) or ():
                if part.text:
                    self.texts.append(part.text)
                if part.function_call:
                    calls.append(part.function_call)
        self.calls += calls
        return calls


Way = Callable[..., None]


def manual_config(config: types.GenerateContentConfig) -> types.GenerateContentConfig:
    """Return the same config with the SDK's automatic function calling off."""
    off = types.AutomaticFunctionCallingConfig(disable=True)
    return config.model_copy(update={"automatic_function_calling": off})


def answers(config: types.GenerateContentConfig, calls: list[types.FunctionCall]) -> types.Content:
    """Run the functions, as an application does that loops by hand."""
    run: Any = (config.tools or [])[0]
    parts = [
        types.Part.from_function_response(name=call.name or "", response={"result": run(**(call.args or {}))})
        for call in calls
    ]
    return types.Content(role="user", parts=parts)


def start() -> list[types.Content]:
    return [types.Content(role="user", parts=[types.Part(text=PROMPT)])]


def trimmed(contents: list[types.Content], keep: int | None) -> list[types.Content]:
    """Return the newest entries, as a transform of the history does."""
    return contents if keep is None else contents[-keep:]


def automatic_unary(guarded: Any, config: Any, request_id: str, reached: Reached, **_: Any) -> None:
    told = {"model": MODEL, "contents": PROMPT, "config": config, "request_id": request_id}
    reached.take(guarded.models.generate_content(**told))


def automatic_stream(guarded: Any, config: Any, request_id: str, reached: Reached, **_: Any) -> None:
    told = {"model": MODEL, "contents": PROMPT, "config": config, "request_id": request_id}
    for chunk in guarded.models.generate_content_stream(**told):
        reached.take(chunk)


def manual_unary(guarded: Any, config: Any, request_id: str, reached: Reached, keep: int | None = None) -> None:
    contents = start()
    for _ in range(CALLS_MAX):
        response = guarded.models.generate_content(
            model=MODEL, contents=trimmed(contents, keep), config=manual_config(config), request_id=request_id
        )
        calls = reached.take(response)
        if not calls:
            return
        contents += [response.candidates[0].content, answers(config, calls)]
    pytest.fail("the loop was not stopped")


def manual_stream(guarded: Any, config: Any, request_id: str, reached: Reached, keep: int | None = None) -> None:
    contents = start()
    for _ in range(CALLS_MAX):
        calls: list[types.FunctionCall] = []
        output = []
        for chunk in guarded.models.generate_content_stream(
            model=MODEL, contents=trimmed(contents, keep), config=manual_config(config), request_id=request_id
        ):
            calls += reached.take(chunk)
            output += [candidate.content for candidate in chunk.candidates or () if candidate.content]
        if not calls:
            return
        contents += [*output, answers(config, calls)]
    pytest.fail("the loop was not stopped")


def async_automatic_unary(guarded: Any, config: Any, request_id: str, reached: Reached, **_: Any) -> None:
    async def run() -> None:
        told = {"model": MODEL, "contents": PROMPT, "config": config, "request_id": request_id}
        reached.take(await guarded.aio.models.generate_content(**told))

    asyncio.run(run())


def async_automatic_stream(guarded: Any, config: Any, request_id: str, reached: Reached, **_: Any) -> None:
    async def run() -> None:
        told = {"model": MODEL, "contents": PROMPT, "config": config, "request_id": request_id}
        async for chunk in await guarded.aio.models.generate_content_stream(**told):
            reached.take(chunk)

    asyncio.run(run())


def async_manual_unary(guarded: Any, config: Any, request_id: str, reached: Reached, keep: int | None = None) -> None:
    async def run() -> None:
        contents = start()
        for _ in range(CALLS_MAX):
            response = await guarded.aio.models.generate_content(
                model=MODEL, contents=trimmed(contents, keep), config=manual_config(config), request_id=request_id
            )
            calls = reached.take(response)
            if not calls:
                return
            contents.extend([response.candidates[0].content, answers(config, calls)])
        pytest.fail("the loop was not stopped")

    asyncio.run(run())


def async_manual_stream(guarded: Any, config: Any, request_id: str, reached: Reached, keep: int | None = None) -> None:
    async def run() -> None:
        contents = start()
        for _ in range(CALLS_MAX):
            calls: list[types.FunctionCall] = []
            output = []
            async for chunk in await guarded.aio.models.generate_content_stream(
                model=MODEL, contents=trimmed(contents, keep), config=manual_config(config), request_id=request_id
            ):
                calls += reached.take(chunk)
                output += [candidate.content for candidate in chunk.candidates or () if candidate.content]
            if not calls:
                return
            contents.extend([*output, answers(config, calls)])
        pytest.fail("the loop was not stopped")

    asyncio.run(run())


MANUAL: tuple[Way, ...] = (manual_unary, manual_stream, async_manual_unary, async_manual_stream)
AUTOMATIC: tuple[Way, ...] = (automatic_unary, automatic_stream, async_automatic_unary, async_automatic_stream)
WAYS: tuple[Way, ...] = (*MANUAL, *AUTOMATIC)
STREAMS: tuple[Way, ...] = (manual_stream, async_manual_stream, automatic_stream, async_automatic_stream)
