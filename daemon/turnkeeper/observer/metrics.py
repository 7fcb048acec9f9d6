"""The points as OpenTelemetry metrics, exported at an interval: cumulative, from the start of the deciding process."""

from collections.abc import Iterator, Sequence

from opentelemetry.sdk.metrics import Exemplar
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from turnkeeper.facts import meters
from turnkeeper.facts.records import CounterPoint, HistogramPoint
from turnkeeper.facts.records import Exemplar as ExemplarRecord
from turnkeeper.observer import schema
from turnkeeper.observer.points import Labels, View

_CUMULATIVE = AggregationTemporality.CUMULATIVE


class MetricsMaker:
    """Makes the SDK's own data of a view of all points."""

    def __init__(self, resource: Resource, scope: InstrumentationScope, started_ns: int) -> None:
        self._resource = resource
        self._scope = scope
        self._started_ns = started_ns

    def make(self, view: View) -> MetricsData:
        """Return all points, each bucket with its newest exemplar: a scrape sees the last export alone."""
        metrics = [*self._sums(view), *self._histograms(view)]
        scope_metrics = ScopeMetrics(self._scope, metrics, "")
        return MetricsData([ResourceMetrics(self._resource, [scope_metrics], "")])

    def _sums(self, view: View) -> Iterator[Metric]:
        for name, counts in view.counters.items():
            yield self._sum(name, meters.COUNTERS[name], counts, view, monotonic=True)
        for name, values in view.gauges.items():
            yield self._sum(name, meters.GAUGES[name], values, view, monotonic=False)

    def _sum(
        self, name: str, labels: Labels, series: dict[Labels, CounterPoint], view: View, *, monotonic: bool
    ) -> Metric:
        points = [
            NumberDataPoint(_attributes(name, labels, values), self._started_ns, view.time_ns, point.value)
            for values, point in series.items()
        ]
        instrument = schema.INSTRUMENTS[name]
        data = Sum(points, _CUMULATIVE, is_monotonic=monotonic)
        return Metric(instrument.name, instrument.description, instrument.unit, data)

    def _histograms(self, view: View) -> Iterator[Metric]:
        for name, series in view.histograms.items():
            labels, bounds = meters.HISTOGRAMS[name]
            points = [
                self._histogram_point(_attributes(name, labels, values), bounds, point, view)
                for values, point in series.items()
            ]
            instrument = schema.INSTRUMENTS[name]
            yield Metric(instrument.name, instrument.description, instrument.unit, Histogram(points, _CUMULATIVE))

    def _histogram_point(
        self,
        attributes: dict[str, str | bool | int],
        bounds: Sequence[float],
        point: HistogramPoint,
        view: View,
    ) -> HistogramDataPoint:
        return HistogramDataPoint(
            attributes,
            start_time_unix_nano=self._started_ns,
            time_unix_nano=view.time_ns,
            count=point.count,
            sum=point.total,
            bucket_counts=point.buckets,
            explicit_bounds=bounds,
            min=None,  # type: ignore[arg-type] # optional in the protocol; not kept
            max=None,  # type: ignore[arg-type]
            exemplars=[_exemplar(told) for told in point.exemplars],
        )


def _attributes(name: str, labels: Labels, values: Labels) -> dict[str, str | bool | int]:
    return {key: schema.typed(key, value) for key, value in schema.attributes(name, labels, values).items()}


def _exemplar(told: ExemplarRecord) -> Exemplar:
    return Exemplar({}, told.value, told.time_ns, int(told.span_id, 16), int(told.trace_id, 16))
