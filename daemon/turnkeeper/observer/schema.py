"""Every name that leaves the process, once: attributes, spans, events, metrics.

Law: no other module spells one. Names of our own are ``turnkeeper.*``; ``gen_ai.*``, ``rpc.*`` and ``error.type``
are those of the OpenTelemetry conventions. No id is a metric attribute, and no gauge has the unit ``1``: the
routes to Prometheus would name it differently.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

SCOPE = "turnkeeper"
SERVICE = "turnkeeper.v1.TurnKeeper"

# --- Attributes -----------------------------------------------------------------------------------------------
VERDICT = "turnkeeper.verdict"
REASON = "turnkeeper.reason"
ENFORCED = "turnkeeper.enforced"
POINT = "turnkeeper.point"
MODE_FROM = "turnkeeper.mode.from"
MODE_TO = "turnkeeper.mode.to"
POLICY_NAME = "turnkeeper.policy.name"
POLICY_VERSION = "turnkeeper.policy.version"
OUTCOME = "turnkeeper.outcome"
REQUEST_ID = "turnkeeper.request.id"
REQUEST_PARENT_ID = "turnkeeper.request.parent.id"
TURN = "turnkeeper.turn"
LIMIT = "turnkeeper.limit"
LOOP_KIND = "turnkeeper.loop.kind"
LOOP_PERIOD = "turnkeeper.loop.period"
LOOP_LAPS = "turnkeeper.loop.laps"
FINGERPRINT = "turnkeeper.fingerprint"
CONVERSATION_ID = "gen_ai.conversation.id"
AGENT_NAME = "gen_ai.agent.name"
REQUEST_MODEL = "gen_ai.request.model"
PROVIDER_NAME = "gen_ai.provider.name"
ERROR_TYPE = "error.type"
RPC_SYSTEM = "rpc.system.name"
RPC_METHOD = "rpc.method"
RPC_STATUS = "rpc.response.status_code"  # renamed more than once upstream; nothing else spells it
GRPC_STATUS = "rpc.grpc.status_code"

# --- Spans and events -----------------------------------------------------------------------------------------
LOOP_SPAN = "tool_loop"
EVENT_DECISION = "turnkeeper.decision"
EVENT_FINDING = "turnkeeper.finding"
EVENT_LOOP_DETECTED = "turnkeeper.loop.detected"
EVENT_MODE_SWITCHED = "turnkeeper.mode.switched"
EVENT_REQUEST_ENDED = "turnkeeper.request.ended"
EVENT_POLICY_LOADED = "turnkeeper.policy.loaded"
EVENT_POLICY_LOAD_FAILED = "turnkeeper.policy.load_failed"

# --- Metrics --------------------------------------------------------------------------------------------------
# The labels of facts.meters, as attributes.
LABELS = {
    "verdict": VERDICT,
    "reason": REASON,
    "cause": REASON,
    "enforced": ENFORCED,
    "point": POINT,
    "from": MODE_FROM,
    "to": MODE_TO,
    "policy": POLICY_NAME,
    "agent": AGENT_NAME,
    "kind": LOOP_KIND,
    "model": REQUEST_MODEL,
    "outcome": OUTCOME,
    "token_type": "gen_ai.token.type",
    "grpc_code": GRPC_STATUS,
    "error_type": ERROR_TYPE,
    "label": "turnkeeper.label",
    "answered": "turnkeeper.mode.answered",
    "sent": "turnkeeper.mode.sent",
    "budget": "turnkeeper.budget",
    "method": RPC_METHOD,
    "status": RPC_STATUS,
}


class Instrument(NamedTuple):
    """One metric. ``constant`` attributes are on each of its points."""

    name: str
    unit: str
    description: str
    constant: Mapping[str, str] = {}


INSTRUMENTS = {
    "decisions": Instrument("turnkeeper.decisions", "{decision}", "Decisions, by what was judged."),
    "mode_switches": Instrument(
        "turnkeeper.mode.switches", "{switch}", "Decisions whose mode to send is not the mode asked."
    ),
    "loops": Instrument("turnkeeper.loops", "{loop}", "Loops found, each the first time and at doublings."),
    "rejected_calls": Instrument("turnkeeper.rejected.calls", "{call}", "Function calls under a REJECT."),
    "tokens": Instrument("turnkeeper.tokens", "{token}", "Tokens that callers told."),
    "fallback_decisions": Instrument(
        "turnkeeper.fallback.decisions", "{decision}", "Decisions that clients made alone, by the gRPC code they saw."
    ),
    "evictions": Instrument("turnkeeper.state.evictions", "{request}", "Request ids forgotten: idle, or no room."),
    "facts_dropped": Instrument(
        "turnkeeper.facts.dropped", "{fact}", "Facts of which a span or an event was not exported."
    ),
    "observer_restarts": Instrument("turnkeeper.observer.restarts", "{restart}", "Observer processes started again."),
    "export_failures": Instrument("turnkeeper.export.failures", "{export}", "Exports that the collector did not take."),
    "policy_reloads": Instrument(
        "turnkeeper.policy.reloads", "{reload}", "Policy files read again; with error.type when the last good was kept."
    ),
    "labels_bounded": Instrument(
        "turnkeeper.labels.bounded", "{value}", "Label values told as _OTHER, since the label had too many."
    ),
    "mode_mismatches": Instrument(
        "turnkeeper.mode.mismatches", "{call}", "Model calls sent in another mode than was answered."
    ),
    "results_unmatched": Instrument(
        "turnkeeper.results.unmatched", "{result}", "Function results that belong to no kept turn."
    ),
    "requests_reused": Instrument("turnkeeper.requests.reused", "{request}", "Ended request ids started again."),
    "policies_gone": Instrument(
        "turnkeeper.policies.gone", "{request}", "Live request ids whose policy is gone and that got the default one."
    ),
    "findings_reported": Instrument(
        "turnkeeper.findings", "{finding}", "Findings below the verdict, or of a guard that only reports."
    ),
    "active": Instrument("turnkeeper.request.active", "{request}", "Request ids that are live."),
    "decision_duration": Instrument("turnkeeper.decision.duration", "s", "Time from event to answer in the daemon."),
    "request_turns": Instrument("turnkeeper.request.turns", "{turn}", "Turns of a request id, at its end."),
    "request_function_calls": Instrument(
        "turnkeeper.request.function_calls", "{call}", "Function calls of a request id, at its end."
    ),
    "request_duration": Instrument("turnkeeper.request.duration", "s", "Time from the first to the last event."),
    "budget_utilization": Instrument(
        "turnkeeper.request.budget.utilization", "1", "Used part of each limit of a request id, at its end."
    ),
    "rpc_duration": Instrument(
        "rpc.server.call.duration", "s", "Time of a gRPC call in the server.", {RPC_SYSTEM: "grpc"}
    ),
}


def attributes(name: str, label_names: tuple[str, ...], values: tuple[str, ...]) -> dict[str, str]:
    """Return the attributes of one point; what is empty is not told."""
    told = {LABELS[label]: value for label, value in zip(label_names, values, strict=True) if value}
    return {**INSTRUMENTS[name].constant, **told}


def typed(key: str, value: str) -> str | bool | int:
    """Return an attribute's value in the type that OpenTelemetry gives it."""
    if key == ENFORCED:
        return value == "true"
    if key == GRPC_STATUS and value.isdecimal():
        return int(value)
    return value


def prometheus_name(name: str, unit: str) -> str:
    """Return the name that the Collector gives a metric, without the ``_total`` of a counter."""
    base = name.replace(".", "_")
    return f"{base}_seconds" if unit == "s" else base


def prometheus_label(attribute: str) -> str:
    """Return the name that the Collector gives an attribute."""
    return attribute.replace(".", "_")


def word(kind: type[IntEnum], number: int) -> str:
    """Return the lower-case name of an enumeration's number; a mode from the future is ``_OTHER``."""
    try:
        return kind(number).name.lower()
    except ValueError:
        return "_OTHER"
