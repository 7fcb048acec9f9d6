"""Facts as events, and as attributes."""

from observer_feed import decision, loop_end, policies

from turnkeeper.core.model import Mode, Reason, Verdict
from turnkeeper.facts.records import CallerRecord, CountersRecord, ReportRecord
from turnkeeper.observer import attributes, events, schema


def names(record: object) -> list[str]:
    return [event.name for event in events.of(record)]  # type: ignore[arg-type]


def test_an_allow_is_no_event_and_one_for_watchers_is_none() -> None:
    assert names(decision(1, verdict_if_enforced=Verdict.ALLOW)) == []
    assert names(decision(1, exported=False, mode_switched=True)) == []


def test_what_was_judged_is_told_under_observe() -> None:
    observed = decision(1, verdict=Verdict.ALLOW, verdict_if_enforced=Verdict.REJECT, enforced=False)
    (event,) = events.of(observed)
    assert event.attributes[schema.VERDICT] == "reject"
    assert event.attributes[schema.ENFORCED] is False


def test_findings_and_switches_ride_on_any_decision() -> None:
    finding = ReportRecord(Reason.TOOL_NOT_ENABLED, Verdict.REJECT, "tool")
    record = decision(1, verdict_if_enforced=Verdict.ALLOW, mode_switched=True, reports=(finding,))
    assert names(record) == ["turnkeeper.mode.switched", "turnkeeper.finding"]
    told = events.of(record)[1].attributes
    assert (told[schema.REASON], told[schema.VERDICT]) == ("tool_not_enabled", "reject")


def test_the_other_facts() -> None:
    assert names(loop_end(1)) == ["turnkeeper.request.ended"]
    assert names(policies(1)) == ["turnkeeper.policy.loaded"] * 2
    assert names(policies(1, error="line 3", error_type="invalid")) == ["turnkeeper.policy.load_failed"]


def test_what_is_not_known_is_not_told() -> None:
    counters = CountersRecord(2, 2, 2, 0, 0, 0, 0, 0, limit_off=True, unit=0)
    told = attributes.decision(decision(1, caller=CallerRecord(), counters=counters, policy_version=""))
    assert set(told) == {
        schema.VERDICT,
        schema.REASON,
        schema.ENFORCED,
        schema.POINT,
        schema.REQUEST_ID,
        schema.POLICY_NAME,
        schema.TURN,
    }


def test_a_mode_from_the_future_is_other() -> None:
    switched = decision(1, mode_switched=True, mode_from=99, mode_to=Mode.NONE)
    assert attributes.mode_switch(switched) == {schema.MODE_FROM: "_OTHER", schema.MODE_TO: "none"}
