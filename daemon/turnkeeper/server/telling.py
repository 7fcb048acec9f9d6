"""Which decisions become records, and what is in them.

Law: every non-ALLOW decision and every end of a loop is told; an ALLOW is told when the caller's trace is sampled
or somebody watches. ``None`` costs a decision next to nothing. A record has names and counts, never content.
"""

import random
import secrets
from collections.abc import Callable
from hashlib import blake2b
from typing import Protocol

from turnkeeper.core import facts as f
from turnkeeper.core.engine import Step
from turnkeeper.core.events import AfterModel, BeforeModel, Trace
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Counters, Mode, Verdict
from turnkeeper.core.state import State
from turnkeeper.facts.records import (
    CallerRecord,
    CountersRecord,
    DecisionRecord,
    FactRecord,
    LapRecord,
    LoopRecord,
    ReportRecord,
)
from turnkeeper.facts.sampling import parse_traceparent

_MODE = {int(mode): mode.name.lower() for mode in Mode}


class Sink(Protocol):
    """Where records go: bounded, never blocking. ``take_seq`` numbers those that are exported."""

    def take_seq(self) -> int:
        """Return the next sequence number."""

    def offer(self, record: FactRecord) -> None:
        """Take a record, or count it as dropped."""


class Teller:
    """Makes records. ``sampled(traceparent, trace_id)`` decides for an ALLOW; ``watched`` whether anybody looks."""

    def __init__(
        self,
        sink: Sink,
        sampled: Callable[[str, str], bool] | None,
        watchers: "Watched",
    ) -> None:
        self._sink = sink
        self._sampled = sampled
        self._watchers = watchers
        self._key = secrets.token_bytes(16)
        self._random = random.Random()  # noqa: S311 - span ids, not secrets

    def trace(self, traceparent: str) -> Trace:
        """Return the trace context of one event, with a new span id."""
        span_id = f"{self._random.getrandbits(64) or 1:016x}"
        return Trace(traceparent if traceparent and parse_traceparent(traceparent) else "", span_id)

    @staticmethod
    def mode(number: int) -> str:
        """Return a mode as a label."""
        return _MODE.get(number, "_OTHER")

    def decision(
        self, event: BeforeModel | AfterModel, state: State, done: Step, started_ns: int, duration_ns: int
    ) -> DecisionRecord | None:
        """Tell one decision, if it is to be told, and return what was told."""
        assert isinstance(done.answer, BeforeAnswer | AfterAnswer)
        traceparent = event.trace.traceparent
        trace_id = traceparent[3:35]
        exported = done.answer.decision.verdict_if_enforced > Verdict.ALLOW
        exported = exported or any(isinstance(fact, f.LoopDetected) for fact in done.facts)
        if not exported and self._sampled is not None:
            trace_id = trace_id or self._trace_id(event.tenant, event.request_id)
            exported = self._sampled(traceparent, trace_id)
        if not exported and not self._watchers.watched:
            return None
        seq = self._sink.take_seq() if exported else 0
        record = _decision_record(
            event, state, done, seq, trace_id or self._trace_id(event.tenant, event.request_id), started_ns, duration_ns
        )
        if exported:
            self._sink.offer(record)
        self._watchers.publish(record)
        return record

    def loop(self, key: tuple[str, str], fact: f.RequestEnded, state: State) -> None:
        """Tell the end of a request id."""
        span_id = f"{self._random.getrandbits(64) or 1:016x}"
        record = LoopRecord(
            self._sink.take_seq(),
            key[1],
            key[0],
            fact.outcome,
            state.policy,
            _counters(fact.counters),
            CallerRecord(*state.caller),
            fact.started_ns,
            fact.ended_ns,
            fact.traceparent,
            fact.traceparent[3:35] or self._trace_id(*key),
            span_id,
            fact.links,
        )
        self._sink.offer(record)

    def _trace_id(self, tenant: str, request_id: str) -> str:
        """Return one trace id for all that is told of a request id whose caller does not trace."""
        name = f"{tenant}\0{request_id}".encode()
        return blake2b(name, digest_size=16, key=self._key).hexdigest()


class Watched(Protocol):
    """Those who watch decisions as they are made."""

    watched: bool

    def publish(self, record: DecisionRecord) -> None:
        """Hand a record to each watcher that has room for it."""


def _counters(value: Counters) -> CountersRecord:
    return CountersRecord(
        value.turns,
        value.model_calls,
        value.function_calls,
        value.tokens,
        value.cost_micro_usd,
        value.elapsed_ns,
        value.limit,
        value.remaining,
        value.limit_off,
        int(value.unit),
    )


def _decision_record(
    event: BeforeModel | AfterModel,
    state: State,
    done: Step,
    seq: int,
    trace_id: str,
    started_ns: int,
    duration_ns: int,
) -> DecisionRecord:
    answer = done.answer
    assert isinstance(answer, BeforeAnswer | AfterAnswer)
    decision = answer.decision
    number, attempt = (int(part) for part in decision.decision_id.split(".", 2)[:2])
    switched = next((fact for fact in done.facts if isinstance(fact, f.ModeSwitched)), None)
    before = isinstance(event, BeforeModel)
    return DecisionRecord(
        seq=seq,
        exported=seq > 0,
        method="BeforeModel" if before else "AfterModel",
        point="before_model" if before else "after_model",
        request_id=event.request_id,
        tenant=event.tenant,
        parent=event.parent if isinstance(event, BeforeModel) else "",
        model_call=number,
        attempt=attempt,
        chunk=event.chunk if isinstance(event, AfterModel) else 0,
        started_ns=started_ns,
        duration_ns=duration_ns,
        verdict=int(decision.verdict),
        verdict_if_enforced=int(decision.verdict_if_enforced),
        enforced=decision.enforced,
        reason=int(decision.reason),
        message=decision.message,
        model_hint=decision.model_hint,
        disposition=int(decision.disposition),
        policy=decision.policy,
        policy_version=decision.policy_version,
        decision_id=decision.decision_id,
        counters=_counters(decision.counters),
        caller=CallerRecord(*state.caller),
        mode_from=event.mode if isinstance(event, BeforeModel) else event.mode_sent,
        mode_to=switched.mode_to if switched else (answer.mode if isinstance(answer, BeforeAnswer) else 0),
        mode_switched=switched is not None,
        function_calls=len(event.calls) if isinstance(event, AfterModel) else 0,
        traceparent=event.trace.traceparent,
        span_id=event.trace.span_id,
        trace_id=trace_id,
        reports=tuple(
            ReportRecord(int(fact.reason), int(fact.verdict), fact.message)
            for fact in done.facts
            if isinstance(fact, f.Reported)
        ),
        laps=tuple(
            LapRecord(fact.reason.name.lower(), fact.period, fact.laps, fact.key.hex())
            for fact in done.facts
            if isinstance(fact, f.LoopDetected)
        ),
    )
