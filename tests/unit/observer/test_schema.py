"""Every name that leaves the process."""

import re

from turnkeeper.facts import meters
from turnkeeper.observer import schema

# The names of the published table.
PROMETHEUS = {
    "decisions": "turnkeeper_decisions",
    "decision_duration": "turnkeeper_decision_duration_seconds",
    "mode_switches": "turnkeeper_mode_switches",
    "rejected_calls": "turnkeeper_rejected_calls",
    "request_turns": "turnkeeper_request_turns",
    "request_function_calls": "turnkeeper_request_function_calls",
    "request_duration": "turnkeeper_request_duration_seconds",
    "budget_utilization": "turnkeeper_request_budget_utilization",
    "active": "turnkeeper_request_active",
    "tokens": "turnkeeper_tokens",
    "fallback_decisions": "turnkeeper_fallback_decisions",
    "evictions": "turnkeeper_state_evictions",
    "facts_dropped": "turnkeeper_facts_dropped",
    "observer_restarts": "turnkeeper_observer_restarts",
    "policy_reloads": "turnkeeper_policy_reloads",
    "rpc_duration": "rpc_server_call_duration_seconds",
}


def test_every_meter_has_an_instrument_and_every_label_an_attribute() -> None:
    labels = {**meters.COUNTERS, **meters.GAUGES, **{name: of[0] for name, of in meters.HISTOGRAMS.items()}}
    assert set(schema.INSTRUMENTS) == set(labels)
    assert {label for names in labels.values() for label in names} <= set(schema.LABELS)
    for names in labels.values():
        assert len({schema.LABELS[name] for name in names}) == len(names)


def test_names_are_those_of_the_table() -> None:
    for short, name in PROMETHEUS.items():
        instrument = schema.INSTRUMENTS[short]
        assert schema.prometheus_name(instrument.name, instrument.unit) == name


def test_names_follow_the_rules() -> None:
    for short, instrument in schema.INSTRUMENTS.items():
        assert re.fullmatch(r"(turnkeeper|rpc)(\.[a-z_]+)+", instrument.name)
        assert re.fullmatch(r"s|1|\{[a-z_]+\}", instrument.unit)
        assert not (short in meters.GAUGES and instrument.unit == "1"), "the routes would name it differently"
        assert not instrument.name.endswith("total")
    for attribute in schema.LABELS.values():
        assert re.fullmatch(r"(turnkeeper|gen_ai|rpc|error)(\.[a-z_]+)+", attribute)
        assert attribute not in {schema.REQUEST_ID, schema.CONVERSATION_ID}, "no id is a label"


def test_empty_labels_are_not_told_and_types_are_opentelemetrys() -> None:
    assert schema.attributes("policy_reloads", ("error_type",), ("",)) == {}
    assert schema.typed(schema.ENFORCED, "false") is False
    assert schema.typed(schema.GRPC_STATUS, "14") == 14
    assert schema.typed(schema.AGENT_NAME, "14") == "14"
