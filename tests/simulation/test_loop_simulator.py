"""Every profile stops a loop where its SDK does: so many requests, so many turns run, and this end.

The rows are written here as the sources have them, as formulas of N; nothing is taken from the policies.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from loop_simulator import ERROR, NOT_RUN, RUN, TEXT, UNLIMITED, Daemon, Model, Outcome, profile, simulate

from turnkeeper import policies

Formula = Callable[[int], int]


@dataclass(frozen=True)
class Row:
    """``zero`` replaces the end at N = 0; ``undeclared`` is the end for a model that calls what is not declared."""

    default: int | None
    requests: Formula
    turns: Formula
    ending: str
    zero: str = ""
    undeclared: str = ""

    def outcome(self, n: int, model: Model) -> Outcome:
        """Return what has to come of a loop with the limit n."""
        ending = self.undeclared if model.calls_undeclared and self.undeclared else self.ending
        ending = self.zero if n == 0 and self.zero else ending
        return Outcome(self.requests(n), self.turns(n), self.turns(n) * model.parallel, ending)


def same(n: int) -> int:
    return n


def more(n: int) -> int:
    return n + 1


def less(n: int) -> int:
    return max(0, n - 1)


def at_least_one(n: int) -> int:
    return max(1, n)


ROWS = {
    "firebase-ios": Row(10, more, same, ERROR),
    "firebase-android": Row(10, more, same, ERROR),
    "firebase-web": Row(10, more, same, NOT_RUN),
    "firebase-flutter": Row(5, same, same, ERROR),
    "firebase-unity": Row(5, more, same, NOT_RUN),
    "firebase-unity-stream": Row(5, more, more, RUN),
    "genai-python": Row(10, at_least_one, less, NOT_RUN),
    "genai-python-2.23": Row(10, at_least_one, same, RUN, zero=NOT_RUN),
    "genai-java": Row(10, at_least_one, less, NOT_RUN),
    "genai-java-sync": Row(10, same, same, RUN, zero=ERROR),
    "genai-js": Row(10, at_least_one, same, RUN, zero=NOT_RUN),
    "genai-js-stream": Row(10, more, same, NOT_RUN),
    "extensions-ai": Row(40, more, same, TEXT, undeclared=NOT_RUN),
    "strict": Row(10, same, same, ERROR),
    "openai-agents": Row(10, same, same, ERROR),
    "pydantic-ai": Row(50, same, same, ERROR),
    "google-adk": Row(500, same, same, ERROR),
    "litellm-max-iterations": Row(None, same, same, ERROR),
    "langchain-model-calls": Row(None, same, same, RUN, zero=ERROR),
    "vercel-ai": Row(20, same, same, RUN, zero=ERROR),
    "smolagents": Row(20, more, same, TEXT, undeclared=NOT_RUN),
    "gemini-cli": Row(100, same, same, RUN, zero=ERROR),
}
LIMITS = (0, 1, 2, 3, 5, 10)
MODELS = {
    "unary": Model(),
    "unary, 3 calls": Model(parallel=3),
    "unary, text and 3 calls": Model(parallel=3, shape="text_first"),
    "stream": Model(stream=True),
    "stream, 3 calls": Model(stream=True, parallel=3),
    "stream, 3 calls in 3 chunks": Model(stream=True, parallel=3, shape="split"),
    "stream, text first": Model(stream=True, shape="text_first"),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@models
@pytest.mark.parametrize("name", ROWS)
def test_row(name: str, model: Model) -> None:
    row = ROWS[name]
    for n in LIMITS:
        assert simulate(Daemon(profile(name, n)), model) == row.outcome(n, model), n
    if row.default is not None:
        found = simulate(Daemon(profile(name)), model, cut=row.default + 20)
        assert found == row.outcome(row.default, model)


@models
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.default is None] + ["genai-go"])
def test_without_a_limit_a_loop_is_not_stopped(name: str, model: Model) -> None:
    assert simulate(Daemon(profile(name)), model, cut=30) == Outcome(30, 30, 30 * model.parallel, UNLIMITED)


@pytest.mark.parametrize("n", [0, 3])
def test_what_only_observes_stops_nothing(n: int) -> None:
    observed = profile("genai-go", n, ", before: {then: reject}, after: {then: reject}")
    assert simulate(Daemon(observed), Model(), cut=30) == Outcome(30, 30, 30, UNLIMITED)


def test_every_profile_has_a_row() -> None:
    assert {*ROWS, "genai-go", "default"} == set(policies.load(None).policies)


@pytest.mark.parametrize("name", ["extensions-ai", "smolagents"])
@pytest.mark.parametrize("n", LIMITS)
def test_a_model_that_calls_what_is_not_declared(name: str, n: int) -> None:
    model = Model(calls_undeclared=True)
    assert simulate(Daemon(profile(name, n)), model) == ROWS[name].outcome(n, model)


@pytest.mark.parametrize("n", LIMITS)
def test_a_model_that_obeys_none_answers(n: int) -> None:
    assert simulate(Daemon(profile("firebase-ios", n)), Model(obeys_none=True)) == Outcome(n + 1, n, n, TEXT)


def test_the_fourth_turn_in_a_row_with_an_error_is_the_last() -> None:
    model = Model(parallel=3, fails=True)
    assert simulate(Daemon(profile("extensions-ai")), model) == Outcome(4, 4, 12, ERROR)


@pytest.mark.parametrize(
    ("name", "outcome"), [("strict", Outcome(2, 1, 1, ERROR)), ("gemini-cli", Outcome(5, 4, 4, NOT_RUN))]
)
def test_a_model_that_repeats_a_call(name: str, outcome: Outcome) -> None:
    assert simulate(Daemon(profile(name)), Model(repeats=True)) == outcome


@pytest.mark.parametrize("name", [name for name in ROWS if name not in ("strict", "gemini-cli")])
def test_other_profiles_know_no_repetition(name: str) -> None:
    model = Model(repeats=True)
    assert simulate(Daemon(profile(name, 7)), model) == ROWS[name].outcome(7, model)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize(
    "model",
    [Model(calls_undeclared=True), Model(stream=True, parallel=2, shape="split", calls_undeclared=True)],
    ids=["unary", "stream"],
)
def test_state_that_is_lost_lets_no_further_turn_run(name: str, model: Model) -> None:
    for n in range(4):
        policy, most = profile(name, n), ROWS[name].turns(n)
        whole = Daemon(policy)
        simulate(whole, model)
        for event in range(whole.events + 1):
            assert simulate(Daemon(policy, frozenset({event})), model).turns_run <= most, (n, event)
        every = frozenset(range(whole.events + 20))
        assert simulate(Daemon(policy, every), model).turns_run <= most, n
