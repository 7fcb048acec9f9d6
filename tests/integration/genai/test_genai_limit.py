"""The turn limit with the real SDK: a model that never stops calling, obeying NONE or not."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from genai_looping import AUTOMATIC, MANUAL, WAYS, Reached, Way

from turnkeeper_client import LimitUnit, Reason, ToolLoopRejected

ASKED = ["ANY"] * 10


def fresh() -> str:
    return f"genai-{uuid.uuid4()}"


@pytest.mark.parametrize("way", WAYS)
def test_ten_turns_as_asked_then_none_with_the_declarations_kept(way: Way, model: Any, tools: Any, state: Any) -> None:
    model.play("demo")
    request_id, reached = fresh(), Reached()
    way(model.guarded(), tools.config(), request_id, reached)
    assert model.modes == [*ASKED, "NONE"]
    assert all(request["declarations"] == ["get_weather"] for request in model.requests)
    assert len(tools.runs) == 10
    assert [run["day"] for run in tools.runs] == [str(number) for number in range(1, 11)]
    assert reached.texts == ["Paris is sunny, 24 °C; I checked as often as I was allowed to."]
    told = state(request_id)
    assert (told["counters"]["turns"], told["counters"]["modelCalls"], told["ended"]) == (10, 11, True)
    assert told["outcome"] == "OUTCOME_COMPLETED"
    assert told["counters"]["tokens"] == str(10 * 412 + 924)
    assert told["caller"] == {"agent": "weather", "provider": "gcp.gemini", "model": "gemini-2.5-flash"}


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_ignores_none_is_one_error_after_eleven_requests(
    way: Way, model: Any, tools: Any, state: Any
) -> None:
    model.play("stubborn")
    request_id, reached = fresh(), Reached()
    with pytest.raises(ToolLoopRejected) as caught:
        way(model.guarded(), tools.config(), request_id, reached)
    error = caught.value
    assert (error.reason, error.counters.turns, error.counters.limit) == (Reason.TURN_LIMIT, 11, 10)
    assert error.counters.unit is LimitUnit.TURNS
    assert error.decision.fallback_code is None
    assert model.modes == [*ASKED, "NONE"]
    assert len(tools.runs) == 10
    assert "11" not in [(call.args or {})["day"] for call in reached.calls]
    assert reached.texts == []
    assert state(request_id)["outcome"] == "OUTCOME_FAILED"


@pytest.mark.parametrize("way", MANUAL)
def test_the_limit_holds_when_the_history_is_trimmed_to_its_last_three_entries(
    way: Way, model: Any, tools: Any
) -> None:
    model.play("stubborn")
    with pytest.raises(ToolLoopRejected):
        way(model.guarded(), tools.config(), fresh(), Reached(), keep=3)
    assert model.modes == [*ASKED, "NONE"]
    assert max(request["contents"] for request in model.requests) == 3
    assert len(tools.runs) == 10


@pytest.mark.parametrize("mode", ["AUTO", "VALIDATED", ""])
@pytest.mark.parametrize("way", [AUTOMATIC[0], MANUAL[1]])
def test_none_overrides_every_mode(way: Way, mode: str, model: Any, tools: Any) -> None:
    model.play("demo")
    way(model.guarded(policy="three"), tools.config(mode), fresh(), Reached())
    assert model.modes == [mode or None] * 3 + ["NONE"]


@pytest.mark.parametrize("way", WAYS)
def test_the_next_prompt_starts_at_zero(way: Way, model: Any, tools: Any) -> None:
    model.play("demo")
    guarded = model.guarded(policy="three")
    for _ in range(2):
        way(guarded, tools.config(), fresh(), Reached())
    assert model.modes == ["ANY", "ANY", "ANY", "NONE"] * 2


@pytest.mark.parametrize("way", AUTOMATIC)
def test_without_a_request_id_each_call_is_a_prompt_of_its_own(way: Way, model: Any, tools: Any) -> None:
    model.play("demo")
    guarded = model.guarded(policy="three")
    for _ in range(2):
        way(guarded, tools.config(), "", Reached())
    assert model.modes == ["ANY", "ANY", "ANY", "NONE"] * 2


@pytest.mark.parametrize("way", MANUAL)
def test_without_a_request_id_the_turns_in_the_contents_are_counted(way: Way, model: Any, tools: Any) -> None:
    model.play("stubborn")
    with pytest.raises(ToolLoopRejected):
        way(model.guarded(policy="three"), tools.config(), "", Reached())
    assert model.modes == ["ANY", "ANY", "ANY", "NONE"]
    assert len(tools.runs) == 3


@pytest.mark.parametrize("way", AUTOMATIC)
def test_the_sdks_own_limit_does_not_end_the_loop_first(way: Way, model: Any, tools: Any) -> None:
    model.play("demo")
    config = tools.config(automatic_function_calling={"maximum_remote_calls": 2})
    way(model.guarded(), config, fresh(), Reached())
    assert model.modes == [*ASKED, "NONE"]


@pytest.mark.parametrize("way", WAYS)
def test_parallel_calls_are_one_turn(way: Way, model: Any, tools: Any, state: Callable[[str], Any]) -> None:
    call = {"name": "get_weather", "args": {"city": "Paris", "day": "{n}"}}
    model.play({"answers": [{"calls": [call, call], "repeat": "forever"}]})
    request_id = fresh()
    way(model.guarded(policy="three"), tools.config(), request_id, Reached())
    counters = state(request_id)["counters"]
    assert (counters["turns"], counters["functionCalls"], len(tools.runs)) == (3, 6, 6)


@pytest.mark.parametrize("way", WAYS)
def test_return_gives_the_last_response_and_runs_nothing_more(way: Way, model: Any, tools: Any) -> None:
    model.play(
        {
            "answers": [
                {"text": "t{n}", "calls": [{"name": "get_weather", "args": {"city": "P", "day": "{n}"}}], "repeat": 9}
            ]
        }
    )
    reached = Reached()
    way(model.guarded(policy="returning"), tools.config(), fresh(), reached)
    assert len(model.requests) == 4
    assert len(tools.runs) == 3
    assert reached.texts[-1] == "t4"
    assert way in AUTOMATIC or len(reached.calls) == 3


@pytest.mark.parametrize("way", WAYS)
def test_return_before_a_model_call_makes_no_further_request(way: Way, model: Any, tools: Any) -> None:
    model.play(
        {
            "answers": [
                {"text": "t{n}", "calls": [{"name": "get_weather", "args": {"city": "P", "day": "{n}"}}], "repeat": 9}
            ]
        }
    )
    reached = Reached()
    if way in (MANUAL[1], MANUAL[3]):  # each stream is a call of its own: the last has nothing to return
        with pytest.raises(ToolLoopRejected):
            way(model.guarded(policy="returning-before"), tools.config(), fresh(), reached)
    else:
        way(model.guarded(policy="returning-before"), tools.config(), fresh(), reached)
    assert (len(model.requests), len(tools.runs)) == (3, 3)


@pytest.mark.parametrize("way", WAYS)
def test_calls_that_are_not_to_be_run_are_answered_and_the_next_request_is_none(
    way: Way, model: Any, tools: Any
) -> None:
    model.play("demo")
    reached = Reached()
    way(model.guarded(policy="once"), tools.config(), fresh(), reached)
    assert model.modes == ["ANY", "ANY", "ANY", "NONE"]
    assert len(tools.runs) == 2
    assert reached.texts == ["Paris is sunny, 24 °C; I checked as often as I was allowed to."]
    assert len(reached.calls) in (0, 2)
    answered = model.body(4)["contents"][-1]["parts"][0]["functionResponse"]
    assert answered["name"] == "get_weather"
    assert "was not run" in str(answered["response"])


@pytest.mark.parametrize("way", WAYS)
def test_removed_tools_are_not_declared(way: Way, model: Any, tools: Any) -> None:
    model.play({"answers": [{"calls": [{"name": "get_weather", "args": {"city": "P", "day": "1"}}]}, {"text": "done"}]})
    reached = Reached()
    way(model.guarded(policy="removing"), tools.config(), fresh(), reached)
    assert [request["declarations"] for request in model.requests] == [["get_weather"], []]
    assert model.modes == ["ANY", None]
    assert reached.texts == ["done"]
