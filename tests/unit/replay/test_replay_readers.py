"""Each format, on a small input as such programs write it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnkeeper.core.events import Usage
from turnkeeper.replay.formats import detect, events, otlp
from turnkeeper.replay.runs import FormatError, FunctionCall, Run
from turnkeeper.replay.source import Bad, read

Read = Callable[[Path], list[Run]]


def shape(run: Run) -> list[list[tuple[int, int]]]:
    """Return (calls, results) of each response of each prompt."""
    return [[(len(response.calls), len(response.results)) for response in prompt] for prompt in run.prompts]


def test_trajectories(runs: Read, data: Path) -> None:
    stuck, polls, shop = runs(data / "trajectories.jsonl")
    assert (stuck.id, stuck.agent, stuck.model, stuck.success) == ("stuck", "coder", "m-1", False)
    assert shape(stuck) == [[(1, 1)] * 9 + [(0, 0)]]
    assert shape(shop) == [[(1, 1), (0, 0)]] * 2
    assert stuck.prompts[0][0].usage.tokens == 20
    assert len({response.results[0].digest for response in polls.prompts[0][1:-1]}) == 7


def test_trajectories_gzipped(runs: Read, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "without_a_telling_name"
    path.write_bytes(gzip.compress((data / "trajectories.jsonl").read_bytes()))
    plain = runs(data / "trajectories.jsonl")
    assert [run.prompts for run in runs(path)] == [run.prompts for run in plain]


def test_openai_messages(runs: Read, data: Path) -> None:
    (run,) = runs(data / "openai.jsonl")
    assert (run.id, run.model) == ("oa-1", "gpt-x")
    assert shape(run) == [[(2, 2)] * 5 + [(0, 0)], [(0, 0)]]
    assert run.prompts[0][0].calls == (FunctionCall("job_status", '{"job": 7}'), FunctionCall("clock", "{}"))


def test_messages_without_an_object_around_them(runs: Read, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_text(json.dumps(json.loads((data / "openai.jsonl").read_text())["messages"]))
    assert shape(runs(path)[0]) == shape(runs(data / "openai.jsonl")[0])


def test_anthropic_messages(runs: Read, data: Path) -> None:
    (run,) = runs(data / "anthropic.jsonl")
    assert shape(run) == [[(1, 1)] * 6 + [(0, 0)]]
    first = run.prompts[0][0]
    assert first.calls == (FunctionCall("bash", '{"command":"pytest -k t0"}'),)
    assert first.results[0].is_error
    assert first.usage == Usage(150, 12)
    assert run.success is False


def test_gemini_contents_match_results_by_name(runs: Read, data: Path) -> None:
    (run,) = runs(data / "gemini.json")
    assert shape(run) == [[(2, 2)] * 4 + [(0, 0)]]
    assert [result.call for result in run.prompts[0][0].results] == [0, 1]
    assert [result.is_error for result in run.prompts[0][0].results] == [False, True]


def test_gemini_in_the_spelling_of_python(runs: Read, tmp_path: Path) -> None:
    path = tmp_path / "contents.jsonl"
    contents = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"function_call": {"id": "a", "name": "f", "args": {"x": 1}}}]},
        {"role": "user", "parts": [{"function_response": {"id": "a", "name": "f", "response": {"result": 2}}}]},
    ]
    path.write_text(json.dumps(contents))
    assert shape(runs(path)[0]) == [[(1, 1)]]


def test_atif(runs: Read, data: Path) -> None:
    (run,) = runs(data / "atif.json")
    assert (run.id, run.agent, run.model) == ("at-1", "tidy", "m-2")
    assert shape(run) == [[(1, 1)] * 5 + [(0, 0)]]
    first, second = run.prompts[0][:2]
    assert first.usage == Usage(1000, 50, cost_micro_usd=10_000)
    assert second.asked_ns - first.asked_ns == 600 * 10**9


def test_otlp_traces_are_put_together_from_several_lines(runs: Read, data: Path) -> None:
    found = {run.agent: run for run in runs(data / "otlp.jsonl")}
    assert set(found) == {"shopper", "helper"}
    shopper, helper = found["shopper"], found["helper"]
    assert shape(shopper) == [[(1, 1)] * 5]
    assert shopper.prompts[0][0].calls == (FunctionCall("search", '{"q":"blue shoes"}'),)
    assert (shopper.model, shopper.prompts[0][0].usage) == ("m-3", Usage(200, 10))
    assert shape(helper) == [[(1, 1), (0, 0)]]
    assert helper.prompts[0][0].calls == (FunctionCall("look", None),)
    assert helper.prompts[0][0].results[0].is_error


def test_otlp_keeps_a_bounded_number_of_spans(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "SPANS_MAX", 3)
    gatherer = otlp.Gatherer()
    line = (data / "otlp.jsonl").read_bytes().splitlines()[0]
    other = line.replace(b"5b8efff798038103d269b633813fc60c", b"6" * 32)
    told = [run.id[:4] for run in (*gatherer.add(line, "f:1"), *gatherer.add(other, "f:2"), *gatherer.close())]
    assert told == ["5b8e", "6666"]


def test_events_of_mixed_requests(runs: Read, data: Path) -> None:
    first, second = runs(data / "events.jsonl")
    assert (first.id, first.agent, shape(first)) == ("ev-1", "mailer", [[(1, 1)] * 4 + [(1, 0)]])
    assert (second.id, shape(second)) == ("ev-2", [[(0, 0)]])
    assert first.prompts[0][0].asked_ns == 101_000_000_000


def test_events_of_a_retry_and_of_chunks_are_one_response() -> None:
    def line(**event: Any) -> bytes:
        (kind,) = event
        return json.dumps({kind: {"request_id": "r", "model_call": 1, **event[kind]}}).encode()

    lines = [
        line(before_model={}),
        line(after_model={"calls": [{"id": "a", "name": "f"}], "usage": {"total_tokens": 3}}),
        line(before_model={"attempt": 1}),
        line(after_model={"attempt": 1, "calls": [{"id": "b", "name": "f"}]}),
        line(after_model={"attempt": 1, "chunk": 1, "calls": [{"id": "b", "name": "f"}, {"id": "c", "name": "g"}]}),
        line(end_request={}),
    ]
    gatherer = events.Gatherer()
    (run,) = [run for at, each in enumerate(lines) for run in gatherer.add(each, f"f:{at}")]
    assert [[call.name for call in response.calls] for response in run.prompts[0]] == [["f", "g"]]


def test_events_keep_a_bounded_number_of_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "OPEN_MAX", 2)
    gatherer = events.Gatherer()
    lines = [json.dumps({"after_model": {"request_id": f"r{n}"}}).encode() for n in range(5)]
    told = [run.id for line in lines for run in gatherer.add(line, "f:1")]
    assert told == ["r0", "r1", "r2"]
    assert [run.id for run in gatherer.close()] == ["r3", "r4"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"not json", "not JSON"),
        (b'{"prompts": [', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'"text"', "not JSON that can be read"),
        (b"{}", "no known format"),
        (b'{"steps": []}', "no known format"),
        (b"[1, 2]", "not JSON that can be read"),
        (b"[]", "no messages"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_a_line_of_no_known_format(line: bytes, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        detect(line)


def test_bad_lines_are_told_with_their_place_and_the_others_are_read(data: Path, tmp_path: Path) -> None:
    good = (data / "trajectories.jsonl").read_bytes().splitlines()[0]
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"\n".join([good, b"oops", b"", b'{"resourceSpans": 3}', good]))
    found = list(read(path, lambda _: None))
    assert [each.where.rpartition(":")[2] for each in found] == ["1", "2", "4", "5"]
    assert [isinstance(each, Bad) for each in found] == [False, True, True, False]


def test_a_damaged_gzip_is_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.gz"
    path.write_bytes(gzip.compress(b'{"prompts": []}\n' * 1000)[:-10])
    (*_, last) = read(path, lambda _: None)
    assert isinstance(last, Bad)
    assert "gzip" in last.message
