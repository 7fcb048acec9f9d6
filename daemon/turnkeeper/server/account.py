"""What each step adds to the meters, and which of it becomes records.

Law: everything here is plain counting after the decision was made; none of it can fail the decision. A repeat and a
refusal are no decisions and count nothing.
"""

from collections.abc import Callable

from turnkeeper.core import facts as f
from turnkeeper.core.engine import Step
from turnkeeper.core.events import BeforeModel, EndRequest, Event
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Unit, Verdict
from turnkeeper.core.state import State
from turnkeeper.facts.meters import OTHER, Meters
from turnkeeper.facts.records import Exemplar
from turnkeeper.server.telling import Teller
from turnkeeper.store.memory import Key

NS = 1_000_000_000
_GRPC_CODES = range(17)
_VERDICT = {verdict: verdict.name.lower() for verdict in Verdict}
_UNIT = {unit: unit.name.lower() for unit in Unit}


class Account:
    """Counts what happened."""

    def __init__(self, meters: Meters, teller: Teller, clock_ns: Callable[[], int]) -> None:
        self._meters = meters
        self._teller = teller
        self._clock_ns = clock_ns

    def step(self, event: Event, old: State | None, done: Step, started_ns: int, *, enforced: bool) -> None:
        """Count one step. ``enforced``: the policy enforces."""
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
            if isinstance(fact, f.RequestEnded):
                self.end(fact, (event.tenant, event.request_id), state)
            else:
                self._count_fact(fact, state, agent, "true" if enforced else "false")
        if not isinstance(event, EndRequest):
            self._count_decision(event, state, done, agent, started_ns)

    def policy_gone(self) -> None:
        """Count a decision whose policy is not in the file any more."""
        self._meters.add("policies_gone")

    def forgotten(self, cause: str, ended: f.RequestEnded | None, key: Key, state: State) -> None:
        """Count an id that was forgotten, and its end if it had none."""
        self._meters.add("evictions", (cause,))
        if ended is not None:
            self._meters.move("active", (self._agent(state),), -1)
            self.end(ended, key, state)

    def end(self, fact: f.RequestEnded, key: Key, state: State) -> None:
        """Count the end of a request id."""
        labels = (fact.outcome, self._agent(state))
        self._meters.record("request_turns", labels, fact.counters.turns)
        self._meters.record("request_function_calls", labels, fact.counters.function_calls)
        self._meters.record("request_duration", labels, (fact.ended_ns - fact.started_ns) / NS)
        for use in fact.budgets:
            self._meters.record("budget_utilization", (_UNIT[use.unit],), use.used / use.limit)
        self._teller.loop(key, fact, state)

    def _count_decision(self, event: Event, state: State, done: Step, agent: str, started_ns: int) -> None:
        assert isinstance(done.answer, BeforeAnswer | AfterAnswer)
        assert not isinstance(event, EndRequest)
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

    def _count_fact(self, fact: f.Fact, state: State, agent: str, enforced: str) -> None:
        meters, mode = self._meters, self._teller.mode
        match fact:
            case f.CallsRejected(calls, reason):
                meters.add("rejected_calls", (reason.name.lower(), enforced, agent), calls)
            case f.ModeSwitched(mode_from, mode_to, reason):
                labels = (mode(mode_from), mode(mode_to), reason.name.lower(), enforced, agent)
                meters.add("mode_switches", labels)
            case f.LoopDetected():
                meters.add("loops", (fact.reason.name.lower(), agent))
            case f.TokensSpent():
                self._count_tokens(fact, state, agent)
            case f.ModeMismatch(answered, sent):
                meters.add("mode_mismatches", (mode(answered), mode(sent)))
            case f.ResultsUnmatched(results):
                meters.add("results_unmatched", (), results)
            case f.RequestReused():
                meters.add("requests_reused")
            case f.Reported():
                meters.add("findings_reported", (fact.reason.name.lower(), _VERDICT[fact.verdict]))

    def _count_tokens(self, fact: f.TokensSpent, state: State, agent: str) -> None:
        model = self._meters.bounded("model", state.caller.model)
        for kind, tokens in zip(("input", "output", "unsplit"), fact, strict=True):
            if tokens:
                self._meters.add("tokens", (kind, agent, model), tokens)

    def _count_active(self, old: State | None, state: State, agent: str) -> None:
        was = old is not None and old.ended is None
        now = state.ended is None
        if now != was:
            self._meters.move("active", (agent,), 1 if now else -1)

    def _agent(self, state: State) -> str:
        return self._meters.bounded("agent", state.caller.agent)
