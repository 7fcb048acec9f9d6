"""The three calls against a scripted daemon: what is sent, what is read, and what is done without an answer."""

import logging
import socket
import time
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry import trace
from scripted_daemon import ScriptedDaemon, answer, nonsense, refuse

from turnkeeper_client import (
    ArgumentError,
    Caller,
    Disposition,
    FunctionCall,
    FunctionResult,
    LimitUnit,
    Mode,
    Outcome,
    Reason,
    Usage,
    Verdict,
)
from turnkeeper_client._gen import turnkeeper_pb2 as pb

CALL = FunctionCall("c1", "search", '{"q": 1}')
DEAD = "127.0.0.1:9"  # the discard port: nobody listens
NEVER_RETRIED = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
)


def test_every_field_reaches_the_daemon(client: Any) -> None:
    with ScriptedDaemon() as daemon:
        keeper = client(daemon.address)
        answered = keeper.before_model(
            "r1",
            model_call=3,
            attempt=1,
            policy="strict",
            caller=Caller("svc", "agent", "gcp.gemini", "flash", "conv"),
            mode=Mode.ANY,
            allowed_function_names=["search"],
            enabled_tools=["search", "mail"],
            turns_since_prompt=2,
            has_function_calls=True,
            instruction_tools=["search"],
            results=[FunctionResult("c0", "search", b"digest", is_error=True)],
            parent_request_id="r0",
            root_request_id="r0",
            tenant="t",
        )
        keeper.after_model(
            "r1",
            model_call=3,
            attempt=1,
            chunk=2,
            last=True,
            calls=[CALL],
            finish_reason=pb.FINISH_REASON_STOP,
            raw_finish_reason="STOP",
            usage=Usage(10, 5, 15),
            has_text=True,
            mode_sent=Mode.ANY,
            turns_since_prompt=2,
        )
        keeper.end_request("r1", outcome=Outcome.FAILED, tenant="t")
        before, after, end = daemon.events
    assert before == pb.BeforeModelRequest(
        request_id="r1",
        model_call=3,
        attempt=1,
        policy="strict",
        caller=pb.Caller(service="svc", agent="agent", provider="gcp.gemini", model="flash", conversation_id="conv"),
        mode=pb.MODE_ANY,
        allowed_function_names=["search"],
        enabled_tools=pb.ToolNames(names=["search", "mail"]),
        transcript=pb.Transcript(turns_since_prompt=2, has_function_calls=True, instruction_tools=["search"]),
        results=[pb.FunctionResult(call_id="c0", name="search", digest=b"digest", is_error=True)],
        parent_request_id="r0",
        root_request_id="r0",
        tenant="t",
    )
    assert after.calls[0] == pb.FunctionCall(id="c1", name="search", args_json='{"q": 1}')
    assert (after.usage.total_tokens, after.mode_sent, after.chunk, after.last) == (15, pb.MODE_ANY, 2, True)
    assert end == pb.EndRequestRequest(request_id="r1", outcome=pb.OUTCOME_FAILED, tenant="t")
    assert (answered.verdict, answered.mode, answered.model_call) == (Verdict.ALLOW, Mode.ANY, 3)
    assert (answered.counters.limit, answered.counters.unit) == (10, LimitUnit.TURNS)
    assert answered.fallback_code is None


def test_tools_that_are_not_told_differ_from_none_enabled(client: Any) -> None:
    with ScriptedDaemon() as daemon:
        keeper = client(daemon.address)
        keeper.before_model("r1")
        keeper.before_model("r1", enabled_tools=[])
        assert [event.HasField("enabled_tools") for event in daemon.events] == [False, True]
        assert [event.HasField("transcript") for event in daemon.events] == [False, False]


def test_a_rejection_is_read_with_its_calls(client: Any) -> None:
    reject = answer(
        verdict=pb.VERDICT_REJECT,
        reason=pb.REASON_TURN_LIMIT,
        disposition=pb.DISPOSITION_RETURN,
        message="11 turns made",
        warnings=[pb.Warning(reason=pb.REASON_REPETITION, message="again", model_hint="stop")],
    )
    with ScriptedDaemon("127.0.0.1:0", reject) as daemon:
        answered = client(daemon.address).after_model("r1", calls=[CALL])
    assert (answered.verdict, answered.reason) == (Verdict.REJECT, Reason.TURN_LIMIT)
    assert answered.disposition is Disposition.RETURN
    assert (answered.calls[0].call_id, answered.calls[0].run, answered.calls[0].result_text) == ("c1", False, "not run")
    assert answered.warnings[0].reason is Reason.REPETITION


