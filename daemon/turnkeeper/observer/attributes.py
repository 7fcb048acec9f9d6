"""Facts as attributes of spans and events."""

from turnkeeper.core.model import Mode, Reason, Verdict
from turnkeeper.facts.records import CallerRecord, CountersRecord, DecisionRecord, LapRecord, LoopRecord
from turnkeeper.observer import schema

Value = str | bool | int
Attributes = dict[str, Value]


def decision(record: DecisionRecord) -> Attributes:
    """Return what a decision's span and events tell. The verdict is the one judged, enforced or not."""
    told = {
        schema.VERDICT: schema.word(Verdict, record.verdict_if_enforced),
        schema.REASON: schema.word(Reason, record.reason),
        schema.ENFORCED: record.enforced,
        schema.POINT: record.point,
        schema.REQUEST_PARENT_ID: record.parent,
        **_request(record.request_id, record.policy, record.counters, record.caller),
        schema.POLICY_VERSION: record.policy_version,
    }
    if record.mode_switched:
        told |= mode_switch(record)
    return _without_empty(told)


def mode_switch(record: DecisionRecord) -> Attributes:
    """Return the modes of a switch."""
    return {
        schema.MODE_FROM: schema.word(Mode, record.mode_from),
        schema.MODE_TO: schema.word(Mode, record.mode_to),
    }


def lap(record: LapRecord) -> Attributes:
    """Return what is told of a loop that was found."""
    return {
        schema.LOOP_KIND: record.kind,
        schema.LOOP_PERIOD: record.period,
        schema.LOOP_LAPS: record.laps,
        schema.FINGERPRINT: f"hmac-sha256:{record.fingerprint}",
    }


def loop(record: LoopRecord) -> Attributes:
    """Return what a loop's span and its event tell."""
    request = _request(record.request_id, record.policy, record.counters, record.caller)
    return _without_empty({schema.OUTCOME: record.outcome, **request})


def _request(request_id: str, policy: str, counters: CountersRecord, caller: CallerRecord) -> Attributes:
    told: Attributes = {
        schema.REQUEST_ID: request_id,
        schema.POLICY_NAME: policy,
        schema.TURN: counters.turns,
        schema.AGENT_NAME: caller.agent,
        schema.REQUEST_MODEL: caller.model,
        schema.PROVIDER_NAME: caller.provider,
        schema.CONVERSATION_ID: caller.conversation_id,
    }
    return told if counters.limit_off else {**told, schema.LIMIT: counters.limit}


def _without_empty(told: Attributes) -> Attributes:
    return {key: value for key, value in told.items() if value != ""}
