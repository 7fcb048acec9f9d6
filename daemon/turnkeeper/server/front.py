"""The grpc.aio server: generic handlers on raw bytes, so that ``wire`` meets bad bytes, not gRPC.

Law: a decision is answered in one go on the event loop. What a caller may use is bounded: message, metadata,
streams of a connection, and calls in flight; over it is RESOURCE_EXHAUSTED at once, never a queue.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from turnkeeper.core import bounds
from turnkeeper.core.events import Trace
from turnkeeper.facts.meters import Meters
from turnkeeper.server.decider import Decider
from turnkeeper.server.inspection import Inspection
from turnkeeper.server.statuses import StoppingError, status_of
from turnkeeper.server.telling import Teller

log = logging.getLogger(__name__)

SERVICES = ("turnkeeper.v1.TurnKeeper", "turnkeeper.v1.Inspection")
CALLS_IN_FLIGHT_MAX = 2048  # a decision takes well under a millisecond: more is a second of backlog
STREAMS_PER_CONNECTION_MAX = 512  # one shim has a call a model call; a busy service some hundreds
METADATA_BYTES_MAX = 16_384  # gRPC's own hard default; a trace context and a token need 1 KiB
PING_INTERVAL_MIN_MS = 10_000  # SDKs that ping every 30 s, with or without calls, are not cut off

OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.so_reuseport", 0),  # a second daemon on the port is refused, it does not share it
    ("grpc.max_receive_message_length", bounds.MESSAGE_BYTES),
    ("grpc.max_metadata_size", METADATA_BYTES_MAX),
    ("grpc.absolute_max_metadata_size", METADATA_BYTES_MAX),
    ("grpc.max_concurrent_streams", STREAMS_PER_CONNECTION_MAX),
    ("grpc.http2.min_ping_interval_without_data_ms", PING_INTERVAL_MIN_MS),
    ("grpc.keepalive_permit_without_calls", 1),
)
LINGER_S = 1.0  # how long callers that go on calling are answered UNAVAILABLE before they are cut off
QUIET_S = 0.02  # without a call: some hundred times what one takes
NS = 1_000_000_000

Context = aio.ServicerContext[bytes, bytes]
Handler = Callable[[bytes, Context], Awaitable[bytes]]


class Front:
    """The services on one server. Listeners are added by the caller, then ``start`` and ``stop``."""

    def __init__(self, decider: Decider, inspection: Inspection, teller: Teller, meters: Meters) -> None:
        self._teller = teller
        self._meters = meters
        self.stopping = False
        self._calls = 0
        self.server = aio.server(options=OPTIONS, maximum_concurrent_rpcs=CALLS_IN_FLIGHT_MAX)
        decisions = {
            "BeforeModel": self._decision("BeforeModel", decider.before_model),
            "AfterModel": self._decision("AfterModel", decider.after_model),
            "EndRequest": self._decision("EndRequest", decider.end_request),
        }
        questions = {
            "GetStatus": self._question("GetStatus", inspection.get_status),
            "GetRequest": self._question("GetRequest", inspection.get_request),
            "ListRequests": self._question("ListRequests", inspection.list_requests),
        }
        handlers: list[dict[str, Any]] = [
            {name: grpc.unary_unary_rpc_method_handler(handler) for name, handler in decisions.items()},
            {name: grpc.unary_unary_rpc_method_handler(handler) for name, handler in questions.items()},
        ]
        handlers[1]["WatchDecisions"] = grpc.unary_stream_rpc_method_handler(inspection.watch_decisions)
        for service, methods in zip(SERVICES, handlers, strict=True):
            generic = grpc.method_handlers_generic_handler(service, methods)
            self.server.add_generic_rpc_handlers((generic,))
        self._health = health.aio.HealthServicer()  # type: ignore[attr-defined]  # the stubs lack it
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self.server)
        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), self.server)

    async def start(self) -> None:
        """Serve, and say so."""
        await self.server.start()
        await self._set_health(health_pb2.HealthCheckResponse.SERVING)

    async def drain(self) -> None:
        """Say NOT_SERVING, and refuse new calls."""
        await self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        self.stopping = True

    async def stop(self, grace_s: float) -> None:
        """Finish what is in flight, after ``drain``.

        gRPC cancels calls that it has read and not yet handed over when it stops, so the stop waits for a moment
        without calls; new ones are refused as UNAVAILABLE meanwhile, which makes callers go elsewhere.
        """
        deadline = time.monotonic() + min(grace_s, LINGER_S)
        quiet = self._calls
        while time.monotonic() < deadline:
            await asyncio.sleep(QUIET_S)
            if self._calls == quiet:
                break
            quiet = self._calls
        await self._health.enter_graceful_shutdown()
        await self.server.stop(grace_s)

    async def _set_health(self, status: Any) -> None:  # noqa: ANN401 - a protobuf enum value
        for service in ("", *SERVICES):
            await self._health.set(service, status)

    def _decision(self, method: str, answer: Callable[[bytes, Trace], bytes]) -> Handler:
        rpc = f"{SERVICES[0]}/{method}"

        async def handle(data: bytes, context: Context) -> bytes:
            started = time.perf_counter_ns()
            self._calls += 1
            traceparent = ""
            for key, value in context.invocation_metadata() or ():
                if key == "traceparent" and isinstance(value, str):
                    traceparent = value
            try:
                if self.stopping:
                    raise StoppingError  # noqa: TRY301 - one path to a status
                response = answer(data, self._teller.trace(traceparent))
            except Exception as error:
                await self._abort(rpc, context, error, started)
                raise  # not reached: abort raises
            self._meters.record("rpc_duration", (rpc, "OK", ""), (time.perf_counter_ns() - started) / NS)
            return response

        return handle

    def _question(self, method: str, answer: Callable[[bytes], bytes]) -> Handler:
        rpc = f"{SERVICES[1]}/{method}"

        async def handle(data: bytes, context: Context) -> bytes:
            started = time.perf_counter_ns()
            try:
                response = answer(data)
            except Exception as error:
                await self._abort(rpc, context, error, started)
                raise  # not reached: abort raises
            self._meters.record("rpc_duration", (rpc, "OK", ""), (time.perf_counter_ns() - started) / NS)
            return response

        return handle

    async def _abort(self, rpc: str, context: Context, error: Exception, started: int) -> None:
        code, text = status_of(error)
        error_type = ""
        if code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE):  # what the conventions call a server error
            error_type = code.name
        if code is grpc.StatusCode.INTERNAL:
            log.error("internal error", exc_info=error, extra={"fields": {"rpc": rpc}})
        self._meters.record("rpc_duration", (rpc, code.name, error_type), (time.perf_counter_ns() - started) / NS)
        await context.abort(code, text)
