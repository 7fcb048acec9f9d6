"""Exporters, built from the OpenTelemetry variables alone.

Law: a variable that cannot be used leaves its signal unexported, with one line that says so; it never ends the
observer.
"""

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from opentelemetry.sdk._logs.export import LogRecordExporter
from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace.export import SpanExporter

from turnkeeper.facts.sampling import LOGS, METRICS, TRACES, signal_exported

GRPC, HTTP = "grpc", "http/protobuf"
POINTS_PER_EXPORT = 2_000  # with exemplars below the 4 MB that a gRPC receiver takes by default

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Exporters(NamedTuple):
    """One for each signal that is exported."""

    spans: SpanExporter | None
    metrics: MetricExporter | None
    logs: LogRecordExporter | None


def resource(*, version: str, instance_id: str) -> Resource:
    """Return who tells; what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes first.

    ``service.instance.id`` is ours, since the SDK's is a random one for each process: new series at each restart.
    """
    ours = {"service.name": "turnkeeper", "service.version": version, "service.instance.id": instance_id}
    return Resource.create({**ours, **OTELResourceDetector().detect().attributes})


def build(environ: Mapping[str, str]) -> Exporters:
    """Return the exporters that the variables ask for."""
    return Exporters(
        _exporter(environ, TRACES, _span_exporter),
        _exporter(environ, METRICS, _metric_exporter),
        _exporter(environ, LOGS, _log_exporter),
    )


def _exporter(environ: Mapping[str, str], signal: str, make: Callable[[str], T]) -> T | None:
    if not signal_exported(environ, signal):
        return None
    try:
        return make(_protocol(environ, signal))
    except Exception as error:  # noqa: BLE001 - whatever a variable makes a library raise
        fields = {"signal": signal.lower(), "error": f"{type(error).__name__}: {error}"}
        _log.error("a signal is not exported: its OTEL_ variables cannot be used", extra={"fields": fields})
        return None


def _protocol(environ: Mapping[str, str], signal: str) -> str:
    common = environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    protocol = (environ.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or common or GRPC).strip().lower()
    if protocol in {GRPC, HTTP}:
        return protocol
    fields = {"signal": signal.lower(), "protocol": protocol, "allowed": [GRPC, HTTP], "used": GRPC}
    _log.warning("unknown OTLP protocol, the default is used", extra={"fields": fields})
    return GRPC


# The two protocols are imported on use: each costs time and memory that the other does not need.
# ruff: noqa: PLC0415


def _span_exporter(protocol: str) -> SpanExporter:
    if protocol == HTTP:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

        return HttpExporter()
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _metric_exporter(protocol: str) -> MetricExporter:
    if protocol == HTTP:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter

        return HttpExporter(max_export_batch_size=POINTS_PER_EXPORT)
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter

    return OTLPMetricExporter(max_export_batch_size=POINTS_PER_EXPORT)


def _log_exporter(protocol: str) -> LogRecordExporter:
    if protocol == HTTP:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpExporter

        return HttpExporter()
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter

    return OTLPLogExporter()
