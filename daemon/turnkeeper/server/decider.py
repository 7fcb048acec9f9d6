"""From the bytes of an event to the bytes of its answer.

Law: no await, no I/O, no telemetry work between reading a state and writing it. What is told goes to the meters
(plain counters) and, for few decisions, as a record to the feed; neither blocks, neither can fail a decision.
"""

from collections.abc import Callable
from typing import Protocol

from turnkeeper.core import facts as f
from turnkeeper.core.engine import Step, expire, starts_over, step
from turnkeeper.core.events import AfterModel, BeforeModel, EndRequest, Event, Trace
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, EndAnswer, Refusal, Unit, Verdict
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State
from turnkeeper.facts.meters import OTHER, Meters
from turnkeeper.facts.records import Exemplar
from turnkeeper.policies import PolicyFile
from turnkeeper.server.statuses import RefusedError
from turnkeeper.server.telling import Teller
from turnkeeper.store.memory import Change, Key, MemoryStore
from turnkeeper.wire import decode, encode

NS = 1_000_000_000
_GRPC_CODES = range(17)
_VERDICT = {verdict: verdict.name.lower() for verdict in Verdict}
_UNIT = {unit: unit.name.lower() for unit in Unit}


class Store(Protocol):
    """What the decider needs of a store."""

    def transact(self, key: Key, change: Change) -> Step:
        """Change one state by a pure step."""


