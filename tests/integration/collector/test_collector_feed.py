"""Facts and meters of a real feed arrive in a real Collector: over gRPC and over HTTP."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvloop
from collector import BINARY, MISSING, Collector, attributes
from observer_feed import (
    CALLER_SPAN_ID,
    OPENMETRICS,
    TRACE_ID,
    TRACEPARENT,
    Rig,
    decision,
    feeding,
    loop_end,
    policies,
    samples,
    signal_observer,
    until,
)

from turnkeeper.core.model import Mode, Reason, Verdict
from turnkeeper.facts.records import CallerRecord, ReportRecord

pytestmark = [pytest.mark.go_tools, pytest.mark.skipif(not BINARY.exists(), reason=MISSING)]

FAST = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BLRP_SCHEDULE_DELAY": "50", "OTEL_METRIC_EXPORT_INTERVAL": "200"}
# What the Collector's exporter adds to every series.
ADDED = {"job", "instance", "otel_scope_name", "otel_scope_version", "otel_scope_schema_url"}


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector.running(tmp_path) as running:
        yield running


@pytest.fixture(params=["grpc", "http/protobuf"])
def environ(request: pytest.FixtureRequest, collector: Collector) -> dict[str, str]:
    endpoint = collector.otlp_grpc if request.param == "grpc" else collector.otlp_http
    return {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": request.param}


def run(environ: dict[str, str], offer: Callable[[Rig], object]) -> Rig:
    """Offer facts to a feed, stop it, and return what it counted."""

    async def scenario() -> Rig:
        async with feeding(environ) as rig:
            offer(rig)
            await rig.settled()
        return rig

    rig = uvloop.run(scenario())
    assert (rig.feed.told, rig.feed.dropped) == (rig.feed.offered, 0)
    return rig


def test_a_decision_is_a_server_span_under_the_callers(collector: Collector, environ: dict[str, str]) -> None:
    made = decision(7, mode_switched=True, policy_version="v1", parent="request-0")
    run(environ, lambda rig: rig.feed.offer(made))
    (span,) = collector.spans(at_least=1)
    assert span["name"] == "turnkeeper.v1.TurnKeeper/AfterModel"
    assert (span["traceId"], span["spanId"], span["parentSpanId"]) == (TRACE_ID, f"{7:016x}", CALLER_SPAN_ID)
    assert span["kind"] == 2
    assert int(span["startTimeUnixNano"]) == made.started_ns
    assert int(span["endTimeUnixNano"]) == made.started_ns + made.duration_ns
    assert span["status"] == {}
    assert span["attributes"] == {
        "rpc.system.name": "grpc",
        "rpc.method": "turnkeeper.v1.TurnKeeper/AfterModel",
        "rpc.response.status_code": "OK",
        "turnkeeper.verdict": "reject",
        "turnkeeper.reason": "turn_limit",
        "turnkeeper.enforced": True,
        "turnkeeper.point": "after_model",
        "turnkeeper.mode.from": "any",
        "turnkeeper.mode.to": "none",
        "turnkeeper.policy.name": "default",
        "turnkeeper.policy.version": "v1",
        "turnkeeper.request.id": "request-1",
        "turnkeeper.request.parent.id": "request-0",
        "turnkeeper.turn": 11,
        "turnkeeper.limit": 10,
        "gen_ai.agent.name": "helper",
        "gen_ai.request.model": "flash",
        "gen_ai.provider.name": "gemini",
        "gen_ai.conversation.id": "talk-1",
    }
    assert span["resource"]["service.name"] == "turnkeeper"
    assert span["resource"]["service.version"] == "1.2.3"
    assert span["resource"]["service.instance.id"] == "instance-1"


def test_an_unsampled_caller_and_one_that_does_not_trace(collector: Collector, environ: dict[str, str]) -> None:
    def offer(rig: Rig) -> None:
        rig.offer(decision, traceparent=TRACEPARENT[:-2] + "00")
        rig.offer(decision, traceparent="", trace_id="c" * 32)
        rig.offer(decision, exported=False)

    run(environ, offer)
    unsampled, untraced = collector.spans(at_least=2)
    assert unsampled["parentSpanId"] == CALLER_SPAN_ID
    assert (untraced["traceId"], untraced.get("parentSpanId")) == ("c" * 32, None)


def test_a_loop_is_one_span_linked_to_its_decisions(collector: Collector, environ: dict[str, str]) -> None:
    links = ((TRACEPARENT, "00000000000000a1"), (f"00-{'d' * 32}-{'e' * 16}-01", "00000000000000a2"))
    made = loop_end(3, links=links)
    run(environ, lambda rig: rig.feed.offer(made))
    (span,) = collector.spans(at_least=1)
    assert (span["name"], span["kind"]) == ("tool_loop helper", 1)
    assert (span["traceId"], span["spanId"], span["parentSpanId"]) == (TRACE_ID, f"{3:016x}", CALLER_SPAN_ID)
    assert int(span["startTimeUnixNano"]) == made.started_ns
    assert int(span["endTimeUnixNano"]) == made.ended_ns
    assert [(link["traceId"], link["spanId"]) for link in span["links"]] == [
        (TRACE_ID, "00000000000000a1"),
        ("d" * 32, "00000000000000a2"),
    ]
    assert span["attributes"]["turnkeeper.outcome"] == "rejected"
    assert span["attributes"]["turnkeeper.turn"] == 11


def test_events_have_names_severities_and_the_spans_context(collector: Collector, environ: dict[str, str]) -> None:
    def offer(rig: Rig) -> None:
        rig.offer(decision)
        rig.offer(
            decision,
            point="before_model",
            verdict_if_enforced=Verdict.FORCE_NONE,
            mode_to=Mode.NONE,
            mode_switched=True,
        )
        finding = ReportRecord(Reason.TOOL_NOT_ENABLED, Verdict.REJECT, "a tool outside the enabled ones")
        rig.offer(decision, verdict_if_enforced=Verdict.ALLOW, reason=Reason.WITHIN_POLICY, reports=(finding,))
        rig.offer(loop_end)
        rig.offer(policies)
        rig.offer(policies, error="policies.yaml:3:1: turns", error_type="invalid")

    run(environ, offer)
    logs = collector.logs(at_least=8)
    assert [(log["eventName"], log["severityNumber"], log.get("spanId", "")) for log in logs] == [
        ("turnkeeper.decision", 13, f"{1:016x}"),
        ("turnkeeper.decision", 9, f"{2:016x}"),
        ("turnkeeper.mode.switched", 9, f"{2:016x}"),
        ("turnkeeper.finding", 9, f"{3:016x}"),
        ("turnkeeper.request.ended", 9, f"{4:016x}"),
        ("turnkeeper.policy.loaded", 9, ""),
        ("turnkeeper.policy.loaded", 9, ""),
        ("turnkeeper.policy.load_failed", 17, ""),
    ]
    assert logs[0]["traceId"] == TRACE_ID
    assert logs[0]["body"] == {"stringValue": "turn 11 of at most 10"}
    assert logs[0]["attributes"]["turnkeeper.verdict"] == "reject"
    assert (logs[2]["attributes"]["turnkeeper.mode.from"], logs[2]["attributes"]["turnkeeper.mode.to"]) == (
        "any",
        "none",
    )
    assert logs[3]["attributes"]["turnkeeper.enforced"] is False
    assert logs[5]["attributes"] == {"turnkeeper.policy.name": "default", "turnkeeper.policy.version": "v1"}
    assert logs[7]["attributes"] == {"error.type": "invalid"}


@pytest.mark.parametrize(("route", "on_spans", "as_logs"), [("logs", 0, 1), ("span", 1, 0), ("both", 1, 1)])
def test_events_go_where_they_are_sent(tmp_path: Path, route: str, on_spans: int, as_logs: int) -> None:
    with Collector.running(tmp_path) as collector:
        environ = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.otlp_grpc, "TURNKEEPER_EVENTS": route}
        run(environ, lambda rig: rig.offer(decision))
        (span,) = collector.spans(at_least=1)
        assert [event["name"] for event in span.get("events", ())] == ["turnkeeper.decision"] * on_spans
        assert len(collector.logs(at_least=as_logs)) == as_logs


def test_metrics_are_the_same_in_the_collector_and_on_the_admin_port(
    collector: Collector, environ: dict[str, str]
) -> None:
    async def scenario() -> None:
        async with feeding(environ) as rig:
            rig.decide(3)
            fill(rig)
            assert all(rig.meters._counters.values()), "every instrument has a point"
            await rig.settled()
            ours = await quiet_samples(rig)

            def same() -> bool:
                return stripped(samples(collector.scrape())) == stripped(ours)

            with contextlib.suppress(AssertionError):
                await until(same, 10.0)
            assert stripped(samples(collector.scrape())) == stripped(ours)
            (exemplar,) = [line.partition(" # ")[2] for line in collector.scrape().splitlines() if " # {" in line]
            assert f'trace_id="{TRACE_ID}"' in exemplar
            assert f'span_id="{3:016x}"' in exemplar
            _, text = await rig.get("/metrics", accept=OPENMETRICS)
            assert f'# {{span_id="{3:016x}",trace_id="{TRACE_ID}"}} 0.00012' in text

    uvloop.run(scenario())
    starts = {
        point["startTimeUnixNano"]
        for metric in collector.metrics()
        for kind in ("sum", "histogram")
        for point in metric.get(kind, {}).get("dataPoints", ())
    }
    assert len(starts) == 1
    sums = {metric["name"]: metric["sum"] for metric in collector.metrics() if "sum" in metric}
    assert sums["turnkeeper.decisions"]["isMonotonic"]
    assert not sums["turnkeeper.request.active"].get("isMonotonic", False)
    (point,) = sums["turnkeeper.fallback.decisions"]["dataPoints"]
    assert attributes(point) == {"rpc.grpc.status_code": 14}


def fill(rig: Rig) -> None:
    """Give every instrument a point."""
    meters = rig.meters
    meters.add("loops", ("repetition", "helper"))
    meters.add("mode_switches", ("any", "none", "turn_limit", "false", "helper"))
    meters.add("rejected_calls", ("turn_limit", "true", "helper"), 4)
    meters.add("tokens", ("input", "helper", "flash"), 1_000)
    meters.add("fallback_decisions", ("14",), 2)
    meters.add("evictions", ("ttl",))
    meters.add("policy_reloads", ("",))
    meters.add("policy_reloads", ("invalid",))
    meters.add("labels_bounded", ("agent",))
    meters.add("mode_mismatches", ("none", "any"))
    meters.add("results_unmatched")
    meters.add("requests_reused")
    meters.add("policies_gone")
    meters.add("findings_reported", ("tool_not_enabled", "reject"))
    meters.move("active", ("helper",), 5)
    meters.move("active", ("helper",), -2)
    meters.record("request_turns", ("rejected", "helper"), 11)
    meters.record("request_function_calls", ("rejected", "helper"), 11)
    meters.record("request_duration", ("rejected", ""), 3.5)
    meters.record("budget_utilization", ("turns",), 1.1)
    meters.record("rpc_duration", ("turnkeeper.v1.TurnKeeper/AfterModel", "OK", ""), 0.0002)


async def quiet_samples(rig: Rig) -> dict[str, float]:
    """What ``/metrics`` shows once it no longer changes."""
    last: dict[str, float] = {}
    now = await rig.samples()
    while len(now) < 100 or last != now:
        await asyncio.sleep(1.2)
        last, now = now, await rig.samples()
    return now


def stripped(found: dict[str, float]) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Samples by name and labels, without what only one of both adds; bounds as numbers."""
    kept = {}
    for sample, value in found.items():
        name, _, inside = sample.partition("{")
        if name in {"target_info", "otel_scope_info"} or name.endswith("_created"):
            continue
        labels = dict(pair.split("=", 1) for pair in inside.rstrip("}").split('",') if pair)
        plain = {key: text.strip('"') for key, text in labels.items() if key not in ADDED}
        if "le" in plain:
            plain["le"] = str(float(plain["le"]))
        kept[name, frozenset(plain.items())] = value
    return kept


