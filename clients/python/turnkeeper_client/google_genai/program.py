"""One prompt as a program: which events are told, which model calls made, which functions run, and in which order.

Law: a model call is made as it was answered; of a response nothing is used before it is answered. There is no I/O
here: the program yields what is to be done, and a driver, sync or async, does it and sends back what came of it.
The loop over functions runs here and not in the SDK, so that the SDK's own limit on remote calls cannot end it, and
so that a model call that the SDK sends in several pieces is one model call.
"""

from collections.abc import Generator, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from google.genai import types

from turnkeeper_client._gen.words import After, Before, Disposition, Outcome
from turnkeeper_client.errors import ToolLoopRejected
from turnkeeper_client.google_genai import wire
from turnkeeper_client.google_genai.wire import Config, Response
from turnkeeper_client.loop import Checked, Guarded


@dataclass(frozen=True)
class TellBefore:
    """Send a ``BeforeModel``; send back the answer."""

    fields: Before


@dataclass(frozen=True)
class TellAfter:
    """Send an ``AfterModel``; send back the answer."""

    fields: After


@dataclass(frozen=True)
class Generate:
    """Make a model call."""

    contents: list[types.Content]
    config: Config


@dataclass(frozen=True)
class Next:
    """Read the next chunk, or the whole response; send back None at the end."""


@dataclass(frozen=True)
class Run:
    """Run one function; send back its answer part."""

    call: types.FunctionCall


@dataclass(frozen=True)
class Emit:
    """Give the application a chunk."""

    chunk: Response


Effect = TellBefore | TellAfter | Generate | Next | Run | Emit
Steps = Generator[Effect, Any, None]


@dataclass
class Prompt:
    """One call of the application: a whole prompt when functions are run automatically, else one step of it."""

    loop: Guarded
    contents: list[types.Content]
    config: Config
    declared: MutableMapping[str, Any]  # every tool seen so far, to declare again when none is enabled
    automatic: bool = False
    stream: bool = False
    result: Response | None = None
    outcome: Outcome | None = Outcome.CANCELLED  # None: the application goes on with this request id

    def __post_init__(self) -> None:
        self._given = len(self.contents)
        self._calls: dict[str, types.FunctionCall] = {}
        self._outputs: list[types.Content] = []
        self._unused: list[Response] = []  # chunks of this response that the application does not have
        self._given_any = False
        calling = self.config.tool_config.function_calling_config if self.config.tool_config else None
        self._partial = bool(getattr(calling, "stream_function_call_arguments", None))

    def steps(self) -> Steps:
        """Do the prompt."""
        try:
            yield from self._loop()
        except ToolLoopRejected as rejected:
            if not self._may_return(rejected):
                self.outcome = Outcome.FAILED
                raise
            self.outcome = Outcome.COMPLETED
            for chunk in self._unused:
                yield Emit(chunk if self.automatic else wire.without_calls(chunk))
        except Exception:
            self.outcome = Outcome.FAILED if self.automatic else None
            raise

    def _loop(self) -> Steps:
        while True:
            yield from self._call_model()
            checked = (yield from self._read_stream()) if self.stream else (yield from self._read_whole())
            if not checked.not_run and not (checked.run and self.automatic):
                self.outcome = None if checked.run else Outcome.COMPLETED
                yield from self._emit(checked)
                return
            if checked.run:
                yield from self._emit(checked)
            yield from self._answer(checked)

    def _call_model(self) -> Steps:
        loop = self.loop
        for call, value in wire.results(self.contents, loop.open_calls):
            loop.result(call, value, is_error=isinstance(value, Mapping) and "error" in value)
        asks, told = wire.asked(self.config), wire.history(self.contents)
        self.declared.update(wire.declarations(self.config))
        fields: Before = {
            "mode": asks.mode,
            "allowed_function_names": asks.allowed_function_names,
            "enabled_tools": asks.enabled_tools,
            "turns_since_prompt": told.turns,
            "has_function_calls": bool(told.called),
            "instruction_tools": [name for name in told.called if name in self.declared],
        }
        answer = loop.begin((yield TellBefore(loop.before(fields))))
        config, loop.mode_sent = wire.applied(self.config, asks, answer, self.declared)
        self._calls, self._outputs, self._unused = {}, [], []
        yield from self._attempt(Generate(self.contents, config))

    def _attempt(self, effect: Effect) -> Generator[Effect, Any, Response | None]:
        """Do something that may fail before any call was run: the next model call is then another attempt."""
        try:
            response: Response | None = yield effect
        except Exception:
            self.loop.retry()
            raise
        return response

    def _see(self, response: Response) -> Any:  # noqa: ANN401 - an effect has any result
        seen, calls = wire.seen(response, self.loop.identify, partial=self._partial)
        self._calls |= calls
        if response.candidates and response.candidates[0].content:
            self._outputs.append(response.candidates[0].content)
        return seen

    def _read_whole(self) -> Generator[Effect, Any, Checked]:
        response = yield from self._attempt(Next())
        response = response or Response()
        self.loop.last = self.result = response
        self.loop.take((yield TellAfter(self.loop.whole(self._see(response)))))
        return self.loop.checked()

    def _read_stream(self) -> Generator[Effect, Any, Checked]:
        while (chunk := (yield from self._attempt(Next()))) is not None:
            self._unused.append(chunk)
            for event in self.loop.feed(chunk, self._see(chunk)):
                self.loop.take((yield TellAfter(event)))
            yield from self._give(self.loop.flow())
        for event in self.loop.finish():
            self.loop.take((yield TellAfter(event)))
        return self.loop.checked()

    def _emit(self, checked: Checked) -> Steps:
        if self.stream:
            yield from self._give(checked.items)
        elif self.result is not None and (self.automatic or len(self.contents) > self._given):
            self._with_history(self.result)

    def _give(self, chunks: Iterable[Response]) -> Steps:
        for chunk in chunks:
            self._unused.pop(0)
            self._given_any = True
            yield Emit(self._with_history(chunk))

    def _answer(self, checked: Checked) -> Steps:
        """Run what may be run, answer the rest with the text that was given, and add both to the history."""
        texts = {call.id: text for call, text in checked.not_run}
        parts = []
        for call in (*checked.run, *(call for call, _ in checked.not_run)):
            asked = self._calls[call.id]
            if call.id in texts:
                parts.append(wire.answer_part(asked, {"error": texts[call.id]}))
                continue
            part: types.Part = yield Run(asked)
            value = part.function_response.response if part.function_response else None
            self.loop.result(call, value, is_error=isinstance(value, Mapping) and "error" in value)
            parts.append(part)
        self.loop.open_calls = ()
        self.contents = [*self.contents, *self._outputs, types.Content(role="user", parts=parts)]

    def _with_history(self, response: Response) -> Response:
        """Tell the application what was called and answered on its behalf, as the SDK does."""
        told = self.config.automatic_function_calling
        if not (told and told.ignore_call_history):
            grown = len(self.contents) > self._given
            response.automatic_function_calling_history = list(self.contents) if grown else []
        return response

    def _may_return(self, rejected: ToolLoopRejected) -> bool:
        """Return the last response instead of an error; in a manual loop without calls the application could run."""
        if rejected.disposition is not Disposition.RETURN:
            return False
        if self.stream:
            return self._given_any or bool(self._unused)
        self.result = self.loop.last
        if self.result is not None and not self.automatic:
            self.result = wire.without_calls(self.result)
        return self.result is not None
