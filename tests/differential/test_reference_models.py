"""The reference models stop where the SDKs they stand for are said to stop."""

import json

import pytest
from measure import KEYS, MEASURED, order
from reference_models import (
    ERROR,
    NOT_RUN,
    RUN,
    TEXT,
    AlwaysCalls,
    ExtensionsAi,
    FirebaseAndroid,
    FirebaseAndroidStream,
    FirebaseFlutter,
    FirebaseIos,
    FirebaseUnity,
    FirebaseUnityStream,
    Measured,
    ReferenceModel,
)

# model, streams: of what, default, requests and turns over the limit, the end
ROWS = [
    (FirebaseIos, (False, True), 10, 1, 0, ERROR),
    (FirebaseAndroid, (False,), 10, 1, 0, ERROR),
    (FirebaseAndroidStream, (True,), 10, 1, 0, ERROR),
    (FirebaseFlutter, (False, True), 5, 0, 0, ERROR),
    (FirebaseUnity, (False,), 5, 1, 0, NOT_RUN),
    (FirebaseUnityStream, (True,), 5, 1, 1, RUN),
    (ExtensionsAi, (False, True), 40, 1, 0, NOT_RUN),
]


@pytest.mark.parametrize("parallel", [1, 3])
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 10, None])
@pytest.mark.parametrize(("kind", "streams", "default", "requests", "turns", "ending"), ROWS)
def test_limits(
    kind: type[ReferenceModel],
    streams: tuple[bool, ...],
    default: int,
    requests: int,
    turns: int,
    ending: str,
    limit: int | None,
    parallel: int,
) -> None:
    n = default if limit is None else limit
    expected = Measured(n + requests, n + turns, (n + turns) * parallel, ending)
    assert [kind().run(limit, AlwaysCalls(parallel, stream)) for stream in streams] == [expected] * len(streams)


@pytest.mark.parametrize("kind", [FirebaseIos, FirebaseFlutter, FirebaseUnityStream, ExtensionsAi])
def test_calls_in_chunks_of_their_own_are_one_turn(kind: type[ReferenceModel]) -> None:
    whole, split = AlwaysCalls(3, stream=True), AlwaysCalls(3, stream=True, split=True)
    assert kind().run(3, split) == kind().run(3, whole)


def test_android_streams_a_turn_a_chunk() -> None:
    split = AlwaysCalls(3, stream=True, split=True)
    assert FirebaseAndroidStream().run(3, split) == Measured(4, 3, 3, ERROR)


@pytest.mark.parametrize("kind", [FirebaseIos, ExtensionsAi])
def test_a_model_that_obeys_ends_in_text(kind: type[ReferenceModel]) -> None:
    assert kind().run(3, AlwaysCalls(1, obedient=True)) == Measured(4, 3, 3, TEXT)


def test_the_fourth_error_in_a_row_is_raised() -> None:
    assert ExtensionsAi().run(None, AlwaysCalls(1, failing=True)) == Measured(4, 4, 4, ERROR)


def test_measured_is_in_order_and_each_case_is_there_once() -> None:
    rows = json.loads(MEASURED.read_text("utf-8"))
    keys = [order(row) for row in rows]
    assert keys == sorted(set(keys))
    assert all(set(KEYS) < set(row) for row in rows)
