"""Facts as finished spans, with the ids and times that the deciding process gave them.

Law: a REJECT is no error of a span: the daemon did its work. A span is exported although its caller was not
sampled when it tells of something other than an ALLOW, which its maker decided.
"""

import re

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event as SpanEvent
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags

from turnkeeper.facts.records import DecisionRecord, FactRecord, LoopRecord
from turnkeeper.facts.sampling import parse_traceparent
from turnkeeper.observer import attributes, schema

_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_TRACE_ID = re.compile(r"..-([0-9a-f]{32})-")  # of a traceparent; one made for a caller without has no parent span


class FactSpan(ReadableSpan):
    """A span that knows its fact."""

    seq: int


class Spans:
    """Makes spans of facts."""

    def __init__(self, resource: Resource, scope: InstrumentationScope) -> None:
        self._resource = resource
        self._scope = scope

    def make(self, record: FactRecord, events: tuple[SpanEvent, ...]) -> FactSpan | None:
        """Return the span of a fact, if it has one."""
        match record:
            case DecisionRecord(exported=True):
                return self._decision(record, events)
            case LoopRecord():
                return self._loop(record, events)
        return None

    def _decision(self, record: DecisionRecord, events: tuple[SpanEvent, ...]) -> FactSpan:
        method = f"{schema.SERVICE}/{record.method}"
        span = FactSpan(
            method,
            context=context(record),
            parent=_parent(record),
            resource=self._resource,
            attributes={
                schema.RPC_SYSTEM: "grpc",
                schema.RPC_METHOD: method,
                schema.RPC_STATUS: "OK",
                **attributes.decision(record),
            },
            events=events,
            kind=SpanKind.SERVER,
            start_time=record.started_ns,
            end_time=record.started_ns + record.duration_ns,
            instrumentation_scope=self._scope,
        )
        span.seq = record.seq
        return span

    def _loop(self, record: LoopRecord, events: tuple[SpanEvent, ...]) -> FactSpan:
        span = FactSpan(
            f"{schema.LOOP_SPAN} {record.caller.agent}".rstrip(),
            context=context(record),
            parent=_parent(record),
            resource=self._resource,
            attributes=attributes.loop(record),
            events=events,
            links=_links(record),
            kind=SpanKind.INTERNAL,
            start_time=record.started_ns,
            end_time=record.ended_ns,
            instrumentation_scope=self._scope,
        )
        span.seq = record.seq
        return span


def context(record: DecisionRecord | LoopRecord) -> SpanContext:
    """Return the identity of a fact's span."""
    return SpanContext(int(record.trace_id, 16), int(record.span_id, 16), is_remote=False, trace_flags=_SAMPLED)


def _parent(record: DecisionRecord | LoopRecord) -> SpanContext | None:
    parent = parse_traceparent(record.traceparent)
    if parent is None or parent.trace_id != record.trace_id:
        return None
    flags = TraceFlags(parent.flags)
    return SpanContext(int(parent.trace_id, 16), int(parent.span_id, 16), is_remote=True, trace_flags=flags)


def _links(record: LoopRecord) -> tuple[Link, ...]:
    return tuple(Link(_linked(traceparent, span_id, record.trace_id)) for traceparent, span_id in record.links)


def _linked(traceparent: str, span_id: str, own_trace_id: str) -> SpanContext:
    match = _TRACE_ID.match(traceparent)
    trace_id = match[1] if match else own_trace_id
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=_SAMPLED)
