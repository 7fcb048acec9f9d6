"""Where SDKs stop that cannot be run here: their loops in plain Python, against a model that always calls a function.

Each class has the SDK's default as ``default`` and a ``run``, which tells the same as a measurement of a real SDK. They
are models of what the sources say, one ``while`` each, not of anything else these SDKs do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

Call = tuple[int, int]
Chunk = Sequence[Call]
NOT_RUN, RUN, TEXT, ERROR = "returned_calls_not_run", "returned_calls_run", "text", "error"


@dataclass(frozen=True)
class Measured:
    """What a measurement tells: requests, responses with a call that was run, calls that were run, and the end."""

    requests: int
    turns_run: int
    calls_run: int
    ending: str


class LimitError(Exception):
    """What an SDK raises at its limit."""


@dataclass
class AlwaysCalls:
    """The model and the application's functions.

    ``split`` streams one call to a chunk; an ``obedient`` model answers in text where it is told to call nothing.
    """

    parallel: int
    stream: bool = False
    split: bool = False
    obedient: bool = False
    failing: bool = False
    requests: int = 0
    ran: list[Call] = field(default_factory=list)

    def ask(self, *, may_call: bool = True) -> Iterator[Chunk]:
        """Send a request; give the calls in each chunk of the response, a whole response being one chunk."""
        self.requests += 1
        calls = [(self.requests, i) for i in range(self.parallel)]
        if self.obedient and not may_call:
            return iter([[]])
        return iter([[call] for call in calls]) if self.stream and self.split else iter([calls])

    def ask_whole(self, *, may_call: bool = True) -> Chunk:
        """Send a request; give all calls of the response."""
        return [call for chunk in self.ask(may_call=may_call) for call in chunk]

    def run(self, calls: Chunk) -> bool:
        """Run functions; whether they went well."""
        self.ran.extend(calls)
        return not self.failing


class ReferenceModel:
    """A loop with a limit."""

    default: ClassVar[int]

    def run(self, limit: int | None, model: AlwaysCalls) -> Measured:
        """Prompt once; ``None`` is the default limit."""
        try:
            ending = self.loop(self.default if limit is None else limit, model)
        except LimitError:
            ending = ERROR
        return Measured(model.requests, len({n for n, _ in model.ran}), len(model.ran), ending)

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        """Loop until the end; say which it was."""
        raise NotImplementedError


class FirebaseIos(ReferenceModel):
    """Mode NONE once N turns were run; a call all the same is an error, found before anything of its chunk is used.

    The session runs the calls of a streamed response when it is whole.
    """

    default = 10

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        turns = 0
        while True:
            calls: list[Call] = []
            for chunk in model.ask(may_call=turns < limit):
                if chunk and turns >= limit:
                    raise LimitError
                calls.extend(chunk)
            if not calls:
                return TEXT
            model.run(calls)
            turns += 1


class FirebaseAndroid(ReferenceModel):
    """Raises at turn N + 1, before its calls are run."""

    default = 10

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        turns = 0
        while calls := model.ask_whole():
            turns += 1
            if limit < turns:
                raise LimitError
            model.run(calls)
        return TEXT


class FirebaseAndroidStream(ReferenceModel):
    """Each *chunk* with calls is a turn, and sends the next request before the next chunk is read."""

    default = 10

    def __init__(self) -> None:
        self._turns = 0

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        self._turns = 0
        self._collect(limit, model)
        return TEXT

    def _collect(self, limit: int, model: AlwaysCalls) -> None:
        for chunk in model.ask():
            if chunk:
                self._turns += 1
                if limit < self._turns:
                    raise LimitError
                model.run(chunk)
                self._collect(limit, model)


class FirebaseFlutter(ReferenceModel):
    """Makes N requests and runs the calls of each; then raises. A streamed response is put together first."""

    default = 5

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        for _ in range(limit):
            calls = model.ask_whole()
            if not calls:
                return TEXT
            model.run(calls)
        raise LimitError


class FirebaseUnity(ReferenceModel):
    """Runs N turns and gives back the next response as it is."""

    default = 5

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        turns = 0
        calls = model.ask_whole()
        while calls and turns < limit:
            model.run(calls)
            turns += 1
            calls = model.ask_whole()
        return NOT_RUN if calls else TEXT


class FirebaseUnityStream(ReferenceModel):
    """Runs the calls of each chunk as it comes and compares afterwards, so that N + 1 turns are run."""

    default = 5

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        turns, called = 0, True
        while called and turns <= limit:
            turns += 1
            called = False
            for chunk in model.ask():
                if chunk:
                    model.run(chunk)
                    called = True
        return RUN if called else TEXT


class ExtensionsAi(ReferenceModel):
    """Request N + 1 declares no functions, and its response is given back as it is.

    More than three turns in a row with an error raise that error, when they were run.
    """

    default = 40
    errors_in_a_row: ClassVar[int] = 3

    def loop(self, limit: int, model: AlwaysCalls) -> str:
        turns = errors = 0
        while calls := model.ask_whole(may_call=turns < limit):
            if turns >= limit:
                return NOT_RUN
            errors = 0 if model.run(calls) else errors + 1
            if errors > self.errors_in_a_row:
                raise LimitError
            turns += 1
        return TEXT