@pytest.mark.parametrize(
    ("fallback", "verdict", "reason"),
    [
        ("open", Verdict.ALLOW, Reason.UNAVAILABLE),
        ("closed", Verdict.REJECT, Reason.UNAVAILABLE),
        ("local", Verdict.ALLOW, Reason.UNAVAILABLE),
    ],
)
def test_without_a_daemon_the_fallback_decides(client: Any, fallback: str, verdict: Verdict, reason: Reason) -> None:
    keeper = client(DEAD, fallback=fallback)
    before = keeper.before_model("r1", model_call=1, mode=Mode.ANY)
    after = keeper.after_model("r1", model_call=1, calls=[CALL])
    assert (before.verdict, before.reason, before.fallback_code) == (verdict, reason, 14)
    assert before.mode is (Mode.ANY if verdict is Verdict.ALLOW else Mode.NONE)
    assert (after.verdict, after.calls[0].run) == (verdict, verdict is Verdict.ALLOW)


@pytest.mark.parametrize("behaviour", ["answer", "nonsense", "hang", "abort", "unknown verdict", "hang up"])
def test_whatever_the_daemon_does_a_call_answers_within_its_deadline(client: Any, behaviour: str) -> None:
    with ScriptedDaemon() as daemon:
        script = {
            "answer": answer(),
            "nonsense": nonsense,
            "hang": daemon.hang,
            "abort": refuse(grpc.StatusCode.INTERNAL),
            "unknown verdict": answer(verdict=99),
            "hang up": lambda *_: daemon.stop(),
        }[behaviour]
        daemon.script = [script] * 3  # type: ignore[list-item]
        keeper = client(daemon.address, deadline_ms=200)
        started = time.monotonic()
        keeper.before_model("r1", model_call=1)
        keeper.after_model("r1", model_call=1, calls=[CALL])
        keeper.end_request("r1")
        assert time.monotonic() - started < 3 * 0.2 + 1.0  # slack for a busy machine; unbounded is what it catches


def test_a_first_connection_that_is_never_answered_is_within_the_deadline_too(client: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        keeper = client(f"127.0.0.1:{silent.getsockname()[1]}", deadline_ms=100)
        started = time.monotonic()
        assert keeper.before_model("r1", model_call=1).fallback_code == 4
        assert time.monotonic() - started < 1.1


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": 0},
        {"verdict": 99},
        {"reason": 0},
        {"reason": 99},
        {"verdict_if_enforced": 99},
        {"counters": pb.Counters(unit=99)},  # type: ignore[arg-type]
        {"disposition": 99},
        {"warnings": [pb.Warning(reason=99)]},  # type: ignore[arg-type]
        {"mode": 99},
    ],
)
def test_an_answer_that_is_not_understood_is_a_fallback_and_never_an_allow(
    client: Any, changes: dict[str, Any]
) -> None:
    with ScriptedDaemon("127.0.0.1:0", answer(**changes)) as daemon:
        keeper = client(daemon.address, fallback="closed")
        answered = keeper.before_model("r1", model_call=1)
        assert (answered.verdict, answered.reason, answered.fallback_code) == (Verdict.REJECT, Reason.UNAVAILABLE, 0)
        keeper.before_model("r1", model_call=2)
        assert [(f.grpc_code, f.count) for f in daemon.events[1].fallbacks] == [(0, 1)]


def test_a_mode_newer_than_this_client_is_read_when_it_was_asked(client: Any) -> None:
    with ScriptedDaemon() as daemon:
        answered = client(daemon.address).before_model("r1", mode=17)
    assert (answered.verdict, answered.mode) == (Verdict.ALLOW, 17)


@pytest.mark.parametrize("verdict", [Verdict.FORCE_NONE, Verdict.REJECT])
def test_a_verdict_that_could_be_read_is_not_softened(client: Any, verdict: Verdict) -> None:
    with ScriptedDaemon("127.0.0.1:0", answer(verdict=verdict, reason=99)) as daemon:
        answered = client(daemon.address, fallback="open").before_model("r1", mode=Mode.ANY)
    assert (answered.verdict, answered.mode, answered.fallback_code) == (verdict, Mode.NONE, 0)


def test_verdicts_must_match_the_calls(client: Any) -> None:
    with ScriptedDaemon(
        "127.0.0.1:0", lambda *_: pb.AfterModelResponse(decision=_allow()).SerializeToString()
    ) as daemon:
        answered = client(daemon.address, fallback="closed").after_model("r1", calls=[CALL])
    assert (answered.verdict, answered.fallback_code) == (Verdict.REJECT, 0)


def _allow() -> pb.Decision:
    return pb.BeforeModelResponse.FromString(answer()(pb.BeforeModelRequest(), None)).decision  # type: ignore[arg-type]


