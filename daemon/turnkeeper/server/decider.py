"""From the bytes of an event to the bytes of its answer.

Law: no await, no I/O, no telemetry work between reading a state and writing it. What is told goes to the meters
(plain counters) and, for few decisions, as a record to the feed; neither blocks, neither can fail a decision.
"""

from collections.abc import Callable

from turnkeeper.core.engine import expire, starts_over, step
from turnkeeper.core.events import AfterModel, EndRequest, Event, Trace
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, EndAnswer, Enforcement, Refusal
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State
from turnkeeper.policies import PolicyFile
from turnkeeper.server.account import Account
from turnkeeper.server.statuses import RefusedError
from turnkeeper.store.memory import Key, MemoryStore
from turnkeeper.wire import decode, encode


class Decider:
    """Answers the three events. Not thread-safe: it belongs to one event loop.

    ``clock_ns`` is wall time; ``key`` is of the fingerprints.
    """

    def __init__(
        self, policies: PolicyFile, ids_max: int, account: Account, clock_ns: Callable[[], int], key: bytes
    ) -> None:
        self._policies = policies
        self._account = account
        self._clock_ns = clock_ns
        self._key = key
        self.store = MemoryStore(ids_max, self._ttl_ns, self._forgotten)

    def before_model(self, data: bytes, trace: Trace) -> bytes:
        """Answer a BeforeModelRequest."""
        answer = self._decide(decode.before_model(data, trace))
        assert isinstance(answer, BeforeAnswer)
        return encode.before_model(answer)

    def after_model(self, data: bytes, trace: Trace) -> bytes:
        """Answer an AfterModelRequest."""
        answer = self._decide(decode.after_model(data, trace, key=self._key, ignored=self._ignored))
        assert isinstance(answer, AfterAnswer)
        return encode.after_model(answer)

    def end_request(self, data: bytes, trace: Trace) -> bytes:
        """Answer an EndRequestRequest."""
        answer = self._decide(decode.end_request(data, trace))
        assert isinstance(answer, EndAnswer)
        return encode.end_request(answer)

    def expire(self) -> int:
        """Forget one slice of ids that are due; return how many."""
        return self.store.expire(self._clock_ns())

    def _decide(self, event: Event) -> BeforeAnswer | AfterAnswer | EndAnswer:
        started_ns = self._clock_ns()
        key = (event.tenant, event.request_id)
        old = self.store.get(key)
        policy, gone = self._policy(old, event)
        done = self.store.transact(key, lambda state: step(state, event, policy, started_ns))
        if isinstance(done.answer, Refusal):
            raise RefusedError(done.answer)
        if gone:
            self._account.policy_gone()
        self._account.step(event, old, done, started_ns, enforced=policy.enforcement is Enforcement.ENFORCE)
        return done.answer

    def _ignored(self, event: AfterModel) -> decode.Ignored:
        return self._policy(self.store.get((event.tenant, event.request_id)), event)[0].ignore_args

    def _policy(self, state: State | None, event: Event) -> tuple[Policy, bool]:
        """Return the policy of an event, and whether the one that its request id began with is gone."""
        current = self._policies.current
        if state is not None and not starts_over(state, event):
            return current.current(state.policy)
        if isinstance(event, EndRequest):
            return current.current("default")
        return current.choose(event.policy, event.caller), False

    def _ttl_ns(self, state: State) -> int:
        return self._policies.current.current(state.policy)[0].idle_ttl_ns

    def _forgotten(self, key: Key, state: State, cause: str) -> None:
        policy = self._policies.current.current(state.policy)[0]
        self._account.forgotten(cause, expire(state, policy), key, state)
