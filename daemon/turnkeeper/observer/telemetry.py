"""Facts and points on their way to a collector."""

import logging
import threading
import time
from collections.abc import Callable, Mapping

from opentelemetry.sdk._logs import ReadWriteLogRecord
from opentelemetry.sdk.metrics.export import MetricsData
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from turnkeeper.facts.records import Cause, DecisionRecord, FactRecord, Hello, LoopRecord
from turnkeeper.facts.sampling import LOGS, METRICS, TRACES
from turnkeeper.observer import events, otlp, schema, spans
from turnkeeper.observer.complaints import Complaints, LastError
from turnkeeper.observer.ledger import Ledger
from turnkeeper.observer.metrics import MetricsMaker
from turnkeeper.observer.outlets import Attempt, LogOutlet, MetricOutlet, SpanOutlet
from turnkeeper.observer.points import Points

METRIC_INTERVAL_MS = 60_000  # default of the OpenTelemetry specification
EVENT_ROUTES = ("logs", "span", "both")

_log = logging.getLogger(__name__)


class Telemetry:
    """Tells every fact and point, to whatever the variables name."""

    def __init__(
        self, environ: Mapping[str, str], hello: Hello, points: Points, ledger: Ledger, settled: Callable[[], None]
    ) -> None:
        last_error = LastError()
        last_error.install()
        complaints = Complaints(last_error)
        resource = otlp.resource(version=hello.version, instance_id=hello.instance_id)
        scope = InstrumentationScope(schema.SCOPE, hello.version)
        self._ledger = ledger
        self._points = points
        self._metrics = MetricsMaker(resource, scope, hello.started_ns)
        self._spans = spans.Spans(resource, scope)
        self._log_records = events.LogRecords(resource, scope)
        self._route = _event_route(environ)

        def attempt(signal: str) -> Attempt:
            return Attempt(signal.lower(), ledger, complaints, settled)

        exporters = otlp.build(environ)
        self._span_outlet: SpanOutlet | None = None
        self._log_outlet: LogOutlet | None = None
        self._metric_outlet: MetricOutlet | None = None
        if exporters.spans is not None:
            self._span_outlet = SpanOutlet(exporters.spans, environ, attempt(TRACES), ledger)
        if exporters.logs is not None:
            self._log_outlet = LogOutlet(exporters.logs, environ, attempt(LOGS), ledger)
        if exporters.metrics is not None:
            interval_s = _metric_interval_s(environ)
            self._metric_outlet = MetricOutlet(exporters.metrics, self._metrics_data, interval_s, attempt(METRICS))

    def tell(self, record: FactRecord) -> None:
        """Make a fact into its span and events and queue them."""
        try:
            span, logs = self._made(record)
        except Exception:  # noqa: BLE001 - one fact must not cost the others
            _log.exception("a fact cannot be told", extra={"fields": {"kind": type(record).__name__}})
            self._ledger.open(record.seq, 1)
            self._ledger.settle(record.seq, Cause.EXPORT_FAILED)
            return
        self._ledger.open(record.seq, (span is not None) + len(logs))
        if span is not None and self._span_outlet is not None:
            self._span_outlet.put(span)
        if self._log_outlet is not None:
            for log in logs:
                self._log_outlet.put(log)

    def flush(self, deadline_s: float) -> None:
        """Export what is there, all signals at once, until the deadline; the rest is dropped."""
        end = time.monotonic() + deadline_s
        outlets = [outlet for outlet in (self._span_outlet, self._log_outlet, self._metric_outlet) if outlet]
        threads = [threading.Thread(target=outlet.flush, daemon=True) for outlet in outlets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        self._ledger.abandon(Cause.EXPORT_FAILED)

    def _made(self, record: FactRecord) -> tuple[spans.FactSpan | None, list[ReadWriteLogRecord]]:
        happened = events.of(record)
        span, logs = None, []
        if self._span_outlet is not None:
            on_span = () if self._route == "logs" else tuple(map(events.to_span_event, happened))
            span = self._spans.make(record, on_span)
        if self._log_outlet is not None and self._route != "span":
            context = spans.context(record) if isinstance(record, DecisionRecord | LoopRecord) else None
            logs = [self._log_records.make(event, record.seq, context) for event in happened]
        return span, logs

    def _metrics_data(self) -> MetricsData | None:
        view = self._points.read()
        return None if view is None else self._metrics.make(view)


def _event_route(environ: Mapping[str, str]) -> str:
    route = environ.get("TURNKEEPER_EVENTS", "").strip().lower() or "logs"
    if route in EVENT_ROUTES:
        return route
    fields = {"TURNKEEPER_EVENTS": route, "allowed": EVENT_ROUTES, "used": "logs"}
    _log.warning("unknown way for events, the default is used", extra={"fields": fields})
    return "logs"


def _metric_interval_s(environ: Mapping[str, str]) -> float:
    told = environ.get("OTEL_METRIC_EXPORT_INTERVAL", "").strip()
    return (int(told) if told.isdecimal() and int(told) else METRIC_INTERVAL_MS) / 1e3
