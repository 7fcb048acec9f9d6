"""The guard for hand-written loops: numbers, held chunks, verdicts applied, the end."""

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from scripted_daemon import ScriptedDaemon, answer, refuse

from turnkeeper_client import (
    AsyncTurnKeeper,
    Caller,
    FinishReason,
    FunctionCall,
    Loop,
    Mode,
    Reason,
    Seen,
    ToolLoopRejected,
    TurnKeeper,
    Usage,
    digest,
)
from turnkeeper_client._gen import turnkeeper_pb2 as pb

FORCE_NONE = answer(
    verdict=pb.VERDICT_FORCE_NONE, reason=pb.REASON_FUNCTION_CALL_LIMIT, mode=pb.MODE_NONE, model_hint="Answer."
)
REJECT = answer(verdict=pb.VERDICT_REJECT, reason=pb.REASON_TURN_LIMIT, disposition=pb.DISPOSITION_RAISE)
RETURN = answer(verdict=pb.VERDICT_REJECT, reason=pb.REASON_TURN_LIMIT, disposition=pb.DISPOSITION_RETURN)
ALLOW = answer()


@pytest.fixture
def daemon() -> Iterator[ScriptedDaemon]:
    with ScriptedDaemon() as scripted:
        yield scripted


@pytest.fixture
def keeper(daemon: ScriptedDaemon) -> Iterator[TurnKeeper]:
    with TurnKeeper(address=daemon.address, deadline_ms=2000) as client:
        yield client


def call(name: str = "search", call_id: str = "") -> FunctionCall:
    return FunctionCall(call_id, name, "{}")


def seen(*calls: FunctionCall, **more: Any) -> Seen:
    return Seen(calls, **more)


def of(daemon: ScriptedDaemon, kind: type[Any]) -> list[Any]:
    return [event for event in daemon.events if isinstance(event, kind)]


