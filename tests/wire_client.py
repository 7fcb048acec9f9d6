"""The contract, called plainly: no shim between a test and the daemon."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import grpc

from turnkeeper.v1 import turnkeeper_pb2 as pb

DEADLINE_S = 5.0


class Wire:
    """One channel to a daemon."""

    def __init__(self, address: str) -> None:
        target = f"unix:{address.removeprefix('unix://')}" if address.startswith("unix://") else address
        options = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))
        self.channel = grpc.insecure_channel(target, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.channel.close()

    def raw(
        self, method: str, data: bytes, *, service: str = "TurnKeeper", metadata: Sequence[tuple[str, str]] = ()
    ) -> bytes:
        """Send bytes, return bytes."""
        answer: bytes = self.channel.unary_unary(f"/turnkeeper.v1.{service}/{method}")(
            data, timeout=DEADLINE_S, metadata=tuple(metadata)
        )
        return answer

    def before(
        self, request_id: str, model_call: int = 0, *, metadata: Sequence[tuple[str, str]] = (), **fields: Any
    ) -> pb.BeforeModelResponse:
        """BeforeModel."""
        request = pb.BeforeModelRequest(request_id=request_id, model_call=model_call, **fields)
        return pb.BeforeModelResponse.FromString(
            self.raw("BeforeModel", request.SerializeToString(), metadata=metadata)
        )

    def after(
        self, request_id: str, model_call: int = 0, *tools: str, metadata: Sequence[tuple[str, str]] = (), **fields: Any
    ) -> pb.AfterModelResponse:
        """AfterModel with one call for each tool named."""
        attempt = fields.get("attempt", 0)
        calls = [
            pb.FunctionCall(id=f"{model_call}.{attempt}.{n}", name=tool, args_json="{}") for n, tool in enumerate(tools)
        ]
        request = pb.AfterModelRequest(request_id=request_id, model_call=model_call, calls=calls, **fields)
        return pb.AfterModelResponse.FromString(self.raw("AfterModel", request.SerializeToString(), metadata=metadata))

    def end(self, request_id: str, outcome: Any = pb.OUTCOME_COMPLETED, **fields: Any) -> pb.EndRequestResponse:
        """EndRequest."""
        request = pb.EndRequestRequest(request_id=request_id, outcome=outcome, **fields)
        return pb.EndRequestResponse.FromString(self.raw("EndRequest", request.SerializeToString()))

    def status(self) -> pb.GetStatusResponse:
        """GetStatus."""
        return pb.GetStatusResponse.FromString(self.raw("GetStatus", b"", service="Inspection"))

    def get(self, request_id: str, tenant: str = "") -> pb.GetRequestResponse:
        """GetRequest."""
        request = pb.GetRequestRequest(request_id=request_id, tenant=tenant)
        return pb.GetRequestResponse.FromString(
            self.raw("GetRequest", request.SerializeToString(), service="Inspection")
        )
