"""A ``google.genai.Client`` whose model calls are decided by Turnkeeper."""

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Unpack

from google import genai
from google.genai import _extra_utils, types
from google.genai import _transformers as transformers

from turnkeeper_client._gen.words import Caller, Outcome
from turnkeeper_client.client import AsyncTurnKeeper, TurnKeeper, Under
from turnkeeper_client.google_genai.chats import AsyncGuardedChats, GuardedChats
from turnkeeper_client.google_genai.program import Emit, Generate, Next, Prompt, Run, TellAfter, TellBefore
from turnkeeper_client.google_genai.wire import Config, Response, answer_part, history
from turnkeeper_client.loop import Guarded

LOOPS_KEPT = 1000  # manual loops under way; of a forgotten one the daemon still has the counts
TOOLS_KEPT = 512  # as many as one event may name
Contents = types.ContentListUnion | types.ContentListUnionDict
ConfigOrDict = types.GenerateContentConfigOrDict | None


class _Memory:
    """What is kept between calls of the application: loops by request id, and tools by name."""

    def __init__(self, caller: Caller, under: Mapping[str, Any], *, vertex: bool) -> None:
        self._caller, self._under, self._vertex = caller, under, vertex
        self._lock = threading.Lock()
        self._loops: OrderedDict[str, Guarded] = OrderedDict()
        self._declared: dict[str, Any] = {}

    def prompt(self, model: str, contents: Contents, config: Config, request_id: str) -> Prompt:
        """Begin a prompt, or the next step of the one that a request id names."""
        told = transformers.t_contents(contents)
        with self._lock:
            for name in list(self._declared)[: max(0, len(self._declared) - TOOLS_KEPT)]:
                del self._declared[name]
            loop = self._loops.get(request_id) or self._begin(model, request_id, mid_loop=history(told).mid_loop)
            if request_id:
                self._loops[request_id] = loop
                self._loops.move_to_end(request_id)
                if len(self._loops) > LOOPS_KEPT:
                    self._loops.popitem(last=False)
        return Prompt(loop, told, config, self._declared)

    def _begin(self, model: str, request_id: str, *, mid_loop: bool) -> Guarded:
        caller = replace(
            self._caller,
            provider=self._caller.provider or ("gcp.vertex_ai" if self._vertex else "gcp.gemini"),
            model=self._caller.model or model.removeprefix("models/"),
        )
        return Guarded(request_id, {"caller": caller, **self._under}, mid_loop=mid_loop)

    def forget(self, request_id: str) -> None:
        """Drop a loop that the application ended."""
        with self._lock:
            self._loops.pop(request_id, None)

    def end(self) -> dict[str, Any]:
        """Return what an end is told."""
        return {key: self._under[key] for key in ("tenant", "root_request_id", "traceparent") if key in self._under}