@pytest.mark.parametrize("code", NEVER_RETRIED)
def test_a_refusal_is_a_fallback_logged_once_and_counted(
    client: Any, code: grpc.StatusCode, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedDaemon("127.0.0.1:0", *[refuse(code)] * 3) as daemon, caplog.at_level(logging.WARNING):
        keeper = client(daemon.address)
        for number in (1, 2, 3):
            assert keeper.before_model("r1", model_call=number).fallback_code == code.value[0]
        assert len(daemon.events) == 3
        keeper.before_model("r1", model_call=4)
        assert [(f.grpc_code, f.count) for f in daemon.events[3].fallbacks] == [(code.value[0], 3)]
    assert len([r for r in caplog.records if r.name == "turnkeeper_client"]) == 1


def test_fallbacks_are_told_exactly_once_also_when_the_next_event_fails(client: Any) -> None:
    refusals = [refuse(grpc.StatusCode.INTERNAL), refuse(grpc.StatusCode.NOT_FOUND), refuse(grpc.StatusCode.INTERNAL)]
    with ScriptedDaemon("127.0.0.1:0", *refusals) as daemon:
        keeper = client(daemon.address)
        keeper.before_model("r1", model_call=1)
        keeper.after_model("r1", model_call=1)
        keeper.end_request("r1")  # carries both, and fails; an end is no decision
        keeper.end_request("r1")
        keeper.before_model("r2", model_call=1)
        told = [[(f.grpc_code, f.count) for f in event.fallbacks] for event in daemon.events]
    assert told == [[], [(13, 1)], [(5, 1), (13, 1)], [(5, 1), (13, 1)], []]


def test_the_first_decision_after_a_restart_is_the_daemons(client: Any, tmp_path: Path) -> None:
    address = f"unix://{tmp_path}/tk.sock"
    first = ScriptedDaemon(address)
    keeper = client(address)
    assert keeper.before_model("r1", model_call=1).fallback_code is None
    first.stop()
    second = ScriptedDaemon(address)
    try:
        assert keeper.before_model("r1", model_call=2).fallback_code is None
    finally:
        second.stop()


def test_the_first_decision_after_an_outage_is_the_daemons_and_tells_of_it(client: Any, tmp_path: Path) -> None:
    address = f"unix://{tmp_path}/tk.sock"
    keeper = client(address)
    for number in (1, 2, 3):
        assert keeper.before_model("r1", model_call=number).fallback_code == 14
    with ScriptedDaemon(address) as daemon:
        assert keeper.before_model("r1", model_call=4).fallback_code is None
        assert [(f.grpc_code, f.count) for f in daemon.events[0].fallbacks] == [(14, 3)]


def test_disabled_allows_as_asked_and_sends_nothing(client: Any) -> None:
    with ScriptedDaemon() as daemon:
        keeper = client(daemon.address, disabled=True)
        before = keeper.before_model("r1", model_call=50, mode=Mode.ANY)
        after = keeper.after_model("r1", calls=[CALL])
        keeper.end_request("r1")
        assert (before.verdict, before.mode, before.model_call) == (Verdict.ALLOW, Mode.ANY, 50)
        assert (after.verdict, after.calls[0].run) == (Verdict.ALLOW, True)
        assert daemon.events == []


def test_a_policy_option_is_told_with_every_decision_unless_the_call_names_one(client: Any) -> None:
    with ScriptedDaemon() as daemon:
        keeper = client(daemon.address, policy="web")
        keeper.before_model("r1")
        keeper.after_model("r1", policy="other")
        keeper.end_request("r1")
        assert [event.policy for event in daemon.events[:2]] == ["web", "other"]


def test_the_trace_context_is_the_callers_argument_or_its_span(client: Any) -> None:
    told = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    span = trace.NonRecordingSpan(trace.SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)))
    with ScriptedDaemon() as daemon:
        keeper = client(daemon.address)
        keeper.before_model("r1")
        keeper.before_model("r1", traceparent=told)
        with trace.use_span(span):
            keeper.before_model("r1")
        sent = [metadata.get("traceparent") for metadata in daemon.metadata]
    assert sent == [None, told, f"00-{0xABC:032x}-{0xDEF:016x}-01"]


def test_the_token_is_read_for_each_call(client: Any, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("one\n")
    with ScriptedDaemon() as daemon:
        keeper = client(daemon.address, token_file=token)
        keeper.before_model("r1")
        token.write_text("two\n")
        keeper.before_model("r1")
        token.unlink()
        keeper.before_model("r1")
        sent = [metadata["authorization"] for metadata in daemon.metadata]
    assert sent == ["Bearer one", "Bearer two", "Bearer two"]


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"model_call": -1}, "model_call"),
        ({"attempt": 2**40}, "attempt"),
        ({"enabled_tools": ["\ud800"]}, "enabled_tools"),
        ({"caller": Caller(agent="\ud800")}, "caller"),
        ({"traceparent": "no\ntrace"}, "traceparent"),
        ({"modell": 1}, "modell"),
    ],
)
def test_what_cannot_be_sent_is_named(client: Any, told: dict[str, Any], name: str) -> None:
    with ScriptedDaemon() as daemon, pytest.raises(ArgumentError, match=f"^{name}: "):
        client(daemon.address).before_model("r1", **told)


def test_a_closed_client_can_be_used_again(client: Any) -> None:
    with ScriptedDaemon() as daemon:
        keeper = client(daemon.address)
        keeper.before_model("r1")
        keeper._do("close")
        assert keeper.before_model("r1").fallback_code is None
