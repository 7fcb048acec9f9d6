"""The Inspection service: what the daemon knows, for people and tools. Never on the decision path."""

from collections.abc import AsyncIterator, Callable
from itertools import islice
from typing import TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from msgspec.structs import asdict

from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Counters, Decision, Disposition, Reason, Unit, Verdict
from turnkeeper.core.rules.limits import counters
from turnkeeper.core.state import ModelCall, State
from turnkeeper.facts.records import DecisionRecord
from turnkeeper.policies import PolicyFile
from turnkeeper.server.statuses import NotFoundError
from turnkeeper.server.watch import WATCHERS_MAX, Watcher, Watchers
from turnkeeper.store.memory import Key, MemoryStore
from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.wire import encode
from turnkeeper.wire.errors import InvalidArgumentError, refuse, refuse_bytes

PAGE_DEFAULT = 100
PAGE_MAX = 1000
M = TypeVar("M", bound=Message)


class Inspection:
    """Answers the four calls. ``status`` makes the daemon's status."""

    def __init__(
        self,
        store: MemoryStore,
        policies: PolicyFile,
        watchers: Watchers,
        status: Callable[[], pb.GetStatusResponse],
    ) -> None:
        self._store = store
        self._policies = policies
        self._watchers = watchers
        self.status = status

    def get_status(self, data: bytes) -> bytes:
        """Answer a GetStatusRequest."""
        _parsed(pb.GetStatusRequest(), data)
        return self.status().SerializeToString()

    def get_request(self, data: bytes) -> bytes:
        """Answer a GetRequestRequest. Raises ``NotFoundError``."""
        message = _parsed(pb.GetRequestRequest(), data)
        if not message.request_id.strip():
            refuse("request_id", "blank, an id of 1 to 256 bytes is needed")
        key = (message.tenant, message.request_id)
        state = self._store.get(key)
        if state is None:
            text = f"request_id: {message.request_id[:256]!r} of tenant {message.tenant[:256]!r} is not live"
            raise NotFoundError(text)
        timeline = [record for call in state.calls for record in self._timeline(key, call)]
        return pb.GetRequestResponse(summary=self._summary(key, state), timeline=timeline).SerializeToString()

    def list_requests(self, data: bytes) -> bytes:
        """Answer a ListRequestsRequest. A page token is the position to go on from."""
        message = _parsed(pb.ListRequestsRequest(), data)
        if message.page_size > PAGE_MAX:
            refuse("page_size", f"{message.page_size}, at most {PAGE_MAX} are allowed")
        if message.page_token and not (message.page_token.isascii() and message.page_token.isdigit()):
            refuse("page_token", "not a token of this service")
        start = int(message.page_token[:18] or 0)
        size = message.page_size or PAGE_DEFAULT
        matching = (item for item in self._store.items() if _matches(message, *item))
        found = list(islice(matching, start, start + size + 1))
        token = str(start + size) if len(found) > size else ""
        requests = [self._summary(key, state) for key, state in found[:size]]
        return pb.ListRequestsResponse(requests=requests, next_page_token=token).SerializeToString()

    async def watch_decisions(
        self, data: bytes, context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> AsyncIterator[bytes]:
        """Stream decisions until the caller goes."""
        try:
            message = _parsed(pb.WatchDecisionsRequest(), data)
        except InvalidArgumentError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        if len(self._watchers) >= WATCHERS_MAX:
            text = f"{len(self._watchers)} watchers, at most {WATCHERS_MAX} are allowed"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        watcher = Watcher(message.request_id, message.tenant, without_allow=message.without_allow)
        self._watchers.add(watcher)
        try:
            await context.send_initial_metadata(())  # tells the caller that nothing is missed from here on
            while True:
                record = await watcher.queue.get()
                told = pb.WatchDecisionsResponse(record=_record(record), dropped=watcher.dropped)
                yield told.SerializeToString()
        finally:
            self._watchers.remove(watcher)

    def _summary(self, key: Key, state: State) -> pb.RequestSummary:
        policy = self._policies.current.current(state.policy)[0]
        message = pb.RequestSummary(
            request_id=key[1],
            tenant=key[0],
            policy=state.policy,
            caller=pb.Caller(**state.caller._asdict()),
            counters=encode.counters(counters(state, policy)),
            ended=state.ended is not None,
            outcome=int(state.ended or 0),  # type: ignore[arg-type]  # numbers are the contract's
            tools=[pb.ToolCount(name=name, function_calls=count) for name, count in sorted(state.tools.items())],
            last_verdict=int(state.last_verdict),  # type: ignore[arg-type]
            last_reason=int(state.last_reason),  # type: ignore[arg-type]
        )
        message.started_at.FromNanoseconds(state.started_ns)
        message.seen_at.FromNanoseconds(state.seen_ns)
        return message

    def _timeline(self, key: Key, call: ModelCall) -> list[pb.DecisionRecord]:
        answers: list[tuple[int, int, BeforeAnswer | AfterAnswer]] = [(0, 0, call.before)] if call.before else []
        answers += [(kept.chunk, kept.calls, kept.answer) for kept in call.chunks]
        return [
            pb.DecisionRecord(
                request_id=key[1],
                tenant=key[0],
                point="before_model" if isinstance(answer, BeforeAnswer) else "after_model",
                decision=encode.decision(answer.decision),
                model_call=call.number,
                attempt=call.attempt,
                chunk=chunk,
                mode_from=call.mode_asked,  # type: ignore[arg-type]
                mode_to=call.mode_answered,  # type: ignore[arg-type]
                function_calls=calls,
            )
            for chunk, calls, answer in answers
        ]


def _parsed(message: M, data: bytes) -> M:
    try:
        message.ParseFromString(data)
    except DecodeError:
        refuse_bytes(message.DESCRIPTOR.name, data)
    return message


def _matches(message: pb.ListRequestsRequest, key: Key, state: State) -> bool:
    return (
        state.ended is None
        and (not message.tenant or message.tenant == key[0])
        and (not message.agent or message.agent == state.caller.agent)
        and (not message.policy or message.policy == state.policy)
    )


def _record(record: DecisionRecord) -> pb.DecisionRecord:
    decision = Decision(
        Verdict(record.verdict),
        Reason(record.reason),
        record.message,
        record.model_hint,
        Disposition(record.disposition),
        record.policy,
        record.policy_version,
        record.enforced,
        Verdict(record.verdict_if_enforced),
        record.decision_id,
        Counters(**{**asdict(record.counters), "unit": Unit(record.counters.unit)}),
    )
    message = pb.DecisionRecord(
        request_id=record.request_id,
        point=record.point,
        decision=encode.decision(decision),
        caller=pb.Caller(**asdict(record.caller)),
        model_call=record.model_call,
        tenant=record.tenant,
        attempt=record.attempt,
        chunk=record.chunk,
        mode_from=record.mode_from,  # type: ignore[arg-type]
        mode_to=record.mode_to,  # type: ignore[arg-type]
        function_calls=record.function_calls,
    )
    message.time.FromNanoseconds(record.started_ns)
    return message