class Decider:
    """Answers the three events. Not thread-safe: it belongs to one event loop.

    ``clock_ns`` is wall time; ``key`` is of the fingerprints.
    """

    def __init__(
        self, policies: PolicyFile, ids_max: int, meters: Meters, teller: Teller, clock_ns: Callable[[], int], key: bytes
    ) -> None:
        self._policies = policies
        self._meters = meters
        self._teller = teller
        self._clock_ns = clock_ns
        self._key = key
        self.store = MemoryStore(ids_max, self._ttl_ns, self._forgotten)

    def before_model(self, data: bytes, trace: Trace) -> bytes:
        """Answer a BeforeModelRequest."""
        event = decode.before_model(data, trace, key=self._key)
        answer = self._decide(event)
        assert isinstance(answer, BeforeAnswer)
        return encode.before_model(answer)

    def after_model(self, data: bytes, trace: Trace) -> bytes:
        """Answer an AfterModelRequest."""
        event = decode.after_model(data, trace, key=self._key)
        answer = self._decide(event)
        assert isinstance(answer, AfterAnswer)
        return encode.after_model(answer)

    def end_request(self, data: bytes, trace: Trace) -> bytes:
        """Answer an EndRequestRequest."""
        event = decode.end_request(data, trace, key=self._key)
        answer = self._decide(event)
        assert isinstance(answer, EndAnswer)
        return encode.end_request(answer)

    def expire(self) -> int:
        """Forget one slice of ids that are due; return how many."""
        return self.store.expire(self._clock_ns())

    def _decide(self, event: Event) -> BeforeAnswer | AfterAnswer | EndAnswer:
        started_ns = self._clock_ns()
        old: State | None = None

        def change(state: State | None) -> Step:
            nonlocal old
            old = state
            return step(state, event, self._policy(state, event), started_ns)

        done = self.store.transact((event.tenant, event.request_id), change)
        if isinstance(done.answer, Refusal):
            raise RefusedError(done.answer)
        self._count(event, old, done, started_ns)
        return done.answer

    def _policy(self, state: State | None, event: Event) -> Policy:
        current = self._policies.current
        if state is None or starts_over(state, event):
            if isinstance(event, EndRequest):
                return current.current("default")[0]
            return current.choose(event.policy, event.caller)
        policy, gone = current.current(state.policy)
        if gone:
            self._meters.add("policies_gone")
        return policy

    # --- what is told ------------------------------------------------------------------------------------------

    def _count(self, event: Event, old: State | None, done: Step, started_ns: int) -> None:
        state = done.state
        assert state is not None
        agent = self._agent(state)
        self._count_active(old, state, agent)
        if event.fallbacks and (done.fresh or state is not old):
            for code, count in event.fallbacks:
                self._meters.add("fallback_decisions", (str(code) if code in _GRPC_CODES else OTHER,), count)
        if not done.fresh:
            return
        for fact in done.facts:
            self._count_fact(fact, event, state, agent)
        if not isinstance(event, EndRequest):
            assert isinstance(done.answer, BeforeAnswer | AfterAnswer)
            self._count_decision(event, state, done, agent, started_ns)

    def _count_decision(
        self, event: BeforeModel | AfterModel, state: State, done: Step, agent: str, started_ns: int
    ) -> None:
        assert isinstance(done.answer, BeforeAnswer | AfterAnswer)
        decision = done.answer.decision
        point = "before_model" if isinstance(event, BeforeModel) else "after_model"
        verdict = _VERDICT[decision.verdict_if_enforced]
        reason = decision.reason.name.lower()
        enforced = "true" if decision.enforced else "false"
        self._meters.add("decisions", (verdict, reason, point, enforced, decision.policy, agent))
        duration_ns = max(0, self._clock_ns() - started_ns)
        exemplar = None
        told = self._teller.decision(event, state, done, started_ns, duration_ns)
        if told is not None and told.exported:
            exemplar = Exemplar(duration_ns / NS, started_ns, told.trace_id, told.span_id)
        self._meters.record("decision_duration", (verdict, point), duration_ns / NS, exemplar)

    def _count_fact(self, fact: f.Fact, event: Event, state: State, agent: str) -> None:
        meters = self._meters
        enforced = "true" if self._policy_of(state).enforcement.value == "enforce" else "false"
        match fact:
            case f.CallsRejected(calls, reason):
                meters.add("rejected_calls", (reason.name.lower(), enforced, agent), calls)
            case f.ModeSwitched(mode_from, mode_to, reason):
                labels = (self._teller.mode(mode_from), self._teller.mode(mode_to), reason.name.lower(), enforced, agent)
                meters.add("mode_switches", labels)
            case f.TokensSpent():
                model = meters.bounded("model", state.caller.model)
                for kind, tokens in zip(("input", "output", "unsplit"), fact, strict=True):
                    if tokens:
                        meters.add("tokens", (kind, agent, model), tokens)
            case f.ModeMismatch(answered, sent):
                meters.add("mode_mismatches", (self._teller.mode(answered), self._teller.mode(sent)))
            case f.ResultsUnmatched(results):
                meters.add("results_unmatched", (), results)
            case f.RequestReused():
                meters.add("requests_reused")
            case f.RequestEnded():
                self._count_end(fact, (event.tenant, event.request_id), state)
            case f.Reported():
                meters.add("findings_reported", (fact.reason.name.lower(), _VERDICT[fact.verdict]))

    def _count_end(self, fact: f.RequestEnded, key: Key, state: State) -> None:
        agent = self._agent(state)
        labels = (fact.outcome, agent)
        self._meters.record("request_turns", labels, fact.counters.turns)
        self._meters.record("request_function_calls", labels, fact.counters.function_calls)
        self._meters.record("request_duration", labels, (fact.ended_ns - fact.started_ns) / NS)
        for use in fact.budgets:
            self._meters.record("budget_utilization", (_UNIT[use.unit],), use.used / use.limit)
        self._teller.loop(key, fact, state)

    def _count_active(self, old: State | None, state: State, agent: str) -> None:
        was = old is not None and old.ended is None
        now = state.ended is None
        if now and not was:
            self._meters.move("active", (agent,), 1)
        elif was and not now:
            self._meters.move("active", (agent,), -1)

    def _agent(self, state: State) -> str:
        return self._meters.bounded("agent", state.caller.agent)

    def _policy_of(self, state: State) -> Policy:
        return self._policies.current.current(state.policy)[0]

    def _ttl_ns(self, state: State) -> int:
        return self._policy_of(state).idle_ttl_ns

    def _forgotten(self, key: Key, state: State, cause: str) -> None:
        self._meters.add("evictions", (cause,))
        fact = expire(state, self._policy_of(state))
        if fact is not None:
            self._meters.move("active", (self._agent(state),), -1)
            self._count_end(fact, key, state)
