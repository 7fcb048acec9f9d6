"""The table of meters and its snapshots."""

from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.facts.meters import LABEL_VALUES_MAX, OTHER, Meters
from turnkeeper.facts.records import Exemplar, Snapshot

Name = st.sampled_from(["evictions", "facts_dropped"])


def merged(snapshots: list[Snapshot]) -> dict[tuple[str, tuple[str, ...]], int]:
    """What a reader of snapshots knows after all of them."""
    return {
        (name, point.labels): point.value
        for snapshot in snapshots
        for name, points in snapshot.counters.items()
        for point in points
    }


@given(st.lists(st.tuples(Name, st.sampled_from("abcdef"), st.integers(0, 5))), st.integers(1, 4))
def test_snapshots_in_any_slices_add_up_to_the_table(adds: list[tuple[str, str, int]], points_max: int) -> None:
    meters, truth, snapshots = Meters(), dict[tuple[str, tuple[str, ...]], int](), []
    for name, cause, value in adds:
        meters.add(name, (cause,), value)
        truth[name, (cause,)] = truth.get((name, (cause,)), 0) + value
        snapshots.append(meters.snapshot(0, points_max))
    while not (last := meters.snapshot(0, points_max)).complete:
        snapshots.append(last)
    assert merged([*snapshots, last]) == truth
    meters.touch_all()
    assert merged([meters.snapshot(0)]) == truth


def test_a_snapshot_holds_what_changed() -> None:
    meters = Meters()
    meters.add("evictions", ("ttl",))
    assert meters.snapshot(7).counters["evictions"][0].value == 1
    assert meters.snapshot(8) == Snapshot(8, complete=True, counters={}, gauges={}, histograms={})


def test_gauges_move_both_ways() -> None:
    meters = Meters()
    meters.move("active", ("a",), 3)
    meters.move("active", ("a",), -1)
    assert meters.snapshot(0).gauges["active"][0].value == 2


def test_a_value_on_a_bound_is_in_its_bucket() -> None:
    meters = Meters()
    exemplars = [Exemplar(value, 1, "a" * 32, "b" * 16) for value in (1.0, 0.5)]
    for value, exemplar in zip((1.0, 0.5, 1000.0), (*exemplars, None), strict=True):
        meters.record("request_turns", ("completed", "a"), value, exemplar)
    (point,) = meters.snapshot(0).histograms["request_turns"]
    assert (point.buckets[0], point.buckets[-1], point.count, point.total) == (2, 1, 3, 1001.5)
    assert point.exemplars == (exemplars[1],), "the newest of its bucket"


def test_label_values_are_bounded_and_the_rest_is_counted() -> None:
    meters = Meters()
    names = [f"agent-{number}" for number in range(LABEL_VALUES_MAX)]
    assert [meters.bounded("agent", name) for name in names] == names
    assert meters.bounded("agent", "one-more") == OTHER
    assert meters.bounded("agent", names[0]) == names[0]
    assert meters.bounded("model", "one-more") == "one-more"
    assert meters.total("labels_bounded") == 1
