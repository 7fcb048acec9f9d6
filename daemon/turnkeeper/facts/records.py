"""The records that cross the process boundary, and their codec.

Law: both ends are of one version and one installation, so the form is compact and not negotiated: a frame is a
4-byte little-endian length and a msgpack array. A frame that does not parse ends the observer, which is
restarted; it never reaches the deciding side. No record holds a prompt, an argument or a result.

Enumerations travel as their numbers; times are nanoseconds since the epoch, durations nanoseconds.
"""

import struct
from collections.abc import Iterator
from enum import StrEnum

import msgspec

FRAME_BYTES_MAX = 16 * 1024 * 1024  # 512 histogram points with all their exemplars are about 1 MB; the rest is smaller
_LENGTH = struct.Struct("<I")


class Cause(StrEnum):
    """Why a fact was dropped."""

    QUEUE_FULL = "queue_full"  # the observer did not keep up
    OBSERVER_LOST = "observer_lost"  # it died before it said what became of the fact
    EXPORT_FAILED = "export_failed"  # the collector did not take it
    EXPORT_QUEUE_FULL = "export_queue_full"  # the collector did not keep up


class Record(msgspec.Struct, array_like=True, frozen=True):
    """Base of all records."""


class CallerRecord(Record, frozen=True):
    """Who asked. All but ``conversation_id`` are bounded when used as labels."""

    service: str = ""
    agent: str = ""
    provider: str = ""
    model: str = ""
    conversation_id: str = ""


class CountersRecord(Record, frozen=True):
    """Counts of one request id."""

    turns: int
    model_calls: int
    function_calls: int
    tokens: int
    cost_micro_usd: int
    elapsed_ns: int
    limit: int
    remaining: int
    limit_off: bool
    unit: int


class ReportRecord(Record, frozen=True):
    """A finding below the verdict, or a guard that only reports."""

    reason: int
    verdict: int
    message: str


class LapRecord(Record, frozen=True):
    """A loop that was found: repetition, cycle, error_streak or similar."""

    kind: str
    period: int
    laps: int
    fingerprint: str  # of the pattern, 16 hex digits of a keyed hash


class DecisionRecord(Record, tag="decision", frozen=True):
    """One decision: a span, its events, a line of the decision log, a line for watchers.

    ``exported`` is False for a record made only for watchers. ``mode_switched`` tells that the mode to send is
    not the mode asked (under OBSERVE: would not have been).
    """

    seq: int
    exported: bool
    method: str  # BeforeModel | AfterModel
    point: str  # before_model | after_model
    request_id: str
    tenant: str
    parent: str
    model_call: int
    attempt: int
    chunk: int
    started_ns: int
    duration_ns: int
    verdict: int
    verdict_if_enforced: int
    enforced: bool
    reason: int
    message: str
    model_hint: str
    disposition: int
    policy: str
    policy_version: str
    decision_id: str
    counters: CountersRecord
    caller: CallerRecord
    mode_from: int
    mode_to: int
    mode_switched: bool
    function_calls: int
    traceparent: str  # the caller's, may be empty
    span_id: str  # 16 hex digits: this decision's span
    trace_id: str  # 32 hex digits: the caller's, or a new one
    reports: tuple[ReportRecord, ...] = ()
    laps: tuple[LapRecord, ...] = ()


class LoopRecord(Record, tag="loop", frozen=True):
    """The end of a request id: the ``tool_loop`` span and ``turnkeeper.request.ended``."""

    seq: int
    request_id: str
    tenant: str
    outcome: str
    policy: str
    counters: CountersRecord
    caller: CallerRecord
    started_ns: int
    ended_ns: int
    traceparent: str  # of the first event, may be empty
    trace_id: str
    span_id: str
    links: tuple[tuple[str, str], ...] = ()  # (traceparent, span id) of non-ALLOW decisions


class PolicyRecord(Record, tag="policy", frozen=True):
    """A policy file was loaded, or was refused and the last good one kept (``error`` not empty)."""

    seq: int
    time_ns: int
    versions: tuple[tuple[str, str], ...]  # (name, version)
    error: str
    error_type: str


FactRecord = DecisionRecord | LoopRecord | PolicyRecord


class Exemplar(Record, frozen=True):
    """A measured value and the span it was measured in."""

    value: float
    time_ns: int
    trace_id: str
    span_id: str


class HistogramPoint(Record, frozen=True):
    """Cumulative since ``Snapshot.started_ns``. ``buckets`` are not cumulative over bounds; the last is +Inf."""

    labels: tuple[str, ...]
    buckets: tuple[int, ...]
    total: float
    count: int
    exemplars: tuple[Exemplar, ...] = ()


class CounterPoint(Record, frozen=True):
    """Cumulative since ``Snapshot.started_ns``; of a gauge the present value."""

    labels: tuple[str, ...]
    value: int


class Hello(Record, tag="hello", frozen=True):
    """The first frame of every observer."""

    version: str
    started_ns: int  # of the deciding process: the start time of every cumulative series
    instance_id: str


class Snapshot(Record, tag="snapshot", frozen=True):
    """Points that changed since the last snapshot; a new observer is sent all, over several frames."""

    time_ns: int
    complete: bool  # nothing that changed is left for a further frame
    counters: dict[str, tuple[CounterPoint, ...]]
    gauges: dict[str, tuple[CounterPoint, ...]]
    histograms: dict[str, tuple[HistogramPoint, ...]]


class Status(Record, tag="status", frozen=True):
    """What ``GetStatus`` answers, as JSON, and whether the daemon takes new work."""

    time_ns: int
    ready: bool
    reason: str
    body: str


class Facts(Record, tag="facts", frozen=True):
    """A batch of facts."""

    records: tuple[FactRecord, ...]


class Stop(Record, tag="stop", frozen=True):
    """Export what is there, within ``deadline_s``, and exit."""

    deadline_s: float


class Report(Record, tag="report", frozen=True):
    """From the observer, every second and after every export: what became of the facts in this observer's life.

    A fact is settled once: told, or dropped by a cause. What is neither is still in the observer.
    """

    told: int  # every span and event of it was taken by an exporter, or it has none to export
    dropped: dict[str, int]  # by cause
    export_failures: int  # export calls that failed, of any signal


Frame = Hello | Snapshot | Status | Facts | Stop | Report

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Frame).decode


def pack(frame: Frame) -> bytes:
    """Return one frame with its length."""
    body = _encode(frame)
    return _LENGTH.pack(len(body)) + body


class Unpacker:
    """Cuts a byte stream into frames, however it arrives."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that ``data`` completes.

        Raises ``ValueError`` on a frame that is too long or does not parse.
        """
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > FRAME_BYTES_MAX:
                msg = f"a frame of {length} bytes, at most {FRAME_BYTES_MAX} allowed"
                raise ValueError(msg)
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            yield _decode(body)