class GuardedModels:
    """``client.models``, guarded; everything else is the SDK's own."""

    def __init__(self, client: genai.Client, keeper: TurnKeeper, memory: _Memory) -> None:
        self._client = client  # the SDK closes its connections when its client is collected
        self._models: Any = client.models
        self._keeper, self._memory = keeper, memory

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the SDK has whatever attributes it has
        return getattr(self._models, name)

    def generate_content(
        self, *, model: str, contents: Contents, config: ConfigOrDict = None, request_id: str = ""
    ) -> Response:
        """As the SDK's. ``request_id``: the prompt this model call belongs to; without it, a prompt of its own."""
        prompt, functions = self._prompt(model, contents, config, request_id, stream=False)
        for _ in self._drive(prompt, model, functions, request_id):
            pass
        return prompt.result or Response()

    def generate_content_stream(
        self, *, model: str, contents: Contents, config: ConfigOrDict = None, request_id: str = ""
    ) -> Iterator[Response]:
        """As the SDK's; a chunk is given when nothing of it can be rejected any more."""
        prompt, functions = self._prompt(model, contents, config, request_id, stream=True)
        yield from self._drive(prompt, model, functions, request_id)

    def _prompt(
        self, model: str, contents: Contents, config: ConfigOrDict, request_id: str, *, stream: bool
    ) -> tuple[Prompt, Mapping[str, Any]]:
        parsed = _parsed(config)
        automatic = _automatic(parsed)
        functions = _extra_utils.get_function_map(parsed) if automatic else {}
        prompt = self._memory.prompt(model, contents, parsed, request_id)
        prompt.automatic, prompt.stream = bool(functions), stream
        return prompt, functions

    def _drive(self, prompt: Prompt, model: str, functions: Mapping[str, Any], request_id: str) -> Iterator[Response]:
        steps, reading = prompt.steps(), iter(())  # type: Any, Any
        back, failed = None, None
        try:
            with suppress(StopIteration):
                while True:
                    effect = steps.throw(failed) if failed else steps.send(back)
                    back, failed = None, None
                    if isinstance(effect, Emit):
                        yield effect.chunk
                        continue
                    try:
                        if isinstance(effect, Generate):
                            reading = self._generate(effect, model, stream=prompt.stream)
                        else:
                            back = self._do(effect, prompt, reading, functions)
                    except Exception as error:  # noqa: BLE001 - the program decides
                        failed = error
        finally:
            steps.close()
            if hasattr(reading, "close"):
                reading.close()
            outcome = _outcome(prompt, request_id)
            if outcome is not None:
                self._keeper.end_request(prompt.loop.request_id, outcome=outcome, **self._memory.end())

    def _generate(self, effect: Generate, model: str, *, stream: bool) -> Iterator[Response]:
        told: dict[str, Any] = {"model": model, "contents": list(effect.contents), "config": effect.config}
        if stream:
            return iter(self._models.generate_content_stream(**told))
        return iter([self._models.generate_content(**told)])

    def _do(self, effect: Any, prompt: Prompt, reading: Iterator[Response], functions: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if isinstance(effect, TellBefore):
            return self._keeper.before_model(prompt.loop.request_id, **effect.fields)
        if isinstance(effect, TellAfter):
            return self._keeper.after_model(prompt.loop.request_id, **effect.fields)
        if isinstance(effect, Next):
            return next(reading, None)
        asked = _runnable(effect, functions)
        parts = _extra_utils.get_function_response_parts(asked, dict(functions)) if asked else []
        return _part(effect.call, parts)


class AsyncGuardedModels:
    """``client.aio.models``, guarded; everything else is the SDK's own."""

    def __init__(self, client: genai.Client, keeper: AsyncTurnKeeper, memory: _Memory) -> None:
        self._client = client
        self._models: Any = client.aio.models
        self._keeper, self._memory = keeper, memory

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._models, name)

    async def generate_content(
        self, *, model: str, contents: Contents, config: ConfigOrDict = None, request_id: str = ""
    ) -> Response:
        """As the SDK's. ``request_id``: the prompt this model call belongs to; without it, a prompt of its own."""
        prompt, functions = await self._prompt(model, contents, config, request_id, stream=False)
        async for _ in self._drive(prompt, model, functions, request_id):
            pass
        return prompt.result or Response()

    async def generate_content_stream(
        self, *, model: str, contents: Contents, config: ConfigOrDict = None, request_id: str = ""
    ) -> AsyncIterator[Response]:
        """As the SDK's; a chunk is given when nothing of it can be rejected any more."""
        prompt, functions = await self._prompt(model, contents, config, request_id, stream=True)
        return self._drive(prompt, model, functions, request_id)

    async def _prompt(
        self, model: str, contents: Contents, config: ConfigOrDict, request_id: str, *, stream: bool
    ) -> tuple[Prompt, Mapping[str, Any]]:
        given = _parsed(config)
        parsed, sessions = await _extra_utils.parse_config_for_mcp_sessions(given)
        automatic = _automatic(given)
        functions = _extra_utils.get_function_map(parsed, sessions, is_caller_method_async=True) if automatic else {}
        prompt = self._memory.prompt(model, contents, parsed or given, request_id)
        prompt.automatic, prompt.stream = bool(functions), stream
        return prompt, functions

    async def _drive(
        self, prompt: Prompt, model: str, functions: Mapping[str, Any], request_id: str
    ) -> AsyncIterator[Response]:
        steps, reading = prompt.steps(), None  # type: Any, Any
        back, failed = None, None
        try:
            with suppress(StopIteration):
                while True:
                    effect = steps.throw(failed) if failed else steps.send(back)
                    back, failed = None, None
                    if isinstance(effect, Emit):
                        yield effect.chunk
                        continue
                    try:
                        if isinstance(effect, Generate):
                            reading = await self._generate(effect, model, stream=prompt.stream)
                        else:
                            back = await self._do(effect, prompt, reading, functions)
                    except Exception as error:  # noqa: BLE001 - the program decides
                        failed = error
        finally:
            steps.close()
            if hasattr(reading, "aclose"):
                await reading.aclose()
            outcome = _outcome(prompt, request_id)
            if outcome is not None:
                await self._keeper.end_request(prompt.loop.request_id, outcome=outcome, **self._memory.end())

    async def _generate(self, effect: Generate, model: str, *, stream: bool) -> AsyncIterator[Response]:
        told: dict[str, Any] = {"model": model, "contents": list(effect.contents), "config": effect.config}
        if stream:
            chunks: AsyncIterator[Response] = await self._models.generate_content_stream(**told)
            return aiter(chunks)
        return _once(await self._models.generate_content(**told))

    async def _do(self, effect: Any, prompt: Prompt, reading: Any, functions: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if isinstance(effect, TellBefore):
            return await self._keeper.before_model(prompt.loop.request_id, **effect.fields)
        if isinstance(effect, TellAfter):
            return await self._keeper.after_model(prompt.loop.request_id, **effect.fields)
        if isinstance(effect, Next):
            return await anext(reading, None)
        asked = _runnable(effect, functions)
        parts = await _extra_utils.get_function_response_parts_async(asked, dict(functions)) if asked else []
        return _part(effect.call, parts)


class _Aio:
    """``client.aio``, guarded."""

    def __init__(self, aio: Any, models: AsyncGuardedModels) -> None:  # noqa: ANN401
        self._aio = aio
        self.models = models
        self.chats = AsyncGuardedChats(aio.chats, models)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._aio, name)


