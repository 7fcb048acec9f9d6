"""The core as a target: wire decode, ``step`` in this process, wire encode, at an explicit time.

It is the smallest shell there can be around ``step``: a table of states, and the choice of a policy.
"""

from collections.abc import Callable

from google.protobuf.message import Message

from turnkeeper.core.engine import starts_over, step
from turnkeeper.core.events import EndRequest, Event
from turnkeeper.core.model import AfterAnswer, Answer, BeforeAnswer, EndAnswer, Refusal
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import State
from turnkeeper.policies import PolicySet, UnknownPolicyError
from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.vectors.comparing import Status
from turnkeeper.vectors.conformance_pb2 import Step
from turnkeeper.wire import decode, encode
from turnkeeper.wire.errors import InvalidArgumentError

_DECODE: dict[str, Callable[[bytes], Event]] = {
    "before_model": decode.before_model,
    "after_model": decode.after_model,
    "end_request": decode.end_request,
}


class CoreTarget:
    """States by (tenant, request id), under one set of policies."""

    def __init__(self, policies: PolicySet) -> None:
        self._policies = policies
        self._states: dict[tuple[str, str], State | None] = {}

    def send(self, sent: Step, now_ns: int) -> Message | Status | None:
        """Play one step."""
        kind = sent.WhichOneof("send") or "lose_state"
        if kind == "lose_state":
            self._states.clear()
            return None
        try:
            event = _DECODE[kind](getattr(sent, kind).SerializeToString())
            return _message(self._step(event, now_ns))
        except InvalidArgumentError as error:
            return Status("INVALID_ARGUMENT", str(error))
        except UnknownPolicyError as error:
            return Status("NOT_FOUND", str(error))

    def _step(self, event: Event, now_ns: int) -> Answer:
        key = (event.tenant, event.request_id)
        state = self._states.get(key)
        done = step(state, event, self._policy(state, event), now_ns)
        self._states[key] = done.state
        return done.answer

    def _policy(self, state: State | None, event: Event) -> Policy:
        if state is None or starts_over(state, event):
            if isinstance(event, EndRequest):
                return self._policies.current("default")[0]
            return self._policies.choose(event.policy, event.caller)
        return self._policies.current(state.policy)[0]


def _message(answer: Answer) -> Message | Status:
    match answer:
        case BeforeAnswer():
            return pb.BeforeModelResponse.FromString(encode.before_model(answer))
        case AfterAnswer():
            return pb.AfterModelResponse.FromString(encode.after_model(answer))
        case EndAnswer():
            return pb.EndRequestResponse.FromString(encode.end_request(answer))
        case Refusal():
            return Status("INVALID_ARGUMENT", answer.message)
