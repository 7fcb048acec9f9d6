"""Calls and finish reasons that are rejected, with the real SDK: nothing of the chunk is used, no function is run."""

import uuid
from typing import Any

import pytest
from genai_looping import AUTOMATIC, MODEL, PROMPT, STREAMS, WAYS, Reached, Way
from google import genai
from google.genai import errors, types

from turnkeeper_client import FinishReason, Reason, ToolLoopRejected
from turnkeeper_client.google_genai.wire import seen

CALL = {"name": "get_weather", "args": {"city": "Paris", "day": "{n}"}}
OTHER = {"name": "delete_everything", "args": {}}


def fresh() -> str:
    return f"genai-{uuid.uuid4()}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("finish", ["UNEXPECTED_TOOL_CALL", "MALFORMED_FUNCTION_CALL"])
@pytest.mark.parametrize(
    "answer",
    [
        {"content": False},
        {"text": "never seen"},
        {"calls": [CALL]},
        {"text": "never seen", "calls": [CALL]},
    ],
    ids=["no content", "text", "call", "text and call"],
)
def test_a_bad_finish_reason_is_an_error(way: Way, finish: str, answer: dict[str, Any], model: Any, tools: Any) -> None:
    model.play({"answers": [{"calls": [CALL]}, {**answer, "finish_reason": finish, "finish_message": "get_weather"}]})
    reached = Reached()
    with pytest.raises(ToolLoopRejected) as caught:
        way(model.guarded(), tools.config(), fresh(), reached)
    expected = Reason.MALFORMED_CALL if finish == "MALFORMED_FUNCTION_CALL" else Reason.UNEXPECTED_TOOL_CALL
    assert caught.value.reason is expected
    assert len(tools.runs) == 1
    assert reached.texts == []
    assert all((call.args or {})["day"] == "1" for call in reached.calls)


@pytest.mark.parametrize("way", STREAMS)
def test_a_bad_finish_reason_at_the_end_of_a_stream_discards_its_earlier_calls(
    way: Way, model: Any, tools: Any
) -> None:
    chunks = [{"text": "flows"}, {"calls": [CALL]}, {"finish_reason": "MALFORMED_FUNCTION_CALL", "content": False}]
    model.play({"answers": [{"chunks": chunks}]})
    reached = Reached()
    with pytest.raises(ToolLoopRejected):
        way(model.guarded(), tools.config(), fresh(), reached)
    assert (reached.texts, reached.calls, tools.runs) == (["flows"], [], [])


@pytest.mark.parametrize("way", STREAMS)
def test_one_bad_call_rejects_its_chunk_whole_and_all_calls_before_it(way: Way, model: Any, tools: Any) -> None:
    chunks = [
        {"text": "flows"},
        {"calls": [CALL]},
        {"text": "never seen", "calls": [CALL, OTHER]},
        {"text": "never seen either"},
    ]
    model.play({"answers": [{"chunks": chunks}]})
    reached = Reached()
    with pytest.raises(ToolLoopRejected) as caught:
        way(model.guarded(), tools.config(), fresh(), reached)
    assert caught.value.reason is Reason.TOOL_NOT_ENABLED
    assert (reached.texts, reached.calls, tools.runs) == (["flows"], [], [])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["delete_everything", "", "  "])
def test_a_function_that_is_not_enabled_is_not_run(way: Way, name: str, model: Any, tools: Any) -> None:
    model.play({"answers": [{"calls": [CALL, {"name": name, "args": {}}]}]})
    with pytest.raises(ToolLoopRejected) as caught:
        way(model.guarded(), tools.config(), fresh(), Reached())
    assert caught.value.reason is Reason.TOOL_NOT_ENABLED
    assert tools.runs == []


@pytest.mark.parametrize("way", WAYS)
def test_a_call_although_the_application_asked_for_none(way: Way, model: Any, tools: Any) -> None:
    model.play({"obey_none": False, "answers": [{"calls": [CALL]}]})
    with pytest.raises(ToolLoopRejected) as caught:
        way(model.guarded(), tools.config("NONE"), fresh(), Reached())
    assert caught.value.reason is Reason.DISALLOWED
    assert (model.modes, tools.runs) == (["NONE"], [])


@pytest.mark.parametrize("way", AUTOMATIC)
def test_a_call_although_no_tool_is_enabled(way: Way, model: Any) -> None:
    model.play({"answers": [{"calls": [CALL]}]})
    with pytest.raises(ToolLoopRejected) as caught:
        way(model.guarded(), types.GenerateContentConfig(), fresh(), Reached())
    assert caught.value.reason is Reason.NO_TOOLS_ENABLED
    assert (model.modes, model.requests[0]["declarations"]) == ([None], [])


def test_without_enabled_tools_the_tools_that_the_history_calls_are_declared_with_none(model: Any, tools: Any) -> None:
    model.play({"answers": [{"calls": [CALL]}, {"text": "sunny"}], "none_answer": {"text": "bye"}})
    guarded = model.guarded()
    chat = guarded.chats.create(model=MODEL, config=tools.config())
    assert chat.send_message(PROMPT).text == "sunny"
    assert chat.send_message("Bye.", types.GenerateContentConfig(temperature=0)).text == "bye"
    assert model.modes == ["ANY", "ANY", "NONE"]
    assert [request["declarations"] for request in model.requests] == [["get_weather"]] * 3
    assert [request["contents"] for request in model.requests] == [1, 3, 5]


