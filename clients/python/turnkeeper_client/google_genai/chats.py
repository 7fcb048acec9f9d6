"""Chats whose messages are guarded prompts. A rejected message leaves the history as it was."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from google.genai import _transformers as transformers
from google.genai import types

from turnkeeper_client.google_genai.wire import Response, history

if TYPE_CHECKING:
    from turnkeeper_client.google_genai.guarded import AsyncGuardedModels, GuardedModels


class _Chat:
    """A chat of the SDK that keeps the history, and what one message adds to it."""

    def __init__(self, chat: Any, models: Any, model: str, config: Any) -> None:  # noqa: ANN401 - the SDK's
        self._chat, self._models, self._model, self._config = chat, models, model, config
        self._request_id = ""

    def get_history(self, curated: bool = False) -> list[types.Content]:  # noqa: FBT001, FBT002 - as the SDK's
        """As the SDK's."""
        told: list[types.Content] = self._chat.get_history(curated=curated)
        return told

    def _told(self, message: Any, config: Any, request_id: str) -> dict[str, Any]:  # noqa: ANN401
        """Return what to send. Function results go on with the prompt that they belong to."""
        self._input = transformers.t_content(message)
        goes_on = self._request_id if history([self._input]).mid_loop else ""
        self._request_id = request_id or goes_on or str(uuid4())
        self._contents = [*self.get_history(curated=True), self._input]
        return {
            "model": self._model,
            "contents": list(self._contents),
            "config": config or self._config,
            "request_id": self._request_id,
        }

    def _record(self, responses: Sequence[Response]) -> None:
        """Add the message, what was called and answered on its behalf, and the final response."""
        called = next((r.automatic_function_calling_history for r in reversed(responses)), None) or []
        parts = [r.candidates[0].content for r in responses if r.candidates and r.candidates[0].content]
        between = called[len(self._contents) :]
        final = [content for content in parts if not any(content is known for known in between)]
        output = [*between, *final]
        self._chat.record_history(self._input, output, is_valid=any(content.parts for content in final))


class GuardedChat(_Chat):
    """As ``google.genai.chats.Chat``."""

    def send_message(self, message: Any, config: Any = None, request_id: str = "") -> Response:  # noqa: ANN401
        """As the SDK's, as one prompt."""
        response: Response = self._models.generate_content(**self._told(message, config, request_id))
        self._record([response])
        return response

    def send_message_stream(self, message: Any, config: Any = None, request_id: str = "") -> Iterator[Response]:  # noqa: ANN401
        """As the SDK's, as one prompt."""
        chunks = []
        for chunk in self._models.generate_content_stream(**self._told(message, config, request_id)):
            chunks.append(chunk)
            yield chunk
        self._record(chunks)


class AsyncGuardedChat(_Chat):
    """As ``google.genai.chats.AsyncChat``."""

    async def send_message(self, message: Any, config: Any = None, request_id: str = "") -> Response:  # noqa: ANN401
        """As the SDK's, as one prompt."""
        response: Response = await self._models.generate_content(**self._told(message, config, request_id))
        self._record([response])
        return response

    async def send_message_stream(
        self,
        message: Any,  # noqa: ANN401
        config: Any = None,  # noqa: ANN401
        request_id: str = "",
    ) -> AsyncIterator[Response]:
        """As the SDK's, as one prompt."""
        return self._stream(await self._models.generate_content_stream(**self._told(message, config, request_id)))

    async def _stream(self, source: AsyncIterator[Response]) -> AsyncIterator[Response]:
        chunks = []
        async for chunk in source:
            chunks.append(chunk)
            yield chunk
        self._record(chunks)


class GuardedChats:
    """``client.chats``, guarded."""

    def __init__(self, chats: Any, models: "GuardedModels") -> None:  # noqa: ANN401
        self._chats, self._models = chats, models

    def create(self, *, model: str, config: Any = None, history: Any = None) -> GuardedChat:  # noqa: ANN401
        """As the SDK's."""
        chat = self._chats.create(model=model, config=config, history=history)
        return GuardedChat(chat, self._models, model, config)


class AsyncGuardedChats:
    """``client.aio.chats``, guarded."""

    def __init__(self, chats: Any, models: "AsyncGuardedModels") -> None:  # noqa: ANN401
        self._chats, self._models = chats, models

    def create(self, *, model: str, config: Any = None, history: Any = None) -> AsyncGuardedChat:  # noqa: ANN401
        """As the SDK's."""
        chat = self._chats.create(model=model, config=config, history=history)
        return AsyncGuardedChat(chat, self._models, model, config)
