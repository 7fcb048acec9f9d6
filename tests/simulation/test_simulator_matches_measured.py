"""The simulator under a profile stops where the real SDK was measured to stop, and where a reference model does."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from loop_simulator import UNLIMITED, Daemon, Model, Outcome, profile, simulate
from reference_models import (
    AlwaysCalls,
    ExtensionsAi,
    FirebaseAndroid,
    FirebaseAndroidStream,
    FirebaseFlutter,
    FirebaseIos,
    FirebaseUnity,
    FirebaseUnityStream,
    ReferenceModel,
)

MEASURED = Path(__file__).parents[1] / "differential" / "measured.json"
Row = dict[str, Any]


class Match(NamedTuple):
    """Which rows of the measurement a profile stands for; globs."""

    sdk: str
    api: str
    mode: str
    profile: str
    more: str = ""


MATCHES = (
    Match("google-genai", "*", "*", "genai-python"),
    Match("google-genai-2.23", "*", "*", "genai-python-2.23"),
    Match("java-genai", "*", "unary", "genai-java"),
    Match("java-genai-*", "*-async", "unary", "genai-java"),
    Match("java-genai-*", "*", "unary", "genai-java-sync"),
    Match("js-genai*", "*", "unary", "genai-js"),
    Match("js-genai*", "*", "stream", "genai-js-stream"),
    Match("firebase", "chat", "*", "firebase-web"),
    Match("openai-agents", "run", "*", "openai-agents"),
    Match("vercel-ai", "*", "*", "vercel-ai"),
    Match("pydantic-ai", "request_limit", "*", "pydantic-ai"),
    Match("langchain", "model_calls-end", "*", "langchain-model-calls"),
    Match("langchain", "model_calls-error", "*", "langchain-model-calls", ", disposition: raise"),
    Match("smolagents", "max_steps", "*", "smolagents"),
    Match("google-adk", "max_llm_calls", "*", "google-adk"),
)
NO_PROFILE = (
    ("langchain", "*", "*", "other limits of LangChain, of tool calls and of graph steps"),
    ("pydantic-ai", "tool_calls_limit", "*", "a limit of calls that counts a batch before it runs"),
    ("java-genai*", "*", "stream", "streamed, this SDK calls no function by itself"),
)


class Explained(NamedTuple):
    """Rows in which the SDK does something else, and why the profile does not. Globs; ``limit`` is a word.

    ``counts``: requests, turns and calls are the same all the same, only the end is another.
    """

    sdk: str
    api: str
    mode: str
    shape: str
    limit: str
    why: str
    counts: bool = False


FIRST_CHUNK = "it looks at the first chunk alone: calls of later ones are given back, or lost, unrun"
NO_LIMIT = "0 is no limit there; a count of 0 allows none, and n: off is no limit"
NO_REQUEST = "its synchronous loop makes no request at 0, and then fails"
EXPLAINED = (
    Explained("firebase", "chat", "stream", "split", "*", FIRST_CHUNK),
    Explained("firebase", "chat", "stream", "text_first", "*", FIRST_CHUNK),
    Explained("google-adk", "*", "*", "*", "0", NO_LIMIT),
    Explained("vercel-ai", "*", "*", "*", "0", NO_LIMIT),
    Explained("vercel-ai", "generateText", "*", "*", "default", "the profile has the default of ToolLoopAgent; here it is 1"),
    Explained("java-genai", "models", "*", "*", "0", NO_REQUEST),
    Explained("java-genai", "chats", "*", "*", "0", NO_REQUEST),
    Explained("smolagents", "*", "*", "*", "0", "its one request is made, and then it fails", counts=True),
    Explained("langchain", "model_calls-end", "*", "*", "*", "it adds a message of its own that says so", counts=True),
    Explained("pydantic-ai", "*", "stream", "text_first", "*", "a streamed text is its final result; the run ends there"),
)  # fmt: skip


def told(row: Row) -> str:
    return "default" if row["limit"] is None else str(row["limit"])


def fits(row: Row, *globs: str) -> bool:
    values = (row["sdk"], row["api"], row["mode"], row["shape"], told(row))
    return all(fnmatchcase(value, glob) for value, glob in zip(values, globs, strict=False))


def match(row: Row) -> Match | None:
    return next((one for one in MATCHES if fits(row, one.sdk, one.api, one.mode)), None)


def explained(row: Row) -> Explained | None:
    return next((one for one in EXPLAINED if fits(row, *one[:5])), None)


def simulated(row: Row, one: Match) -> Outcome:
    """Play a row; a measurement that was cut off is cut off here too."""
    model = Model(row["parallel"], row["mode"] == "stream", row["shape"])
    cut = row["requests"] if row["ending"] == UNLIMITED else 1000
    return simulate(Daemon(profile(one.profile, row["limit"], one.more)), model, cut=cut)


def measured(row: Row) -> Outcome:
    return Outcome(row["requests"], row["turns_run"], row["calls_run"], row["ending"])


def rows() -> Iterator[Row]:
    yield from json.loads(MEASURED.read_text("utf-8"))


def groups() -> dict[str, list[Row]]:
    """Return the rows that a profile stands for, by SDK, interface and mode."""
    found: dict[str, list[Row]] = {}
    for row in rows():
        if match(row):
            found.setdefault(f"{row['sdk']} {row['version']} {row['api']} {row['mode']}", []).append(row)
    return found


def differs(row: Row) -> bool:
    """Tell whether the simulator does something else, or something else than explained."""
    one, why = match(row), explained(row)
    assert one is not None
    here, there = simulated(row, one), measured(row)
    if why is None:
        return here != there
    return here == there or (why.counts and replace(here, ending=there.ending) != there)


@pytest.mark.parametrize("group", groups().values(), ids=groups())
def test_the_profile_stops_where_the_sdk_does(group: list[Row]) -> None:
    assert [row for row in group if differs(row)] == []


def test_every_row_has_a_profile_or_a_reason_for_none() -> None:
    without = [row for row in rows() if not match(row) and not any(fits(row, *one[:3]) for one in NO_PROFILE)]
    assert not without


def test_every_explanation_is_needed() -> None:
    needed = {explained(row) for row in rows() if match(row)}
    assert [one for one in EXPLAINED if one not in needed] == []


REFERENCES = (
    (FirebaseIos, "firebase-ios", False),
    (FirebaseIos, "firebase-ios", True),
    (FirebaseAndroid, "firebase-android", False),
    (FirebaseAndroidStream, "firebase-android", True),
    (FirebaseFlutter, "firebase-flutter", False),
    (FirebaseFlutter, "firebase-flutter", True),
    (FirebaseUnity, "firebase-unity", False),
    (FirebaseUnityStream, "firebase-unity-stream", True),
    (ExtensionsAi, "extensions-ai", False),
    (ExtensionsAi, "extensions-ai", True),
)


@pytest.mark.parametrize("obeys", [False, True])
@pytest.mark.parametrize("parallel", [1, 3])
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 10, None])
@pytest.mark.parametrize(("kind", "name", "stream"), REFERENCES)
def test_the_profile_stops_where_the_reference_model_does(
    kind: type[ReferenceModel], name: str, stream: bool, limit: int | None, parallel: int, obeys: bool
) -> None:
    told = kind().run(limit, AlwaysCalls(parallel, stream, obedient=obeys))
    model = Model(parallel, stream, obeys_none=obeys, calls_undeclared=not obeys)
    assert asdict(simulate(Daemon(profile(name, limit)), model)) == asdict(told)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, name, stream in REFERENCES if stream and kind is not FirebaseAndroidStream],
)
def test_calls_in_chunks_of_their_own_are_one_turn_there_too(kind: type[ReferenceModel], name: str) -> None:
    told = kind().run(3, AlwaysCalls(3, stream=True, split=True))
    model = Model(3, stream=True, shape="split", calls_undeclared=True)
    assert asdict(simulate(Daemon(profile(name, 3)), model)) == asdict(told)


def test_android_counts_chunks_where_the_profile_counts_turns() -> None:
    told = FirebaseAndroidStream().run(3, AlwaysCalls(3, stream=True, split=True))
    here = simulate(Daemon(profile("firebase-android", 3)), Model(3, stream=True, shape="split"))
    assert (told.requests, told.calls_run, told.ending) == (4, 3, "error")
    assert (here.requests, here.calls_run, here.ending) == (4, 9, "error")
