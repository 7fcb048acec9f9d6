"""Facts as events: log records with an event name, events of a span, or both.

Law: an ALLOW is no event. The body is a sentence for a person and never holds content.
"""

from typing import NamedTuple

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LogRecordLimits, ReadWriteLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event as SpanEvent
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

from turnkeeper.core.model import Reason, Verdict
from turnkeeper.facts.records import DecisionRecord, FactRecord, LoopRecord, PolicyRecord
from turnkeeper.observer import attributes, schema
from turnkeeper.observer.attributes import Attributes

_SEVERITIES = {Verdict.FORCE_NONE: SeverityNumber.INFO, Verdict.REJECT: SeverityNumber.WARN}


class Event(NamedTuple):
    """One event, before it is known where it goes."""

    name: str
    severity: SeverityNumber
    time_ns: int
    body: str
    attributes: Attributes


class EventLogRecord(LogRecord):
    """A log record that knows its fact."""

    seq: int


def of(record: FactRecord) -> tuple[Event, ...]:
    """Return the events of a fact."""
    match record:
        case DecisionRecord():
            return _of_decision(record)
        case LoopRecord():
            body = f"{record.outcome} after {record.counters.turns} turns"
            told = attributes.loop(record)
            return (Event(schema.EVENT_REQUEST_ENDED, SeverityNumber.INFO, record.ended_ns, body, told),)
        case PolicyRecord():
            return _of_policies(record)


def _of_decision(record: DecisionRecord) -> tuple[Event, ...]:
    if not record.exported:
        return ()
    at_ns = record.started_ns + record.duration_ns
    told = attributes.decision(record)
    events = []
    severity = _SEVERITIES.get(Verdict(record.verdict_if_enforced))
    if severity is not None:
        events.append(Event(schema.EVENT_DECISION, severity, at_ns, record.message, told))
    if record.mode_switched:
        body = "mode {} to {}".format(*attributes.mode_switch(record).values())
        events.append(Event(schema.EVENT_MODE_SWITCHED, SeverityNumber.INFO, at_ns, body, told))
    for lap in record.laps:
        body = f"{lap.kind}: a pattern of {lap.period} turns, {lap.laps} laps"
        found = {**told, **attributes.lap(lap)}
        events.append(Event(schema.EVENT_LOOP_DETECTED, SeverityNumber.WARN, at_ns, body, found))
    for finding in record.reports:
        judged: Attributes = {
            schema.VERDICT: schema.word(Verdict, finding.verdict),
            schema.REASON: schema.word(Reason, finding.reason),
            schema.ENFORCED: False,
        }
        events.append(Event(schema.EVENT_FINDING, SeverityNumber.INFO, at_ns, finding.message, {**told, **judged}))
    return tuple(events)


def _of_policies(record: PolicyRecord) -> tuple[Event, ...]:
    if record.error:
        told: Attributes = {schema.ERROR_TYPE: record.error_type}
        name = schema.EVENT_POLICY_LOAD_FAILED
        return (Event(name, SeverityNumber.ERROR, record.time_ns, record.error, told),)
    return tuple(
        Event(
            schema.EVENT_POLICY_LOADED,
            SeverityNumber.INFO,
            record.time_ns,
            f"policy {name} loaded",
            {schema.POLICY_NAME: name, schema.POLICY_VERSION: version},
        )
        for name, version in record.versions
    )


def to_span_event(event: Event) -> SpanEvent:
    """Return an event of a span."""
    return SpanEvent(event.name, event.attributes, event.time_ns)


class LogRecords:
    """Makes log records of events."""

    def __init__(self, resource: Resource, scope: InstrumentationScope) -> None:
        self._resource = resource
        self._scope = scope
        self._limits = LogRecordLimits()

    def make(self, event: Event, seq: int, span: SpanContext | None) -> ReadWriteLogRecord:
        """Return the log record of an event, in the context of a span if there is one."""
        context = Context() if span is None else set_span_in_context(NonRecordingSpan(span))
        record = EventLogRecord(
            timestamp=event.time_ns,
            context=context,
            severity_number=event.severity,
            body=event.body,
            attributes=event.attributes,
            event_name=event.name,
        )
        record.seq = seq
        return ReadWriteLogRecord(record, self._resource, self._scope, self._limits)
