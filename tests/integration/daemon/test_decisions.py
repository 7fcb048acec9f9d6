"""The decision path over the wire."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from daemon_process import Daemon, until
from scrape import metrics, total
from wire_client import Wire

from turnkeeper.v1 import turnkeeper_pb2 as pb


def run_turns(wire: Wire, request_id: str, turns: int) -> None:
    for number in range(1, turns + 1):
        before = wire.before(request_id, number, mode=pb.MODE_ANY)
        assert (before.decision.verdict, before.mode) == (pb.VERDICT_ALLOW, pb.MODE_ANY)
        after = wire.after(request_id, number, "search", mode_sent=pb.MODE_ANY, turns_since_prompt=number - 1)
        assert after.decision.verdict == pb.VERDICT_ALLOW
        assert [call.run for call in after.calls] == [True]


def test_ten_turns_then_none_then_reject(wire: Wire) -> None:
    run_turns(wire, "runaway", 10)
    before = wire.before("runaway", 11, mode=pb.MODE_ANY)
    assert before.decision.verdict == pb.VERDICT_FORCE_NONE
    assert before.decision.reason == pb.REASON_TURN_LIMIT
    assert before.mode == pb.MODE_NONE
    assert not before.drop_declarations
    counters = before.decision.counters
    assert (counters.turns, counters.limit, counters.remaining, counters.unit) == (10, 10, 0, pb.LIMIT_UNIT_TURNS)
    after = wire.after("runaway", 11, "search", mode_sent=pb.MODE_NONE)
    assert (after.decision.verdict, after.decision.reason) == (pb.VERDICT_REJECT, pb.REASON_TURN_LIMIT)
    assert after.decision.disposition == pb.DISPOSITION_RAISE
    assert [call.run for call in after.calls] == [False]


def test_two_tenants_with_one_request_id_never_see_each_other(wire: Wire) -> None:
    for tenant in ("a", "b"):
        for number in range(1, 6):
            wire.before("shared", number, tenant=tenant)
            after = wire.after("shared", number, "search", tenant=tenant)
            assert after.decision.counters.turns == number
    assert wire.get("shared", "a").summary.counters.turns == 5
    with pytest.raises(grpc.RpcError) as refused:
        wire.get("shared")
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND  # type: ignore[attr-defined]


def test_a_repeat_is_answered_from_the_stored_answer(wire: Wire) -> None:
    wire.before("repeat", 1)
    first = wire.after("repeat", 1, "search")
    decisions = wire.status().decisions
    assert wire.after("repeat", 1, "search") == first
    assert wire.status().decisions == decisions
    with pytest.raises(grpc.RpcError) as refused:
        wire.after("repeat", 1, "other")
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT  # type: ignore[attr-defined]
    assert "chunk" in str(refused.value.details())  # type: ignore[attr-defined]


def test_a_mode_from_the_future_is_echoed_and_overridden(wire: Wire) -> None:
    assert wire.before("future", 1, mode=7).mode == 7
    assert wire.before("future", 11, mode=7, transcript=pb.Transcript(turns_since_prompt=10)).mode == pb.MODE_NONE


def test_other_enum_values_from_the_future_are_taken_as_unspecified(wire: Wire) -> None:
    assert wire.before("enums", 1, kind=9).decision.counters.model_calls == 1
    after = wire.after("enums", 1, "search", finish_reason=77, kind=9)
    assert after.decision.verdict == pb.VERDICT_ALLOW
    wire.end("enums", outcome=42)


def test_eight_clients_with_two_hundred_ids_each_are_counted_exactly(daemon: Daemon) -> None:
    turns = 5
    barrier = threading.Barrier(8)

    def client(number: int) -> None:
        with Wire(daemon.address_unix if number % 2 else daemon.address_tcp) as wire:
            barrier.wait()
            for turn in range(1, turns + 1):
                for index in range(200):
                    request_id = f"many-{number}-{index}"
                    wire.before(request_id, turn)
                    after = wire.after(request_id, turn, *["search"] * (1 + index % 3))
                    told = after.decision.counters
                    assert (told.turns, told.model_calls, told.function_calls) == (turn, turn, turn * (1 + index % 3))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(client, range(8)))


def test_one_of_two_concurrent_calls_makes_the_last_turn(wire: Wire) -> None:
    for round_number in range(20):
        request_id = f"race-{round_number}"
        run_turns(wire, request_id, 9)
        wire.before(request_id, 10)
        wire.before(request_id, 11)
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda number: wire.after(request_id, number, "search"), (10, 11)))  # noqa: B023
        assert sorted(answer.decision.verdict for answer in answers) == [pb.VERDICT_ALLOW, pb.VERDICT_REJECT]


def test_an_end_leaves_a_tombstone(wire: Wire) -> None:
    run_turns(wire, "ended", 3)
    assert wire.end("ended").counters.turns == 3
    assert wire.end("ended").counters.turns == 3
    late = wire.after("ended", 3, "search", attempt=1)
    assert (late.decision.verdict, late.decision.reason) == (pb.VERDICT_REJECT, pb.REASON_SUPERSEDED)
    assert wire.before("ended", 1).decision.counters.turns == 0
    assert wire.end("never-seen").counters.turns == 0


def test_killed_between_none_and_the_response_a_call_is_still_rejected(tmp_path: Path) -> None:
    daemon = Daemon.start(tmp_path)
    with Wire(daemon.address_unix) as wire:
        run_turns(wire, "lost", 10)
        assert wire.before("lost", 11, mode=pb.MODE_ANY).mode == pb.MODE_NONE
    daemon.kill()
    daemon = daemon.restart()
    try:
        with Wire(daemon.address_unix) as wire:
            after = wire.after("lost", 11, "search", mode_sent=pb.MODE_NONE, turns_since_prompt=10)
            assert (after.decision.verdict, after.decision.reason) == (pb.VERDICT_REJECT, pb.REASON_TURN_LIMIT)
            unknown = wire.after("lost-too", 2, "search", mode_sent=pb.MODE_NONE)
            assert (unknown.decision.verdict, unknown.decision.reason) == (pb.VERDICT_REJECT, pb.REASON_DISALLOWED)
    finally:
        daemon.stop()


def test_idle_ids_expire_and_the_longest_idle_goes_at_the_cap(tmp_path: Path) -> None:
    policies = tmp_path / "policies.yaml"
    policies.write_text("policies:\n  default:\n    idle_ttl: 1s\n  long:\n    idle_ttl: 1h\n")
    with (
        Daemon.running(tmp_path, "--policies", str(policies), "--ids-max", "3") as daemon,
        Wire(daemon.address_unix) as wire,
    ):
        for request_id in ("a", "b", "c"):
            wire.before(request_id, 1, policy="long")
        wire.before("a", 2)
        wire.before("d", 1, policy="long")
        with pytest.raises(grpc.RpcError):
            wire.get("b")
        assert wire.get("a").summary.counters.model_calls == 2
        wire.before("short", 1)
        wait_until_gone(wire, "short")
        assert wire.get("a").summary.counters.model_calls == 2


def wait_until_gone(wire: Wire, request_id: str) -> None:
    def gone() -> bool:
        try:
            wire.get(request_id)
        except grpc.RpcError as error:
            return error.code() is grpc.StatusCode.NOT_FOUND  # type: ignore[attr-defined,no-any-return]
        return False

    until(gone, 10, f"{request_id} to expire")


def test_the_end_of_unknown_ids_forgets_no_live_loop(tmp_path: Path) -> None:
    with Daemon.running(tmp_path, "--ids-max", "3") as daemon, Wire(daemon.address_unix) as wire:
        run_turns(wire, "loop", 10)
        for number in range(6):
            wire.end(f"never-seen-{number}")
        assert wire.before("loop", 11).decision.verdict == pb.VERDICT_FORCE_NONE
        assert wire.status().live_requests == 1


def test_numbers_at_their_maximum_stop_no_telemetry(daemon: Daemon, wire: Wire) -> None:
    for request_id in ("most-1", "most-2", "most-3"):
        usage = pb.Usage(input_tokens=2**64 - 1, output_tokens=2**64 - 1, cost_micro_usd=2**64 - 1)
        wire.after(request_id, 2**32 - 1, "search", usage=usage, turns_since_prompt=2**32 - 1)
        told = wire.before(request_id, 0, transcript=pb.Transcript(turns_since_prompt=2**32 - 1)).decision.counters
        assert (told.turns, told.tokens) == (2**32 - 1, 2**64 - 1)
    until(lambda: total(metrics(daemon.admin), "turnkeeper_tokens_total") >= 2**63, what="the tokens on /metrics")
    assert wire.status().observer.restarts == 0
