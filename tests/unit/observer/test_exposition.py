"""The points as Prometheus and OpenMetrics text."""

from observer_feed import OPENMETRICS, samples
from prometheus_client import Metric
from prometheus_client import parser as text_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from turnkeeper.facts.meters import HISTOGRAMS, Meters
from turnkeeper.facts.records import Exemplar
from turnkeeper.observer.exposition import render
from turnkeeper.observer.points import Points, View


def view(meters: Meters) -> View:
    points = Points()
    points.apply(meters.snapshot(0))
    found = points.read()
    assert found is not None
    return found


def parsed(openmetrics: bytes) -> dict[str, Metric]:
    families = openmetrics_parser.text_string_to_metric_families(openmetrics.decode())  # type: ignore[no-untyped-call]
    return {family.name: family for family in families}


def filled() -> Meters:
    meters = Meters()
    meters.add("decisions", ("reject", "turn_limit", "after_model", "true", "default", 'a "quoted"\nagent'), 3)
    meters.move("active", ("",), 2)
    exemplar = Exemplar(0.0003, 1_700_000_000_000_000_000, "a" * 32, "b" * 16)
    meters.record("decision_duration", ("reject", "after_model"), 0.0003, exemplar)
    meters.record("decision_duration", ("reject", "after_model"), 7.0)
    return meters


def test_both_formats_parse_and_agree() -> None:
    shown = view(filled())
    text, text_type = render(shown, "")
    openmetrics, openmetrics_type = render(shown, OPENMETRICS)
    assert text_type.startswith("text/plain")
    assert openmetrics_type.startswith("application/openmetrics-text")
    families = parsed(openmetrics)
    assert set(families) == {family.name for family in text_parser.text_string_to_metric_families(text.decode())}
    assert families["turnkeeper_decisions"].samples[0].labels["gen_ai_agent_name"] == 'a "quoted"\nagent'
    assert samples(text.decode())["turnkeeper_request_active"] == 2


def test_buckets_are_cumulative_and_carry_their_exemplar() -> None:
    openmetrics, _ = render(view(filled()), OPENMETRICS)
    families = parsed(openmetrics)
    buckets = [
        sample for sample in families["turnkeeper_decision_duration_seconds"].samples if sample.name.endswith("_bucket")
    ]
    bounds = HISTOGRAMS["decision_duration"][1]
    assert [float(bucket.labels["le"]) for bucket in buckets] == [*bounds, float("inf")]
    assert [bucket.value for bucket in buckets] == [0, 0, 0, *[1] * 11, 2]
    (exemplar,) = [bucket.exemplar for bucket in buckets if bucket.exemplar]
    assert buckets[3].exemplar == exemplar
    assert exemplar.labels == {"trace_id": "a" * 32, "span_id": "b" * 16}


def test_no_points_no_families() -> None:
    assert render(view(Meters()), "")[0].strip() == b""
