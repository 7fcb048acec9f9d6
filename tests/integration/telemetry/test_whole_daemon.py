"""A run of the whole daemon, heard by a real Collector."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collector import BINARY, MISSING, Collector
from daemon_process import Daemon, until
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from scrape import metrics, parsed, total
from wire_client import Wire

from turnkeeper.v1 import turnkeeper_pb2 as pb

pytestmark = [pytest.mark.go_tools, pytest.mark.skipif(not BINARY.exists(), reason=MISSING)]
AGENT = pb.Caller(service="billing", agent="refunds", provider="gcp.gemini", model="gemini-test")
MARK = "do-not-export-this"


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector.running(tmp_path) as running:
        yield running


def environment(collector: Collector, protocol: str = "grpc") -> dict[str, str]:
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.otlp_grpc if protocol == "grpc" else collector.otlp_http,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_METRIC_EXPORT_INTERVAL": "200",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "OTEL_BLRP_SCHEDULE_DELAY": "100",
    }


def runaway(wire: Wire, request_id: str, carrier: dict[str, str]) -> None:
    """Ten turns, NONE, and a call all the same."""
    headers = tuple(carrier.items())
    for number in range(1, 12):
        before = wire.before(request_id, number, mode=pb.MODE_ANY, caller=AGENT, metadata=headers)
        call = pb.FunctionCall(id=f"c{number}", name="search", args_json=f'{{"q": "{MARK}"}}')
        request = pb.AfterModelRequest(
            request_id=request_id, model_call=number, calls=[call], mode_sent=before.mode, turns_since_prompt=number - 1
        )
        request.usage.input_tokens, request.usage.output_tokens = 100, 10
        wire.raw("AfterModel", request.SerializeToString(), metadata=headers)
    wire.end(request_id, pb.OUTCOME_FAILED)


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_spans_metrics_and_events_of_a_run_are_what_happened(
    tmp_path: Path, collector: Collector, protocol: str
) -> None:
    provider = TracerProvider(resource=Resource.create({"service.name": "application"}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=collector.otlp_grpc, insecure=True)))
    with Daemon.running(tmp_path, env=environment(collector, protocol)) as daemon, Wire(daemon.address_unix) as wire:
        with provider.get_tracer("application").start_as_current_span("answer the customer") as span:
            carrier: dict[str, str] = {}
            TraceContextTextMapPropagator().inject(carrier)
            runaway(wire, "traced", carrier)
        provider.shutdown()
        until(lambda: any(s["name"].startswith("tool_loop") for s in collector.spans()), what="the tool_loop span")
        until(lambda: len(decision_spans(collector)) == 22, what="22 decision spans")
        check_spans(collector, f"{span.get_span_context().trace_id:032x}", f"{span.get_span_context().span_id:016x}")
        check_events(collector)
        check_counts(collector, daemon)
    files = [path.read_text() for path in (tmp_path / "collector").glob("*.jsonl")]
    assert files
    assert not any(MARK in text for text in files)
    assert MARK not in daemon.stderr()


def decision_spans(collector: Collector) -> list[dict[str, Any]]:
    return [span for span in collector.spans() if span["name"].startswith("turnkeeper.v1.TurnKeeper/")]


def check_spans(collector: Collector, trace_id: str, span_id: str) -> None:
    spans = decision_spans(collector)
    assert {span["traceId"] for span in spans} == {trace_id}
    assert {span["parentSpanId"] for span in spans} == {span_id}
    verdicts = [span["attributes"]["turnkeeper.verdict"] for span in spans]
    assert (verdicts.count("allow"), verdicts.count("force_none"), verdicts.count("reject")) == (20, 1, 1)
    assert not any(span.get("status", {}).get("code") for span in spans)
    loop = next(span for span in collector.spans() if span["name"].startswith("tool_loop"))
    assert loop["name"] == "tool_loop refunds"
    assert (loop["traceId"], loop["parentSpanId"]) == (trace_id, span_id)
    assert loop["attributes"]["turnkeeper.outcome"] == "rejected"
    assert int(loop["startTimeUnixNano"]) <= min(int(span["startTimeUnixNano"]) for span in spans)
    stopped = {s["spanId"] for s in spans if s["attributes"]["turnkeeper.verdict"] != "allow"}
    assert {link["spanId"] for link in loop["links"]} == stopped


def check_events(collector: Collector) -> None:
    until(lambda: any(log.get("eventName") == "turnkeeper.request.ended" for log in collector.logs()), what="the end")
    names = [log.get("eventName") for log in collector.logs()]
    assert names.count("turnkeeper.decision") == 2
    assert names.count("turnkeeper.mode.switched") == 1
    assert names.count("turnkeeper.policy.loaded") == 1
    rejected = next(
        log
        for log in collector.logs()
        if log.get("eventName") == "turnkeeper.decision" and log["attributes"]["turnkeeper.verdict"] == "reject"
    )
    assert rejected["attributes"]["turnkeeper.request.id"] == "traced"
    assert rejected["attributes"]["turnkeeper.reason"] == "turn_limit"
    assert rejected["spanId"]


def check_counts(collector: Collector, daemon: Daemon) -> None:
    def told() -> bool:
        samples = parsed(collector.scrape().replace("# EOF", ""))
        return (
            total(samples, "turnkeeper_decisions_total") == 22 and total(samples, "turnkeeper_request_turns_count") == 1
        )

    until(told, what="22 decisions at the Collector's Prometheus exporter")
    theirs, ours = parsed(collector.scrape().replace("# EOF", "")), metrics(daemon.admin)
    for samples in (theirs, ours):
        assert total(samples, "turnkeeper_decisions_total", turnkeeper_verdict="allow") == 20
        assert (
            total(
                samples, "turnkeeper_decisions_total", turnkeeper_verdict="force_none", turnkeeper_reason="turn_limit"
            )
            == 1
        )
        assert (
            total(samples, "turnkeeper_decisions_total", turnkeeper_verdict="reject", gen_ai_agent_name="refunds") == 1
        )
        assert (
            total(samples, "turnkeeper_mode_switches_total", turnkeeper_mode_from="any", turnkeeper_mode_to="none") == 1
        )
        assert total(samples, "turnkeeper_rejected_calls_total", turnkeeper_reason="turn_limit") == 1
        assert total(samples, "turnkeeper_decision_duration_seconds_count") == 22
        assert total(samples, "turnkeeper_request_turns_sum") == 11
        assert total(samples, "turnkeeper_tokens_total", gen_ai_token_type="input") == 1100
        assert total(samples, "turnkeeper_tokens_total", gen_ai_token_type="output") == 110


def test_a_silent_collector_costs_one_line_and_a_counter(tmp_path: Path) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_METRIC_EXPORT_INTERVAL": "100"}
    with Daemon.running(tmp_path, env=env) as daemon, Wire(daemon.address_unix) as wire:
        runaway(wire, "unheard", {})
        until(lambda: wire.status().observer.export_failures > 3, timeout_s=60, what="failed exports that are counted")
        lines = [line for line in daemon.stderr().splitlines() if "export" in line.lower()]
        assert len(lines) == 1, daemon.stderr()
        assert "Traceback" not in daemon.stderr()


def test_without_an_endpoint_nothing_is_exported_and_metrics_are_served(tmp_path: Path) -> None:
    with Daemon.running(tmp_path) as daemon, Wire(daemon.address_unix) as wire:
        runaway(wire, "local", {})
        until(lambda: total(metrics(daemon.admin), "turnkeeper_decisions_total") == 22, what="22 decisions on /metrics")
        assert wire.status().observer.export_failures == 0
        assert wire.status().observer.facts_dropped == 0
