"""The points as Prometheus and OpenMetrics text, named as the Collector's Prometheus exporter names them."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from math import inf, isinf

from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar

from turnkeeper.facts import meters
from turnkeeper.facts.records import Exemplar as ExemplarRecord
from turnkeeper.facts.records import HistogramPoint
from turnkeeper.observer import schema
from turnkeeper.observer.points import View


def render(view: View, accept: str) -> tuple[bytes, str]:
    """Return the text and its content type: OpenMetrics with exemplars when ``accept`` asks for it."""
    encode, content_type = choose_encoder(accept)
    return encode(_Families(view)), content_type


class _Families(Collector):
    def __init__(self, view: View) -> None:
        self._view = view

    def collect(self) -> Iterable[Metric]:
        """Return one family for each metric that has points."""
        for name, counts in self._view.counters.items():
            family = _family(name, "counter")
            for labels, point in counts.items():
                told = _labels(name, meters.COUNTERS[name], labels)
                family.add_sample(f"{family.name}_total", told, point.value)
            yield family
        for name, values in self._view.gauges.items():
            family = _family(name, "gauge")
            for labels, point in values.items():
                family.add_sample(family.name, _labels(name, meters.GAUGES[name], labels), point.value)
            yield family
        for name, series in self._view.histograms.items():
            family = _family(name, "histogram")
            label_names, bounds = meters.HISTOGRAMS[name]
            for labels, histogram in series.items():
                _add_histogram(family, _labels(name, label_names, labels), bounds, histogram)
            yield family


def _family(name: str, kind: str) -> Metric:
    instrument = schema.INSTRUMENTS[name]
    return Metric(schema.prometheus_name(instrument.name, instrument.unit), instrument.description, kind)


def _labels(name: str, label_names: tuple[str, ...], values: tuple[str, ...]) -> dict[str, str]:
    told = schema.attributes(name, label_names, values)
    return {schema.prometheus_label(key): value for key, value in told.items()}


def _add_histogram(family: Metric, labels: Mapping[str, str], bounds: tuple[float, ...], point: HistogramPoint) -> None:
    exemplars = {bisect_left(bounds, exemplar.value): exemplar for exemplar in point.exemplars}
    running = 0
    for index, (bound, count) in enumerate(zip((*bounds, inf), point.buckets, strict=True)):
        running += count
        le = "+Inf" if isinf(bound) else str(bound)
        exemplar = _exemplar(exemplars[index]) if index in exemplars else None
        family.add_sample(f"{family.name}_bucket", {**labels, "le": le}, running, exemplar=exemplar)
    family.add_sample(f"{family.name}_count", dict(labels), point.count)
    family.add_sample(f"{family.name}_sum", dict(labels), point.total)


def _exemplar(told: ExemplarRecord) -> Exemplar:
    return Exemplar({"trace_id": told.trace_id, "span_id": told.span_id}, told.value, told.time_ns / 1e9)
