"""OTLP JSON traces with GenAI spans, as a Collector's file exporter writes them: one batch a line.

A span of a model call (operation ``chat``, ``generate_content`` or ``text_completion``) is a response. Its calls are
in ``gen_ai.output.messages``; where content was not recorded, they are the ``execute_tool`` spans up to the next model
call. Results are in ``execute_tool`` spans, or in the next ``gen_ai.input.messages``. The loop that a span is part of
is that of the nearest span of an agent above it, so that a sub-agent is a run of its own.

The spans of a trace come in any order and over many lines. A trace is told at the end of the input, or when more than
``SPANS_MAX`` spans are kept; the one longest without a new span is told first.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import msgspec

from turnkeeper.core.events import Usage
from turnkeeper.replay.runs import FunctionCall, FunctionResult, Response, Run, arguments, digest

SPANS_MAX = 20_000
_MODEL = ("chat", "generate_content", "text_completion")
_KINDS = {**dict.fromkeys(_MODEL, "model"), "execute_tool": "tool", "invoke_agent": "agent", "create_agent": ""}
_ERROR = 2


class _Value(msgspec.Struct, rename="camel"):
    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | None = None
    bool_value: bool | None = None
    array_value: "_Array | None" = None
    kvlist_value: "_Pairs | None" = None

    def plain(self) -> Any:  # noqa: ANN401 - any JSON
        """Return it as JSON."""
        if self.array_value is not None:
            return [value.plain() for value in self.array_value.values]
        if self.kvlist_value is not None:
            return {pair.key: pair.value.plain() for pair in self.kvlist_value.values}
        if self.int_value is not None:
            return int(self.int_value)
        told = (self.string_value, self.double_value, self.bool_value)
        return next((value for value in told if value is not None), None)


class _Array(msgspec.Struct):
    values: list[_Value] = []


class _Pair(msgspec.Struct):
    key: str
    value: _Value


class _Pairs(msgspec.Struct):
    values: list[_Pair] = []


class _Status(msgspec.Struct):
    code: int | str = 0


class _Span(msgspec.Struct, rename="camel"):
    trace_id: str
    span_id: str
    parent_span_id: str = ""
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[_Pair] = []
    status: _Status | None = None


class _Scope(msgspec.Struct):
    spans: list[_Span] = []


class _Resource(msgspec.Struct, rename="camel"):
    scope_spans: list[_Scope] = []


class _Batch(msgspec.Struct, rename="camel"):
    resource_spans: list[_Resource]


class _Part(msgspec.Struct):
    type: str = ""
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    response: Any = None
    result: Any = None  # an earlier name of ``response``


class _Message(msgspec.Struct):
    parts: list[_Part] = []


class _Kept(msgspec.Struct):
    """What is kept of a span. Results are by call id."""

    parent: str
    kind: str = ""
    start_ns: int = 0
    end_ns: int = 0
    agent: str = ""
    model: str = ""
    calls: list[tuple[str, FunctionCall]] = []
    results: dict[str, tuple[bytes, bool]] = {}
    usage: Usage = Usage()


class _Trace(msgspec.Struct):
    where: str
    spans: dict[str, _Kept] = {}


_decode = msgspec.json.Decoder(_Batch).decode


class Gatherer:
    """Gathers spans into runs."""

    def __init__(self) -> None:
        self._traces: OrderedDict[str, _Trace] = OrderedDict()
        self._spans = 0

    def add(self, data: bytes, where: str) -> Iterator[Run]:
        """Take one batch; yield the runs of traces that had to go."""
        for resource in _decode(data).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self._keep(span, where)
        while self._spans > SPANS_MAX and self._traces:
            yield from self._oldest()

    def close(self) -> Iterator[Run]:
        """Yield the runs of all traces that are left."""
        while self._traces:
            yield from self._oldest()

    def _keep(self, span: _Span, where: str) -> None:
        trace = self._traces.setdefault(span.trace_id, _Trace(where))
        self._traces.move_to_end(span.trace_id)
        self._spans += span.span_id not in trace.spans
        trace.spans[span.span_id] = _kept(span)

    def _oldest(self) -> Iterator[Run]:
        name, trace = self._traces.popitem(last=False)
        self._spans -= len(trace.spans)
        return _runs(name, trace)


def _kept(span: _Span) -> _Kept:
    told = {pair.key: pair.value for pair in span.attributes if pair.key.startswith("gen_ai.")}
    operation = _text(told, "gen_ai.operation.name")
    kept = _Kept(span.parent_span_id, _KINDS.get(operation, ""))
    kept.start_ns, kept.end_ns = int(span.start_time_unix_nano), int(span.end_time_unix_nano)
    kept.agent = _text(told, "gen_ai.agent.name")
    if kept.kind == "model":
        _take_model(kept, told)
    elif kept.kind == "tool":
        _take_tool(kept, span, told)
    return kept


def _take_model(kept: _Kept, told: dict[str, _Value]) -> None:
    kept.model = _text(told, "gen_ai.response.model") or _text(told, "gen_ai.request.model")
    kept.usage = Usage(_number(told, "gen_ai.usage.input_tokens"), _number(told, "gen_ai.usage.output_tokens"))
    for part in _parts(told, "gen_ai.output.messages"):
        if part.type == "tool_call":
            args = None if part.arguments is None else arguments(part.arguments)
            kept.calls.append((part.id or "", FunctionCall(part.name or "", args)))
    for part in _parts(told, "gen_ai.input.messages"):
        if part.type == "tool_call_response" and part.id:
            kept.results[part.id] = digest(part.result if part.response is None else part.response), False


def _take_tool(kept: _Kept, span: _Span, told: dict[str, _Value]) -> None:
    args = told.get("gen_ai.tool.call.arguments")
    text = None if args is None else arguments(args.plain())
    call_id = _text(told, "gen_ai.tool.call.id") or span.span_id
    kept.calls.append((call_id, FunctionCall(_text(told, "gen_ai.tool.name"), text)))
    failed = span.status is not None and span.status.code in (_ERROR, "STATUS_CODE_ERROR")
    result = told.get("gen_ai.tool.call.result")
    if result is not None or failed:
        error = next((pair.value.plain() for pair in span.attributes if pair.key == "error.type"), "")
        kept.results[call_id] = digest(error if result is None else result.plain()), failed


def _text(told: dict[str, _Value], key: str) -> str:
    value = told.get(key)
    return (value.string_value or "") if value is not None else ""


def _number(told: dict[str, _Value], key: str) -> int:
    value = told.get(key)
    return int(value.int_value or value.double_value or 0) if value is not None else 0


def _parts(told: dict[str, _Value], key: str) -> list[_Part]:
    """Return the parts of all messages of an attribute, which is structured or JSON text."""
    value = told.get(key)
    if value is None:
        return []
    plain = value.plain()
    if isinstance(plain, str):
        messages = msgspec.json.decode(plain, type=list[_Message])
    else:
        messages = msgspec.convert(plain, list[_Message])
    return [part for message in messages for part in message.parts]


def _runs(name: str, trace: _Trace) -> Iterator[Run]:
    """Split a trace into its loops."""
    loops: dict[str, list[tuple[str, _Kept]]] = {}
    for span_id, span in trace.spans.items():
        if span.kind in ("model", "tool"):
            loops.setdefault(_agent(trace, span), []).append((span_id, span))
    for agent, spans in loops.items():
        prompt = _prompt([span for _, span in sorted(spans, key=lambda each: (each[1].start_ns, each[0]))])
        if not prompt:
            continue
        above = trace.spans.get(agent)
        models = [span.model for _, span in spans if span.model]
        named = [span.agent for _, span in spans if span.agent]
        title = (above.agent if above else "") or (named[0] if named else "")
        yield Run(f"{name}/{agent}" if agent else name, trace.where, (prompt,), title, models[0] if models else "")


def _agent(trace: _Trace, span: _Kept) -> str:
    """Return the id of the nearest span of an agent above; empty when there is none."""
    seen = set()
    at = span.parent
    while at in trace.spans and at not in seen:
        seen.add(at)
        if trace.spans[at].kind == "agent":
            return at
        at = trace.spans[at].parent
    return ""


def _prompt(spans: list[_Kept]) -> tuple[Response, ...]:
    """Put the spans of one loop together, in order of time."""
    asked = [span for span in spans if span.kind == "model"]
    starts = [span.start_ns for span in asked]
    ran: list[list[_Kept]] = [[] for _ in asked]
    results: dict[str, tuple[bytes, bool]] = {}
    for span in spans:
        if span.kind == "tool":
            results |= span.results
            if at := bisect_right(starts, span.start_ns):
                ran[at - 1].append(span)
        else:
            results = span.results | results  # what the tool's own span tells is not told twice
    return tuple(
        _response(span, span.calls or [call for tool in tools for call in tool.calls], results)
        for span, tools in zip(asked, ran, strict=True)
    )


def _response(span: _Kept, calls: list[tuple[str, FunctionCall]], results: dict[str, tuple[bytes, bool]]) -> Response:
    answered = tuple(
        FunctionResult(index, *results[call_id]) for index, (call_id, _) in enumerate(calls) if call_id in results
    )
    return Response(tuple(call for _, call in calls), answered, span.usage, span.start_ns, span.end_ns)
