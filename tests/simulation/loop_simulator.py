"""A tool-calling loop in which everything is scripted but the decisions.

The model calls functions in every response. The application does what it is answered, no more and no less: it sends the
mode and the declarations that it is told, runs the calls of a response only once its last chunk was answered and none
was held back, and ends a rejected loop as the disposition says. What comes of it is counted, as one would count what a
real SDK does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from turnkeeper import policies
from turnkeeper.core.engine import step
from turnkeeper.core.events import AfterModel, BeforeModel, Call, Event, Result, Transcript
from turnkeeper.core.model import AfterAnswer, Answer, BeforeAnswer, Decision, Disposition, Mode, Verdict
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State

NOT_RUN, RUN, TEXT, ERROR = "returned_calls_not_run", "returned_calls_run", "text", "error"
UNLIMITED = "unlimited"
CUT = 60
TOOL = "look"


@dataclass(frozen=True)
class Model:
    """How the model answers.

    ``shape``: ``calls`` has all calls in one chunk, ``split`` one call to a chunk, ``text_first`` a chunk of text before.
    """

    parallel: int = 1
    stream: bool = False
    shape: str = "calls"
    obeys_none: bool = False
    calls_undeclared: bool = False
    repeats: bool = False
    fails: bool = False

    def chunks(self, number: int, mode: int, *, declared: bool) -> list["Chunk"]:
        """Answer a request."""
        if (mode == Mode.NONE and self.obeys_none) or not (declared or self.calls_undeclared):
            return [Chunk(text=True)]
        calls = [self._call(number, index) for index in range(self.parallel)]
        if not self.stream:
            return [Chunk(calls, text=self.shape == "text_first")]
        chunks = [Chunk([call]) for call in calls] if self.shape == "split" else [Chunk(calls)]
        return [*([Chunk(text=True)] if self.shape == "text_first" else []), *chunks]

    def _call(self, number: int, index: int) -> Call:
        arguments = f"{index}" if self.repeats else f"{number}.{index}"
        return Call(f"c{number}.{index}", TOOL, arguments.encode())


class Chunk(NamedTuple):
    """A chunk of a response, or the whole."""

    calls: Sequence[Call] = ()
    text: bool = False


@dataclass
class Outcome:
    """Requests the model saw, responses with a call that was run, calls that were run, and how it ended."""

    requests: int = 0
    turns_run: int = 0
    calls_run: int = 0
    ending: str = UNLIMITED


class Daemon:
    """The core under one policy, and the numbers of the events before which it forgets everything."""

    def __init__(self, policy: Policy, lost: frozenset[int] = frozenset()) -> None:
        self._policy = policy
        self._lost = lost
        self._state: State | None = None
        self.events = 0

    def tell(self, event: Event) -> Answer:
        """Answer one event."""
        if self.events in self._lost:
            self._state = None
        self.events += 1
        done = step(self._state, event, self._policy, self.events)
        self._state = done.state
        return done.answer


@cache
def profile(name: str, limit: int | None = None, more: str = "") -> Policy:
    """Return a shipped policy; with a ``limit`` and ``more`` keys of it, as a policy file that extends it has it."""
    shipped = policies.load(None).policies[name]
    if limit is None:
        return shipped
    unit = shipped.limits[0].unit.name.lower()
    text = f"policies: {{p: {{extends: {name}, limits: [{{unit: {unit}, n: {limit}{more}}}]}}}}"
    return policies.parse(text, name).policies["p"]


def simulate(daemon: Daemon, model: Model, *, cut: int = CUT) -> Outcome:
    """Prompt once, and return what came of it."""
    loop = _Loop(daemon, model)
    while loop.outcome.requests < cut:
        ending = loop.turn()
        if ending:
            loop.outcome.ending = ending
            break
    return loop.outcome


class _Loop:
    """The application: its history, and what it may give back."""

    def __init__(self, daemon: Daemon, model: Model) -> None:
        self._daemon = daemon
        self._model = model
        self._number = 0
        self._turns = 0
        self._results: tuple[Result, ...] = ()
        self._last = ""  # how the last response would be given back
        self.outcome = Outcome()

    def turn(self) -> str:
        """Make one model call; return how the loop ended, empty while it goes on."""
        self._number += 1
        asked = self._daemon.tell(
            BeforeModel(
                "r",
                self._number,
                mode=Mode.ANY,
                enabled_tools=(TOOL,),
                transcript=Transcript(self._turns, self._turns > 0),
                results=self._results,
            )
        )
        assert isinstance(asked, BeforeAnswer)
        if asked.decision.verdict is Verdict.REJECT:
            return self._rejected(asked.decision)
        self.outcome.requests += 1
        chunks = self._model.chunks(self._number, asked.mode, declared=not asked.drop_declarations)
        return self._response(chunks, asked.mode)

    def _response(self, chunks: list[Chunk], mode: int) -> str:
        calls = [call for chunk in chunks for call in chunk.calls]
        may_run = True
        for event in self._events(chunks, mode):
            answer = self._daemon.tell(event)
            assert isinstance(answer, AfterAnswer)
            if answer.decision.verdict is Verdict.REJECT:
                self._last = NOT_RUN
                return self._rejected(answer.decision)
            may_run = may_run and answer.decision.verdict is Verdict.ALLOW
        if not calls:
            return TEXT
        self._turns += 1
        self._answer(calls, may_run=may_run)
        return ""

    def _events(self, chunks: list[Chunk], mode: int) -> Iterator[AfterModel]:
        """Yield what is told: chunks with a call, and the last one."""
        text = False
        for number, chunk in enumerate(chunks, 1):
            last = number == len(chunks)
            text = text or chunk.text
            if chunk.calls or last:
                yield AfterModel(
                    "r",
                    self._number,
                    chunk=number if self._model.stream else 0,
                    last=last,
                    calls=tuple(chunk.calls),
                    has_text=text,
                    mode_sent=mode,
                    turns_since_prompt=self._turns,
                )

    def _answer(self, calls: list[Call], *, may_run: bool) -> None:
        """Run the calls, or answer each with the text that says it was not run."""
        self._last = RUN if may_run else NOT_RUN
        if may_run:
            self.outcome.turns_run += 1
            self.outcome.calls_run += len(calls)
        failed = self._model.fails and may_run
        self._results = tuple(
            Result(call.id, call.name, b"failed" if failed else call.fingerprint, failed) for call in calls
        )

    def _rejected(self, decision: Decision) -> str:
        return self._last if decision.disposition is Disposition.RETURN and self._last else ERROR
