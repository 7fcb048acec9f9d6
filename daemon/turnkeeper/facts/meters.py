"""Meters: one table of cumulative counters and histograms, kept by the deciding process.

Law: metrics are state, not facts. They are exact whatever is sampled, queued or lost; the observer is sent
snapshots and may die. A label value that callers send is bounded: after ``LABEL_VALUES_MAX`` distinct ones per
label the rest are ``_OTHER``, which is counted.

Names here are short; ``observer.schema`` has the name, unit and attribute of every instrument once.
"""

from bisect import bisect_left
from itertools import islice
from typing import TypeVar

from turnkeeper.facts.records import CounterPoint, Exemplar, HistogramPoint, Snapshot

LABEL_VALUES_MAX = 200  # a platform's agents or models on one wall screen; more is an id in disguise
OTHER = "_OTHER"
VALUE_MAX = 2**63 - 1  # int64 of OTLP; callers tell tokens as large as they like
SNAPSHOT_POINTS = 512  # 1 to 2 ms of the event loop; more goes into a further snapshot

DURATION_S = (0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
COUNTS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0)
LOOP_S = tuple(0.1 * 2**power for power in range(13))
UTILIZATION = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.5, 2.0)

# Every instrument, with the labels that its points carry, in order.
COUNTERS = {
    "decisions": ("verdict", "reason", "point", "enforced", "policy", "agent"),
    "loops": ("kind", "agent"),
    "mode_switches": ("from", "to", "reason", "enforced", "agent"),
    "rejected_calls": ("reason", "enforced", "agent"),
    "tokens": ("token_type", "agent", "model"),
    "fallback_decisions": ("grpc_code",),
    "evictions": ("cause",),
    "facts_dropped": ("cause",),
    "observer_restarts": (),
    "export_failures": (),
    "policy_reloads": ("error_type",),
    "labels_bounded": ("label",),
    "mode_mismatches": ("answered", "sent"),
    "results_unmatched": (),
    "requests_reused": (),
    "policies_gone": (),
    "findings_reported": ("reason", "verdict"),
}
GAUGES = {"active": ("agent",)}
HISTOGRAMS = {
    "decision_duration": (("verdict", "point"), DURATION_S),
    "request_turns": (("outcome", "agent"), COUNTS),
    "request_function_calls": (("outcome", "agent"), COUNTS),
    "request_duration": (("outcome", "agent"), LOOP_S),
    "budget_utilization": (("budget",), UTILIZATION),
    "rpc_duration": (("method", "status", "error_type"), DURATION_S),
}

Labels = tuple[str, ...]
T = TypeVar("T")


class _Histogram:
    __slots__ = ("buckets", "count", "exemplars", "total")

    def __init__(self, size: int) -> None:
        self.buckets = [0] * size
        self.total = 0.0
        self.count = 0
        self.exemplars: dict[int, Exemplar] = {}


class Meters:
    """The table. Not thread-safe: it belongs to the event loop that decides."""

    def __init__(self) -> None:
        self._counters: dict[str, dict[Labels, int]] = {name: {} for name in COUNTERS}
        self._gauges: dict[str, dict[Labels, int]] = {name: {} for name in GAUGES}
        self._histograms: dict[str, dict[Labels, _Histogram]] = {name: {} for name in HISTOGRAMS}
        self._changed: dict[tuple[str, Labels], None] = {}
        self._label_values: dict[str, set[str]] = {}

    def add(self, name: str, labels: Labels = (), value: int = 1) -> None:
        """Add to a counter."""
        series = self._counters[name]
        series[labels] = min(series.get(labels, 0) + value, VALUE_MAX)
        self._changed[name, labels] = None

    def move(self, name: str, labels: Labels, value: int) -> None:
        """Move a gauge up or down."""
        series = self._gauges[name]
        series[labels] = series.get(labels, 0) + value
        self._changed[name, labels] = None

    def record(self, name: str, labels: Labels, value: float, exemplar: Exemplar | None = None) -> None:
        """Record a measured value in a histogram; the newest exemplar of each bucket is kept."""
        bounds = HISTOGRAMS[name][1]
        series = self._histograms[name]
        histogram = series.get(labels)
        if histogram is None:
            histogram = series[labels] = _Histogram(len(bounds) + 1)
        bucket = bisect_left(bounds, value)
        histogram.buckets[bucket] += 1
        histogram.total += value
        histogram.count += 1
        if exemplar is not None:
            histogram.exemplars[bucket] = exemplar
        self._changed[name, labels] = None

    def bounded(self, label: str, value: str) -> str:
        """Return ``value``, or ``_OTHER`` when the label has too many values already."""
        values = self._label_values.get(label)
        if values is None:
            values = self._label_values[label] = set()
        if value in values:
            return value
        if len(values) < LABEL_VALUES_MAX:
            values.add(value)
            return value
        self.add("labels_bounded", (label,))
        return OTHER

    def level(self, name: str) -> int:
        """Return the sum of a gauge over its labels."""
        return sum(self._gauges[name].values())

    def total(self, name: str) -> int:
        """Return the sum of a counter over its labels."""
        return sum(self._counters[name].values())

    def touch_all(self) -> None:
        """Take every point as changed: a new observer knows none."""
        for table in (self._counters, self._gauges, self._histograms):
            self._changed.update(((name, labels), None) for name, series in table.items() for labels in series)

    def snapshot(self, now_ns: int, points_max: int = SNAPSHOT_POINTS) -> Snapshot:
        """Return at most ``points_max`` of the points that changed since they were last returned."""
        keys = list(islice(self._changed, points_max))
        counters: dict[str, list[CounterPoint]] = {}
        gauges: dict[str, list[CounterPoint]] = {}
        histograms: dict[str, list[HistogramPoint]] = {}
        for name, labels in keys:
            del self._changed[name, labels]
            if name in COUNTERS:
                counters.setdefault(name, []).append(CounterPoint(labels, self._counters[name][labels]))
            elif name in GAUGES:
                gauges.setdefault(name, []).append(CounterPoint(labels, self._gauges[name][labels]))
            else:
                histograms.setdefault(name, []).append(self._histogram_point(name, labels))
        return Snapshot(now_ns, not self._changed, _frozen(counters), _frozen(gauges), _frozen(histograms))

    def _histogram_point(self, name: str, labels: Labels) -> HistogramPoint:
        histogram = self._histograms[name][labels]
        exemplars = tuple(histogram.exemplars.values())
        return HistogramPoint(labels, tuple(histogram.buckets), histogram.total, histogram.count, exemplars)


def _frozen(points: dict[str, list[T]]) -> dict[str, tuple[T, ...]]:
    return {name: tuple(values) for name, values in points.items()}
