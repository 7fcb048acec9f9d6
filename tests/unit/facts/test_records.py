"""The codec of the pipe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observer_feed import decision, loop_end, policies

from turnkeeper.facts.records import (
    FRAME_BYTES_MAX,
    CounterPoint,
    Exemplar,
    Facts,
    Frame,
    Hello,
    HistogramPoint,
    Report,
    Snapshot,
    Status,
    Stop,
    Unpacker,
    pack,
)

FRAMES: list[Frame] = [
    Hello("1.0", 5, "instance"),
    Snapshot(
        9,
        complete=True,
        counters={"evictions": (CounterPoint(("ttl",), 3),)},
        gauges={"active": (CounterPoint(("a",), 1),)},
        histograms={"request_turns": (HistogramPoint(("a", "b"), (0, 2), 3.0, 2, (Exemplar(1.5, 2, "t", "s"),)),)},
    ),
    Status(3, ready=True, reason="", body="{}"),
    Facts((decision(1), loop_end(2, links=(("", "a" * 16),)), policies(3))),
    Report(4, {"export_failed": 2}, 1),
    Stop(1.5),
]


@given(st.integers(1, 4_000))
def test_frames_arrive_whole_however_they_are_cut(size: int) -> None:
    stream, unpacker = b"".join(map(pack, FRAMES)), Unpacker()
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [frame for piece in pieces for frame in unpacker.feed(piece)] == FRAMES


@given(st.binary(max_size=200))
def test_garbage_is_a_value_error_or_waits_for_more(data: bytes) -> None:
    try:
        for frame in Unpacker().feed(data):
            assert isinstance(frame, Frame)
    except ValueError:
        pass


def test_a_frame_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{FRAME_BYTES_MAX + 1} bytes, at most {FRAME_BYTES_MAX}"):
        list(Unpacker().feed((FRAME_BYTES_MAX + 1).to_bytes(4, "little")))
