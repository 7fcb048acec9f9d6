"""A scripted daemon on a real gRPC server: it answers, delays, refuses, hangs up, or talks nonsense."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import grpc

from turnkeeper_client._gen import turnkeeper_pb2 as pb

Answer = Callable[[Any, grpc.ServicerContext], bytes]
REQUESTS = {
    "BeforeModel": pb.BeforeModelRequest,
    "AfterModel": pb.AfterModelRequest,
    "EndRequest": pb.EndRequestRequest,
}
NONSENSE = b"\xff\xff\xff\xff"


def decision(**changes: Any) -> pb.Decision:
    """Return a decision that allows, changed as told."""
    counters = pb.Counters(turns=0, limit=10, remaining=10, unit=pb.LIMIT_UNIT_TURNS)
    base: dict[str, Any] = {
        "verdict": pb.VERDICT_ALLOW,
        "reason": pb.REASON_WITHIN_POLICY,
        "verdict_if_enforced": pb.VERDICT_ALLOW,
        "policy": "default",
        "enforced": True,
        "counters": counters,
    }
    return pb.Decision(**{**base, **changes})


def answer(*, mode: int | None = None, **changes: Any) -> Answer:
    """Answer any event with this decision."""

    def give(event: Any, _: grpc.ServicerContext) -> bytes:
        told = decision(**changes)
        if isinstance(event, pb.BeforeModelRequest):
            sent: Any = event.mode if mode is None else mode
            return pb.BeforeModelResponse(
                decision=told, mode=sent, model_call=event.model_call or 1
            ).SerializeToString()
        if isinstance(event, pb.AfterModelRequest):
            run = told.verdict == pb.VERDICT_ALLOW
            reason = told.reason or pb.REASON_WITHIN_POLICY
            calls = [
                pb.CallVerdict(call_id=c.id, name=c.name, run=run, reason=reason, result_text="" if run else "not run")
                for c in event.calls
            ]
            return pb.AfterModelResponse(decision=told, calls=calls).SerializeToString()
        return pb.EndRequestResponse(counters=told.counters).SerializeToString()

    return give


def refuse(code: grpc.StatusCode, details: str = "scripted") -> Answer:
    """Answer with a status."""

    def give(_: Any, context: grpc.ServicerContext) -> bytes:
        context.abort(code, details)

    return give


def nonsense(_: Any, __: grpc.ServicerContext) -> bytes:
    """Answer with bytes that are no message."""
    return NONSENSE


class ScriptedDaemon:
    """Answers in the order of ``script``, then allows. ``events`` are what it was told."""

    def __init__(self, address: str = "127.0.0.1:0", *script: Answer) -> None:
        self.script = list(script)
        self.events: list[Any] = []
        self.metadata: list[dict[str, str]] = []
        self.released = threading.Event()
        self._server = grpc.server(ThreadPoolExecutor(16), options=(("grpc.so_reuseport", 0),))
        handlers = {name: self._handler(kind) for name, kind in REQUESTS.items()}
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("turnkeeper.v1.TurnKeeper", handlers),)
        )
        port = self._server.add_insecure_port(address)
        self.address = address if address.startswith("unix:") else f"127.0.0.1:{port}"
        self._server.start()

    def hang(self, _: Any, __: grpc.ServicerContext) -> bytes:
        """Answer only when the test is over."""
        self.released.wait(30)
        return b""

    def stop(self) -> None:
        """Close every connection at once."""
        self.released.set()
        self._server.stop(None).wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _handler(self, kind: Any) -> Any:
        def handle(request: bytes, context: grpc.ServicerContext) -> bytes:
            event = kind.FromString(request)
            self.events.append(event)
            self.metadata.append({str(key): str(value) for key, value in context.invocation_metadata()})
            give = self.script.pop(0) if self.script else answer()
            return give(event, context)

        return grpc.unary_unary_rpc_method_handler(handle)