def test_variables_name_the_service(collector: Collector) -> None:
    environ = {
        **FAST,
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.otlp_http + "/v1/traces",
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
        "OTEL_SERVICE_NAME": "guard",
        "OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=pod-1,deployment.environment.name=test",
    }
    run(environ, lambda rig: rig.offer(decision, caller=CallerRecord()))
    (span,) = collector.spans(at_least=1)
    assert span["resource"]["service.name"] == "guard"
    assert span["resource"]["service.instance.id"] == "pod-1"
    assert span["resource"]["deployment.environment.name"] == "test"
    assert "gen_ai.agent.name" not in span["attributes"]
    assert collector.logs() == []
    assert collector.metrics() == []


def test_a_paused_collector_gets_what_was_kept_when_it_goes_on(collector: Collector) -> None:
    environ = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.otlp_grpc}

    async def scenario() -> None:
        async with feeding(environ) as rig:
            rig.decide(10)
            await rig.settled()
            collector.pause()
            rig.decide(100)
            samples_meanwhile = await rig.samples()
            assert samples_meanwhile
            collector.resume()
            await rig.settled()
            assert (rig.feed.told, rig.feed.dropped) == (110, 0)

    uvloop.run(scenario())
    assert len({span["spanId"] for span in collector.spans(at_least=110)}) == 110