class GuardedClient:
    """A ``google.genai.Client`` with guarded ``models``, ``chats``, ``aio.models`` and ``aio.chats``."""

    def __init__(self, client: genai.Client, keeper: TurnKeeper, aio: AsyncTurnKeeper, memory: _Memory) -> None:
        self._client, self._keeper, self._aio_keeper, self._memory = client, keeper, aio, memory
        self.models = GuardedModels(client, keeper, memory)
        self.chats = GuardedChats(client.chats, self.models)
        self.aio = _Aio(client.aio, AsyncGuardedModels(client, aio, memory))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._client, name)

    def end_request(self, request_id: str, outcome: Outcome = Outcome.COMPLETED) -> None:
        """Tell that a manual loop is over; one that ends in a final answer is told without it."""
        self._memory.forget(request_id)
        self._keeper.end_request(request_id, outcome=outcome, **self._memory.end())


def guard(
    client: genai.Client,
    keeper: TurnKeeper | AsyncTurnKeeper | None = None,
    *,
    service: str = "",
    agent: str = "",
    **under: Unpack[Under],
) -> GuardedClient:
    """Guard a client: every model call is asked about, and every answer applied, in manual and automatic loops."""
    options = keeper.options if keeper else None
    sync = keeper if isinstance(keeper, TurnKeeper) else TurnKeeper(options)
    aio = keeper if isinstance(keeper, AsyncTurnKeeper) else AsyncTurnKeeper(options or sync.options)
    memory = _Memory(Caller(service=service, agent=agent), under, vertex=bool(getattr(client, "vertexai", False)))
    return GuardedClient(client, sync, aio, memory)


def _outcome(prompt: Prompt, request_id: str) -> Outcome | None:
    """Return how to end the request id now; None when the application goes on with it."""
    return prompt.outcome if request_id else prompt.outcome or Outcome.COMPLETED


def _parsed(config: ConfigOrDict) -> Config:
    return config if isinstance(config, Config) else Config.model_validate(config or {})


def _automatic(config: Config) -> bool:
    incompatible = _extra_utils.find_afc_incompatible_tool_indexes(config)
    return not incompatible and not _extra_utils.should_disable_afc(config)


def _runnable(effect: Run, functions: Mapping[str, Any]) -> Response | None:
    """Put a call where the SDK looks for it; None for a function that is not there."""
    if effect.call.name not in functions:
        return None
    call = effect.call if effect.call.args is not None else effect.call.model_copy(update={"args": {}})
    content = types.Content(role="model", parts=[types.Part(function_call=call)])
    return Response(candidates=[types.Candidate(content=content)])


def _part(call: types.FunctionCall, parts: list[types.Part]) -> types.Part:
    """Return the answer with the call's own id."""
    if not parts or parts[0].function_response is None:
        return answer_part(call, {"error": "there is no such function"})
    parts[0].function_response.id = call.id
    return parts[0]


async def _once(response: Response) -> AsyncIterator[Response]:
    yield response
