"""The way out of the process for each signal: the SDK's batches, with a counted way in and a counted result.

Law: what goes in is settled in the ledger once. A batch processor of the SDK drops silently when it is full, so
no more than its size is ever let in: what is inside or in an export. None of it waits for a collector but the
SDK's own threads.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from opentelemetry.sdk._logs import ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.metrics.export import MetricExporter, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from turnkeeper.facts.records import Cause
from turnkeeper.observer.complaints import Complaints
from turnkeeper.observer.events import EventLogRecord
from turnkeeper.observer.ledger import Ledger
from turnkeeper.observer.spans import FactSpan

QUEUE_MAX = 2_048  # default of the OpenTelemetry specification


class Attempt:
    """Runs export calls of one signal and counts how they end."""

    def __init__(self, signal: str, ledger: Ledger, complaints: Complaints, settled: Callable[[], None]) -> None:
        self._signal = signal
        self._ledger = ledger
        self._complaints = complaints
        self._settled = settled

    def run(self, export: Callable[[], Enum], seqs: Sequence[int]) -> bool:
        """Call ``export`` and settle its facts; tell the deciding process at once, since this one may be killed."""
        try:
            success = export().name == "SUCCESS"
        except Exception:  # noqa: BLE001 - an exporter's failure, whatever it is
            success = False
        if success:
            self._complaints.worked(self._signal)
        else:
            self._ledger.export_failed()
            self._complaints.failed(self._signal)
        for seq in seqs:
            self._ledger.settle(seq, "" if success else Cause.EXPORT_FAILED)
        self._settled()
        return success


class _Gate:
    """Lets in no more than a queue holds."""

    def __init__(self, environ: Mapping[str, str], variable: str, ledger: Ledger) -> None:
        told = environ.get(variable, "").strip()
        self.size = int(told) if told.isdecimal() and int(told) else QUEUE_MAX
        self._ledger = ledger
        self._lock = threading.Lock()
        self._inside = 0

    def enter(self, seq: int) -> bool:
        """Let one in, or settle it as dropped."""
        with self._lock:
            free = self._inside < self.size
            self._inside += free
        if not free:
            self._ledger.settle(seq, Cause.EXPORT_QUEUE_FULL)
        return free

    def leave(self, count: int) -> None:
        """Make room for this many."""
        with self._lock:
            self._inside -= count


class SpanOutlet:
    """Exports spans in batches."""

    def __init__(self, exporter: SpanExporter, environ: Mapping[str, str], attempt: Attempt, ledger: Ledger) -> None:
        self._gate = _Gate(environ, "OTEL_BSP_MAX_QUEUE_SIZE", ledger)
        self._processor = BatchSpanProcessor(_Spans(exporter, attempt, self._gate), max_queue_size=self._gate.size)

    def put(self, span: FactSpan) -> None:
        """Queue a span, or drop it."""
        if self._gate.enter(span.seq):
            self._processor.on_end(span)

    def flush(self) -> None:
        """Export all; may block for long."""
        self._processor.shutdown()  # type: ignore[no-untyped-call]  # the SDK is not typed here


class LogOutlet:
    """Exports log records in batches."""

    def __init__(
        self, exporter: LogRecordExporter, environ: Mapping[str, str], attempt: Attempt, ledger: Ledger
    ) -> None:
        self._gate = _Gate(environ, "OTEL_BLRP_MAX_QUEUE_SIZE", ledger)
        self._processor = BatchLogRecordProcessor(_Logs(exporter, attempt, self._gate), max_queue_size=self._gate.size)

    def put(self, record: ReadWriteLogRecord) -> None:
        """Queue a log record, or drop it."""
        if self._gate.enter(_seq(record)):
            self._processor.on_emit(record)

    def flush(self) -> None:
        """Export all; may block for long."""
        self._processor.shutdown()  # type: ignore[no-untyped-call]


class MetricOutlet:
    """Exports the points at an interval; those of a failed export are in the next one."""

    def __init__(
        self, exporter: MetricExporter, make: Callable[[], MetricsData | None], interval_s: float, attempt: Attempt
    ) -> None:
        self._exporter = exporter
        self._make = make
        self._interval_s = interval_s
        self._attempt = attempt
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    def flush(self) -> None:
        """Export a last time; may block for long."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._interval_s):
            self._export()
        self._export()

    def _export(self) -> None:
        data = self._make()
        if data is not None:
            self._attempt.run(lambda: self._exporter.export(data), ())


class _Spans(SpanExporter):
    def __init__(self, exporter: SpanExporter, attempt: Attempt, gate: _Gate) -> None:
        self._exporter = exporter
        self._attempt = attempt
        self._gate = gate

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        seqs = [span.seq for span in spans if isinstance(span, FactSpan)]
        success = self._attempt.run(lambda: self._exporter.export(spans), seqs)
        self._gate.leave(len(seqs))
        return SpanExportResult.SUCCESS if success else SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _Logs(LogRecordExporter):
    def __init__(self, exporter: LogRecordExporter, attempt: Attempt, gate: _Gate) -> None:
        self._exporter = exporter
        self._attempt = attempt
        self._gate = gate

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        success = self._attempt.run(lambda: self._exporter.export(batch), [_seq(record) for record in batch])
        self._gate.leave(len(batch))
        return LogRecordExportResult.SUCCESS if success else LogRecordExportResult.FAILURE

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the base's signature
        return True


def _seq(record: ReadableLogRecord | ReadWriteLogRecord) -> int:
    log_record = record.log_record
    if not isinstance(log_record, EventLogRecord):
        message = f"a log record that is no event: {type(log_record).__name__}"
        raise TypeError(message)
    return log_record.seq