def test_a_killed_observer_loses_exactly_what_was_not_told(collector: Collector) -> None:
    environ = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.otlp_grpc}

    async def scenario() -> Rig:
        async with feeding(environ) as rig:
            rig.decide(30)
            await rig.settled()
            collector.pause()
            rig.decide(20)
            await received(rig, 50)
            await signal_observer(signal.SIGKILL)
            await restarted(rig, 1)
            collector.resume()
            rig.decide(10)
            await rig.settled()
            return rig

    rig = uvloop.run(scenario())
    assert (rig.feed.offered, rig.feed.told, rig.feed.dropped) == (60, 40, 20)
    told = {f"{seq:016x}" for seq in (*rig.seqs[:30], *rig.seqs[50:])}
    asyncio.run(until(lambda: told <= {span["spanId"] for span in collector.spans()}))


async def received(rig: Rig, decisions: int) -> None:
    """Wait until the observer shows so many decisions: the facts before them came through the same pipe."""
    for _ in range(200):
        shown = sum(value for name, value in (await rig.samples()).items() if name.startswith("turnkeeper_decisions_"))
        if shown == decisions:
            return
        await asyncio.sleep(0.05)
    message = f"{shown} decisions are shown, not {decisions}"
    raise AssertionError(message)


async def restarted(rig: Rig, times: int) -> None:
    await until(lambda: rig.feed.restarts == times)


def test_killed_observer_under_load_every_span_arrived_or_is_counted(collector: Collector) -> None:
    environ = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.otlp_grpc}

    async def scenario() -> Rig:
        async with feeding(environ) as rig:
            for kills in (1, 2):
                told = rig.feed.told
                while rig.feed.told < told + 100:
                    rig.decide(5)
                    await asyncio.sleep(0.005)
                await signal_observer(signal.SIGKILL)
                await restarted(rig, kills)
            rig.decide(50)
            await rig.settled()
            return rig

    rig = uvloop.run(scenario())
    arrived = [span["spanId"] for span in collector.spans(at_least=rig.feed.told)]
    assert len(arrived) == len(set(arrived)), "no span twice"
    assert rig.feed.offered == rig.feed.told + rig.feed.dropped
    assert len(arrived) >= rig.feed.told, "what was told has arrived"
    missing = {f"{seq:016x}" for seq in rig.seqs} - set(arrived)
    assert len(missing) <= rig.feed.dropped, "what has not arrived is counted"