@pytest.mark.parametrize("way", WAYS)
def test_text_first_then_a_call_is_seen(way: Way, model: Any, tools: Any) -> None:
    chunks = [{"text": "let me see"}, {"calls": [CALL]}, {"text": "", "usage": {"prompt": 5, "candidates": 2}}]
    model.play({"answers": [{"chunks": chunks}, {"text": "sunny"}]})
    reached = Reached()
    way(model.guarded(), tools.config(), fresh(), reached)
    assert len(tools.runs) == 1
    assert reached.texts[-1] == "sunny"


@pytest.mark.parametrize("way", WAYS)
def test_an_error_of_the_model_passes_and_the_next_call_is_another_attempt(
    way: Way, model: Any, tools: Any, state: Any
) -> None:
    model.play({"answers": [{"status": 429, "message": "slow down"}, {"calls": [CALL]}, {"text": "sunny"}]})
    guarded, request_id, reached = model.guarded(), fresh(), Reached()
    with pytest.raises(errors.ClientError):
        way(guarded, tools.config(), request_id, reached)
    way(guarded, tools.config(), request_id, reached)
    counters = state(request_id)["counters"]
    assert (counters["turns"], counters["modelCalls"]) == (1, 2)
    assert reached.texts == ["sunny"]


def test_a_function_that_fails_is_answered_with_its_error(model: Any) -> None:
    def get_weather(city: str, day: str) -> str:
        """Return the weather."""
        message = f"no weather in {city} on {day}"
        raise RuntimeError(message)

    model.play({"answers": [{"calls": [{**CALL, "id": "call-1"}]}, {"text": "sorry"}]})
    config = types.GenerateContentConfig(tools=[get_weather])
    response = model.guarded().models.generate_content(model=MODEL, contents=PROMPT, config=config)
    assert response.text == "sorry"
    answered = model.body(2)["contents"][-1]["parts"][0]["functionResponse"]
    assert (answered["id"], answered["name"]) == ("call-1", "get_weather")
    assert "no weather in Paris on 1" in answered["response"]["error"]


def test_the_history_of_an_automatic_loop_is_told_as_the_sdk_does(model: Any, tools: Any) -> None:
    model.play({"answers": [{"calls": [CALL]}, {"text": "sunny"}]})
    config = tools.config()
    response = model.guarded().models.generate_content(model=MODEL, contents=PROMPT, config=config)
    roles = [content.role for content in response.automatic_function_calling_history]
    assert roles == ["user", "model", "user"]
    off = tools.config(automatic_function_calling={"ignore_call_history": True})
    model.play({"answers": [{"calls": [CALL]}, {"text": "sunny"}]})
    assert (
        not model.guarded()
        .models.generate_content(model=MODEL, contents=PROMPT, config=off)
        .automatic_function_calling_history
    )


@pytest.mark.asyncio
async def test_chats_keep_their_history_and_a_rejected_message_leaves_it(model: Any, tools: Any) -> None:
    model.play({"answers": [{"calls": [CALL]}, {"text": "sunny"}, {"calls": [OTHER]}, {"text": "again"}]})
    guarded = model.guarded()
    chat = guarded.aio.chats.create(model=MODEL, config=tools.config("AUTO"))
    assert (await chat.send_message(PROMPT)).text == "sunny"
    assert [content.role for content in chat.get_history()] == ["user", "model", "user", "model"]
    with pytest.raises(ToolLoopRejected):
        await chat.send_message("And now?")
    assert len(chat.get_history()) == 4
    assert [chunk.text async for chunk in await chat.send_message_stream("Once more?")] == ["again"]
    assert len(chat.get_history(curated=True)) == 6
    assert guarded.models.count_tokens is not None
    assert isinstance(guarded._client, genai.Client)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("STOP", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("MALFORMED_FUNCTION_CALL", FinishReason.MALFORMED_FUNCTION_CALL),
        ("UNEXPECTED_TOOL_CALL", FinishReason.UNEXPECTED_TOOL_CALL),
        ("TOO_MANY_TOOL_CALLS", FinishReason.OTHER),
        ("SOMETHING_NEW", FinishReason.OTHER),
        (None, FinishReason.UNSPECIFIED),
    ],
)
def test_finish_reasons_are_normalised(raw: str | None, expected: FinishReason) -> None:
    response = types.GenerateContentResponse.model_validate({"candidates": [{"finish_reason": raw}, {}]})
    told, calls = seen(response, lambda call: call, partial=False)
    assert (told.finish_reason, told.raw_finish_reason, calls) == (expected, raw or "", {})


def test_a_bad_finish_of_any_candidate_is_told() -> None:
    candidates = [{"finish_reason": "STOP"}, {"finish_reason": "MALFORMED_FUNCTION_CALL"}]
    response = types.GenerateContentResponse.model_validate({"candidates": candidates})
    assert seen(response, lambda call: call, partial=False)[0].finish_reason is FinishReason.MALFORMED_FUNCTION_CALL
