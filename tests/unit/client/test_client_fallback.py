"""The local fallback: its own turn count against the last limit the daemon told."""

from typing import Any

import pytest
from scripted_daemon import ScriptedDaemon, answer

from turnkeeper_client import CallKind, FunctionCall, Mode, Reason, Verdict
from turnkeeper_client import fallback as module
from turnkeeper_client._gen import turnkeeper_pb2 as pb

DEAD = "127.0.0.1:9"
CALL = [FunctionCall("c", "search", "{}")]


def turns(keeper: Any, request_id: str, numbers: range) -> list[tuple[Verdict, Verdict]]:
    """Loop: every response calls a function, also under NONE."""
    verdicts = []
    for number in numbers:
        before = keeper.before_model(request_id, model_call=number, mode=Mode.ANY)
        after = keeper.after_model(request_id, model_call=number, calls=CALL, mode_sent=before.mode)
        verdicts.append((before.verdict, after.verdict))
    return verdicts


ALLOWED = (Verdict.ALLOW, Verdict.ALLOW)
AT_LIMIT = (Verdict.FORCE_NONE, Verdict.REJECT)
OVER = (Verdict.REJECT, Verdict.REJECT)


def test_ten_turns_then_none_then_reject(client: Any) -> None:
    assert turns(client(DEAD), "r1", range(1, 13)) == [ALLOWED] * 10 + [AT_LIMIT, OVER]


def test_the_answer_says_why_and_counts(client: Any) -> None:
    keeper = client(DEAD)
    turns(keeper, "r1", range(1, 11))
    answered = keeper.before_model("r1", model_call=11, mode=Mode.ANY)
    assert (answered.reason, answered.mode, answered.counters.turns) == (Reason.TURN_LIMIT, Mode.NONE, 10)
    assert not answered.drop_declarations


def test_ids_and_tenants_are_counted_apart(client: Any) -> None:
    keeper = client(DEAD)
    turns(keeper, "r1", range(1, 12))
    assert turns(keeper, "r2", range(1, 2)) == [ALLOWED]
    assert keeper.before_model("r1", model_call=1, tenant="t").verdict is Verdict.ALLOW


def test_a_blank_id_shares_no_count(client: Any) -> None:
    assert turns(client(DEAD), " ", range(1, 15)) == [ALLOWED] * 14


def test_chunks_of_one_response_are_one_turn(client: Any) -> None:
    keeper = client(DEAD)
    for chunk in (1, 2, 3):
        answered = keeper.after_model("r1", model_call=1, chunk=chunk, calls=CALL)
    assert answered.counters.turns == 1


def test_another_attempt_replaces_the_turn(client: Any) -> None:
    keeper = client(DEAD)
    keeper.after_model("r1", model_call=1, calls=CALL)
    keeper.before_model("r1", model_call=1, attempt=1)
    assert keeper.after_model("r1", model_call=1, attempt=1, calls=CALL).counters.turns == 1


def test_the_transcript_raises_the_count_and_is_capped(client: Any) -> None:
    keeper = client(DEAD)
    assert keeper.before_model("r1", model_call=1, turns_since_prompt=30).counters.turns == 0
    assert keeper.before_model("r2", model_call=11, turns_since_prompt=30).verdict is Verdict.FORCE_NONE
    assert keeper.before_model("r3", turns_since_prompt=30).verdict is Verdict.REJECT


def test_a_call_under_none_is_rejected_below_the_limit_too(client: Any) -> None:
    answered = client(DEAD).after_model("r1", model_call=1, calls=CALL, mode_sent=Mode.NONE)
    assert (answered.verdict, answered.calls[0].run) == (Verdict.REJECT, False)


def test_a_side_call_is_not_judged(client: Any) -> None:
    keeper = client(DEAD)
    turns(keeper, "r1", range(1, 11))
    assert keeper.before_model("r1", model_call=11, kind=CallKind.SIDE).verdict is Verdict.ALLOW


def test_model_calls_without_a_number_are_numbered(client: Any) -> None:
    keeper = client(DEAD)
    for _ in range(10):
        keeper.before_model("r1")
        keeper.after_model("r1", calls=CALL)
    assert keeper.before_model("r1").verdict is Verdict.FORCE_NONE


@pytest.mark.parametrize(
    ("counters", "limit"),
    [
        (pb.Counters(turns=2, limit=3, unit=pb.LIMIT_UNIT_TURNS), 3),
        (pb.Counters(turns=2, limit=3, unit=pb.LIMIT_UNIT_MODEL_CALLS), 10),
        (pb.Counters(turns=2, limit_off=True), 10),
    ],
)
def test_it_goes_on_from_the_daemons_counts_with_its_limit_of_turns(
    client: Any, counters: pb.Counters, limit: int
) -> None:
    daemon = ScriptedDaemon("127.0.0.1:0", answer(counters=counters))
    keeper = client(daemon.address)
    keeper.after_model("r1", model_call=2, calls=CALL)
    daemon.stop()
    verdicts = turns(keeper, "r1", range(3, 15))
    assert verdicts.index(AT_LIMIT) + 2 == limit
    assert keeper.before_model("another", model_call=1).counters.limit == limit


def test_a_turn_the_daemon_counted_is_not_counted_again(client: Any) -> None:
    one = pb.Counters(turns=1, limit=10, unit=pb.LIMIT_UNIT_TURNS)
    daemon = ScriptedDaemon("127.0.0.1:0", answer(counters=one))
    keeper = client(daemon.address)
    keeper.after_model("r1", model_call=1, chunk=1, calls=CALL)
    daemon.stop()
    assert keeper.after_model("r1", model_call=1, chunk=2, last=True, calls=CALL).counters.turns == 1


def test_a_policy_that_only_observes_is_not_enforced_here(client: Any) -> None:
    eleven = pb.Counters(turns=11, limit=10, unit=pb.LIMIT_UNIT_TURNS)
    daemon = ScriptedDaemon("127.0.0.1:0", answer(counters=eleven, enforced=False))
    keeper = client(daemon.address)
    keeper.before_model("r1", model_call=12)
    daemon.stop()
    assert turns(keeper, "r1", range(12, 14)) == [ALLOWED] * 2


def test_an_ended_id_starts_again(client: Any) -> None:
    keeper = client(DEAD)
    turns(keeper, "r1", range(1, 12))
    assert keeper.end_request("r1").turns == 11
    assert turns(keeper, "r1", range(1, 2)) == [ALLOWED]


def test_counts_are_bounded_and_the_idle_ones_go(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDS_KEPT", 3)
    keeper = client(DEAD)
    turns(keeper, "r1", range(1, 12))
    for other in ("r2", "r3"):
        turns(keeper, other, range(1, 2))
    assert keeper.before_model("r1", model_call=12).counters.turns == 11
    for other in ("r4", "r5", "r6"):
        turns(keeper, other, range(1, 2))
    assert keeper.before_model("r1", model_call=1).counters.turns == 0
