"""Play a recorded run through the core, as an obedient shim would have told it.

Law: each prompt is a request id of its own; before each response the core is asked with the results of the one before,
after it with its calls. What counts is what was judged, so a policy that only observes is played like one that
enforces. The run is over at the first verdict that keeps something from being run or asked; what was recorded after
it is what would have been saved. A NONE before a response without a call takes nothing away and stops nothing.

The response that came next is taken as the price of the final answer that FORCE_NONE leaves; so what is saved is told
rather too low.
"""

import msgspec

from turnkeeper.core.engine import step
from turnkeeper.core.events import AfterModel, BeforeModel, Call, Caller, Result
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Point, Verdict
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State  # noqa: TC001 - an annotation of an attribute, as cheap as the others
from turnkeeper.policies import PolicySet
from turnkeeper.replay.runs import Prompt, Response, Run
from turnkeeper.wire.fingerprint import KEY_BYTES, fingerprint

_KEY = bytes(KEY_BYTES)  # nothing of a replay is kept, so there is nothing to hide
_ID = "replayed"


class Size(msgspec.Struct, frozen=True):
    """What a run, or a part of one, consists of."""

    turns: int = 0
    function_calls: int = 0
    tokens: int = 0


class Stop(msgspec.Struct, frozen=True):
    """The first verdict that takes something away. ``prompt`` and ``turn`` count from 1."""

    prompt: int
    turn: int
    point: str
    verdict: str
    reason: str
    message: str
    saved: Size


class Verdicts(msgspec.Struct, frozen=True):
    """What one policy makes of a run. ``forced_answers``: NONE before a response that called nothing anyway."""

    policy: str
    stop: Stop | None = None
    warnings: int = 0
    forced_answers: int = 0


class Played(msgspec.Struct, frozen=True):
    """A run, and what each policy makes of it. ``lengths`` are the turns of its prompts."""

    id: str
    where: str
    agent: str
    model: str
    success: bool | None
    lengths: tuple[int, ...]
    size: Size
    verdicts: tuple[Verdicts, ...]


def play(run: Run, sets: tuple[PolicySet, ...], named: str = "") -> Played:
    """Play a run under each set of policies; ``named`` is the policy to take instead of the one that matches."""
    caller = Caller(agent=run.agent, model=run.model)
    verdicts = tuple(judge(run, policies.choose(named, caller)) for policies in sets)
    lengths = tuple(sum(1 for response in prompt if response.calls) for prompt in run.prompts)
    return Played(run.id, run.where, run.agent, run.model, run.success, lengths, _size(run.prompts), verdicts)


def judge(run: Run, policy: Policy) -> Verdicts:
    """Play a run under one policy."""
    return _Player(run, policy).play()


def _size(prompts: tuple[Prompt, ...]) -> Size:
    responses = [response for prompt in prompts for response in prompt]
    return Size(
        sum(1 for response in responses if response.calls),
        sum(len(response.calls) for response in responses),
        sum(response.usage.tokens for response in responses),
    )


class _Player:
    """One run under one policy."""

    def __init__(self, run: Run, policy: Policy) -> None:
        self._run = run
        self._policy = policy
        self._state: State | None = None
        self._warnings = 0
        self._forced_answers = 0

    def play(self) -> Verdicts:
        """Play the prompts until something is stopped."""
        stop = None
        for at, prompt in enumerate(self._run.prompts):
            stop = self._prompt(at, prompt)
            if stop is not None:
                break
        return Verdicts(self._policy.name, stop, self._warnings, self._forced_answers)

    def _prompt(self, at: int, prompt: Prompt) -> Stop | None:
        self._state = None
        results: tuple[Result, ...] = ()
        turn = 0
        for index, response in enumerate(prompt):
            turn += bool(response.calls)
            answer = self._before(index + 1, results, response.asked_ns)
            if answer.decision.verdict_if_enforced is not Verdict.ALLOW:
                if response.calls or answer.decision.verdict_if_enforced is Verdict.REJECT:
                    return self._stop(answer, (at, index, max(turn, 1)))
                self._forced_answers += 1
            calls = self._calls(index, response)
            after = self._after(index + 1, calls, response)
            if after.decision.verdict_if_enforced is not Verdict.ALLOW:
                return self._stop(after, (at, index, max(turn, 1)))
            results = tuple(
                [
                    Result(calls[one.call].id, calls[one.call].name, one.digest, one.is_error)
                    for one in response.results
                    if 0 <= one.call < len(calls)
                ]
            )
        return None

    def _before(self, number: int, results: tuple[Result, ...], now_ns: int) -> BeforeAnswer:
        done = step(self._state, BeforeModel(_ID, number, results=results), self._policy, now_ns)
        self._state = done.state
        assert isinstance(done.answer, BeforeAnswer)
        self._warnings += len(done.answer.decision.warnings)
        return done.answer

    def _after(self, number: int, calls: tuple[Call, ...], response: Response) -> AfterAnswer:
        event = AfterModel(_ID, number, calls=calls, usage=response.usage)
        done = step(self._state, event, self._policy, response.told_ns)
        self._state = done.state
        assert isinstance(done.answer, AfterAnswer)
        return done.answer

    def _calls(self, index: int, response: Response) -> tuple[Call, ...]:
        ignored = self._policy.ignore_args
        made = []
        for place, (name, args) in enumerate(response.calls):
            call_id = f"{index}.{place}"
            untold = call_id if args is None else ""  # arguments that were not told equal no others
            made.append(Call(call_id, name, fingerprint(_KEY, name, args or "", untold, ignored.get(name, ()))))
        return tuple(made)

    def _stop(self, answer: BeforeAnswer | AfterAnswer, place: tuple[int, int, int]) -> Stop:
        at, index, turn = place
        told = answer.decision
        before = isinstance(answer, BeforeAnswer)
        point = Point.BEFORE_MODEL if before else Point.AFTER_MODEL
        verdict = told.verdict_if_enforced
        unasked = index + (0 if before else 1)
        prompts = self._run.prompts
        later = (prompts[at][unasked:], *prompts[at + 1 :])
        not_run = _size((prompts[at][index:], *prompts[at + 1 :]))
        answered = 1 if verdict is Verdict.FORCE_NONE else 0
        spared = _size((later[0][answered:], *later[1:]))
        saved = Size(_size(later).turns, not_run.function_calls, spared.tokens)
        return Stop(at + 1, turn, point.value, verdict.name.lower(), told.reason.name.lower(), told.message, saved)
