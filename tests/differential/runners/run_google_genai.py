"""google-genai: models and chats, sync and async."""

from collections.abc import Awaitable, Iterator
from typing import Any

from common import Case, Outcome, Returned, serve
from google import genai
from google.genai import types


def run(case: Case) -> Outcome:
    client = genai.Client(api_key="scripted", http_options={"base_url": case.base_url})
    calling = types.AutomaticFunctionCallingConfig(**case.limit_as("maximum_remote_calls"))
    config = types.GenerateContentConfig(tools=[case.look], automatic_function_calling=calling)
    asynchronous = case.api.endswith("-async")
    side = client.aio if asynchronous else client
    if case.api.startswith("chats"):
        chat = side.chats.create(model="scripted", config=config)
        send = chat.send_message_stream if case.stream else chat.send_message
        answer = send("Look.")
    else:
        send = side.models.generate_content_stream if case.stream else side.models.generate_content
        answer = send(model="scripted", contents="Look.", config=config)
    if asynchronous:
        return read_async(answer, stream=case.stream)
    return read(answer if case.stream else iter([answer]))


def read(responses: Iterator[types.GenerateContentResponse]) -> Returned:
    returned = Returned(calls=[])
    for response in responses:
        parts = (response.candidates[0].content and response.candidates[0].content.parts) or ()
        returned.text = "".join(part.text or "" for part in parts) or returned.text
        returned.calls += [part.function_call.args["n"] for part in parts if part.function_call]
    return returned


async def read_async(answer: Awaitable[Any], *, stream: bool) -> Returned:
    answered = await answer
    return read(iter([response async for response in answered] if stream else [answered]))


serve("google-genai", run)