def test_model_calls_and_turns_are_numbered(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    with keeper.loop("r1", caller=Caller(agent="a"), policy="web", tenant="t") as loop:
        for _ in range(3):
            loop.model_call(mode=Mode.ANY)
            assert loop.response(seen(call())).run
        loop.model_call()
        assert not loop.response(seen(text=True)).calls
    befores, afters = of(daemon, pb.BeforeModelRequest), of(daemon, pb.AfterModelRequest)
    assert [event.model_call for event in befores] == [1, 2, 3, 4]
    assert [event.transcript.turns_since_prompt for event in befores] == [0, 1, 2, 3]
    assert [event.turns_since_prompt for event in afters] == [0, 1, 2, 3]
    assert [event.mode_sent for event in afters] == [pb.MODE_ANY] * 3 + [0]
    assert [event.calls[0].id for event in afters[:3]] == ["1.1", "2.1", "3.1"]
    assert all((event.caller.agent, event.policy, event.tenant) == ("a", "web", "t") for event in (*befores, *afters))
    end = daemon.events[-1]
    assert (end.request_id, end.outcome, end.tenant) == ("r1", pb.OUTCOME_COMPLETED, "t")


def test_without_a_request_id_each_loop_has_a_fresh_one(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    for _ in range(2):
        with keeper.loop() as loop:
            loop.model_call()
    ids = {event.request_id for event in daemon.events}
    assert len(ids) == 2
    assert all(len(request_id) == 36 for request_id in ids)


def test_results_are_digested_and_told_with_the_next_model_call(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    with keeper.loop("r1") as loop:
        loop.model_call()
        checked = loop.response(seen(call("a", "c1"), call("b", "c2")))
        loop.result(checked.run[0], {"secret": "weather"})
        loop.result(checked.run[1], "boom", is_error=True)
        loop.model_call()
        loop.response(seen(text=True))
        loop.model_call()
    first, second, third = of(daemon, pb.BeforeModelRequest)
    assert not first.results
    assert [(r.call_id, r.name, r.is_error) for r in second.results] == [("c1", "a", False), ("c2", "b", True)]
    assert second.results[1].digest == hashlib.sha256(b"boom").digest()
    assert not third.results
    assert not any(b"secret" in event.SerializeToString() for event in daemon.events)


def test_equal_results_have_equal_digests() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest("x") == digest(b"x") != digest("y")
    assert len(digest(object)) == 32


def test_a_retry_is_another_attempt_with_the_same_ids(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    with keeper.loop("r1") as loop:
        loop.model_call()
        loop.chunk("c", seen(call()))
        loop.retry()
        loop.model_call()
        loop.response(seen(call()))
        loop.model_call()
    befores, afters = of(daemon, pb.BeforeModelRequest), of(daemon, pb.AfterModelRequest)
    assert [(event.model_call, event.attempt) for event in befores] == [(1, 0), (1, 1), (2, 0)]
    assert [event.transcript.turns_since_prompt for event in befores] == [0, 0, 1]
    assert [(event.attempt, event.calls[0].id) for event in afters] == [(0, "1.1"), (1, "1.1")]


def test_a_loop_can_be_taken_up_with_the_daemons_number(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [lambda *_: _numbered(7)]
    loop = Loop(keeper, "r1")
    loop._mid_loop = True
    assert loop.model_call(turns_since_prompt=3).model_call == 7
    loop.response(seen(call()))
    loop.model_call()
    befores, (after,) = of(daemon, pb.BeforeModelRequest), of(daemon, pb.AfterModelRequest)
    assert [event.model_call for event in befores] == [0, 8]
    assert (after.model_call, after.turns_since_prompt) == (7, 3)


def _numbered(number: int) -> bytes:
    message = pb.BeforeModelResponse.FromString(ALLOW(pb.BeforeModelRequest(), None))  # type: ignore[arg-type]
    message.model_call = number
    return message.SerializeToString()


# --- verdicts -------------------------------------------------------------------------------------------------


def test_a_rejected_model_call_raises_and_ends_the_loop(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [REJECT]
    with pytest.raises(ToolLoopRejected) as caught, keeper.loop("r1") as loop:
        loop.model_call()
    assert (caught.value.reason, caught.value.counters.limit) == (Reason.TURN_LIMIT, 10)
    assert daemon.events[-1].outcome == pb.OUTCOME_FAILED


def test_return_with_nothing_to_return_raises(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [RETURN]
    with pytest.raises(ToolLoopRejected), keeper.loop() as loop:
        loop.model_call()


def test_return_after_a_response_gives_it_back(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [ALLOW, RETURN]
    ran = []
    with keeper.loop() as loop:
        loop.model_call()
        ran = list(loop.response(seen(call()), "the response").run)
    assert (ran, loop.last) == ([], "the response")
    assert loop.rejection is not None
    assert daemon.events[-1].outcome == pb.OUTCOME_COMPLETED


def test_return_before_a_model_call_gives_back_the_one_before(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [ALLOW, ALLOW, RETURN]
    with keeper.loop() as loop:
        loop.model_call()
        loop.response(seen(call()), "the response")
        loop.model_call()
        pytest.fail("the model call was not to be made")
    assert loop.last == "the response"


def test_forced_none_answers_every_call_with_its_text(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [ALLOW, FORCE_NONE, FORCE_NONE]
    with keeper.loop() as loop:
        loop.model_call(mode=Mode.ANY)
        checked = loop.response(seen(call("a"), call("b")))
        assert not checked.run
        assert [(not_run.name, text) for not_run, text in checked.not_run] == [("a", "not run"), ("b", "not run")]
        assert checked.calls
        assert loop.model_call(mode=Mode.ANY).mode is Mode.NONE
        assert loop.mode_sent is Mode.NONE


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, pb.OUTCOME_COMPLETED),
        (RuntimeError("x"), pb.OUTCOME_FAILED),
        (KeyboardInterrupt(), pb.OUTCOME_CANCELLED),
        (asyncio.CancelledError(), pb.OUTCOME_CANCELLED),
    ],
)
def test_the_end_tells_how(
    daemon: ScriptedDaemon, keeper: TurnKeeper, error: BaseException | None, outcome: int
) -> None:
    def body() -> None:
        with keeper.loop() as loop:
            loop.model_call()
            if error is not None:
                raise error

    if error is None:
        body()
    else:
        with pytest.raises(type(error)):
            body()
    assert daemon.events[-1].outcome == outcome


# --- streams --------------------------------------------------------------------------------------------------


def test_text_flows_and_is_not_told(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    with keeper.loop() as loop:
        loop.model_call()
        assert loop.chunk("a", seen(text=True)) == ["a"]
        assert loop.chunk("b", seen(text=True)) == ["b"]
        assert not of(daemon, pb.AfterModelRequest)
        assert not loop.chunks_done().calls
    (after,) = of(daemon, pb.AfterModelRequest)
    assert (after.chunk, after.last, after.has_text) == (3, True, True)


def test_calls_are_held_until_the_last_chunk_is_answered(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    with keeper.loop() as loop:
        loop.model_call()
        assert loop.chunk("text", seen(text=True)) == ["text"]
        assert loop.chunk("call", seen(call("a"))) == []
        assert loop.chunk("more", seen(text=True)) == []
        assert loop.chunk("end", seen(call("b"), finish_reason=FinishReason.STOP, usage=Usage(1, 2, 3))) == []
        checked = loop.chunks_done()
    assert checked.items == ("call", "more", "end")
    assert [run.name for run in checked.run] == ["a", "b"]
    afters = of(daemon, pb.AfterModelRequest)
    assert [(event.chunk, event.last, [c.id for c in event.calls]) for event in afters] == [
        (2, False, ["1.1"]),
        (4, True, ["1.2"]),
    ]
    assert (afters[-1].usage.total_tokens, afters[-1].has_text) == (3, True)


def test_a_chunk_after_the_finish_reason_is_the_last(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    with keeper.loop() as loop:
        loop.model_call()
        assert loop.chunk("end", seen(finish_reason=FinishReason.STOP)) == []
        assert loop.chunk("usage", seen(usage=Usage(1, 2, 3))) == ["end", "usage"]
        loop.chunks_done()
    told = [(event.chunk, event.last, event.finish_reason, event.usage.total_tokens) for event in daemon.events[1:-1]]
    assert told == [(1, False, pb.FINISH_REASON_STOP, 0), (3, True, 0, 3)]


def test_a_repeated_call_is_one_call(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    with keeper.loop() as loop:
        loop.model_call()
        loop.chunk("1", seen(call("a", "id")))
        loop.chunk("2", seen(call("a", "id"), finish_reason=FinishReason.STOP))
        assert [run.id for run in loop.chunks_done().run] == ["id"]
        assert loop.turns == 1


def test_nothing_of_a_rejected_chunk_or_after_it_reaches_the_application(
    daemon: ScriptedDaemon, keeper: TurnKeeper
) -> None:
    daemon.script = [ALLOW, ALLOW, REJECT]
    got: list[str] = []
    with keeper.loop() as loop:
        loop.model_call()
        got += loop.chunk("text", seen(text=True))
        got += loop.chunk("good", seen(call("a")))
        with pytest.raises(ToolLoopRejected):
            loop.chunk("bad", seen(call("b"), text=True))
        with pytest.raises(ToolLoopRejected):
            loop.chunk("after", seen(text=True))
    assert got == ["text"]
    assert len(of(daemon, pb.AfterModelRequest)) == 2


def test_a_verdict_at_the_last_chunk_holds_for_the_calls_before_it(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [ALLOW, ALLOW, FORCE_NONE]
    with keeper.loop() as loop:
        loop.model_call()
        loop.chunk("call", seen(call("a")))
        checked = loop.chunks_done()
    assert not checked.run
    assert [(not_run.name, text) for not_run, text in checked.not_run] == [
        ("a", "This function call was not run. Answer.")
    ]


def test_return_in_a_stream_just_ends_it(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [ALLOW, RETURN]
    got: list[str] = []
    with keeper.loop() as loop:
        loop.model_call()
        got += loop.chunk("text", seen(text=True))
        got += loop.chunk("bad", seen(call("a")))
    assert got == ["text"]


def test_a_failing_daemon_leaves_the_guard_at_work(daemon: ScriptedDaemon, keeper: TurnKeeper) -> None:
    daemon.script = [refuse(grpc.StatusCode.INTERNAL)] * 40
    with keeper.loop() as loop:
        for _ in range(10):
            loop.model_call(mode=Mode.ANY)
            assert loop.response(seen(call())).run
        assert loop.model_call(mode=Mode.ANY).mode is Mode.NONE
        with pytest.raises(ToolLoopRejected) as caught:
            loop.response(seen(call()))
    assert caught.value.reason is Reason.TURN_LIMIT


# --- coroutines -----------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_async_guard_does_the_same(daemon: ScriptedDaemon) -> None:
    daemon.script = [ALLOW, ALLOW, ALLOW, ALLOW, ALLOW, REJECT]

    async def body(keeper: AsyncTurnKeeper) -> None:
        async with keeper.loop("r1") as loop:
            await loop.model_call()
            assert (await loop.response(seen(call()))).run
            await loop.model_call()
            assert await loop.chunk("call", seen(call())) == []
            assert (await loop.chunks_done()).items == ("call",)
            await loop.model_call()

    async with AsyncTurnKeeper(address=daemon.address, deadline_ms=2000) as keeper:
        with pytest.raises(ToolLoopRejected):
            await body(keeper)
    assert [event.model_call for event in of(daemon, pb.BeforeModelRequest)] == [1, 2, 3]
    assert daemon.events[-1].outcome == pb.OUTCOME_FAILED


@pytest.mark.asyncio
async def test_a_cancelled_task_ends_its_loop(daemon: ScriptedDaemon) -> None:
    entered = asyncio.Event()

    async def body(keeper: AsyncTurnKeeper) -> None:
        async with keeper.loop("r1") as loop:
            await loop.model_call()
            entered.set()
            await asyncio.Event().wait()

    async with AsyncTurnKeeper(address=daemon.address, deadline_ms=2000) as keeper:
        task = asyncio.create_task(body(keeper))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert daemon.events[-1].outcome == pb.OUTCOME_CANCELLED
