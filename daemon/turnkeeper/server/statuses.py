"""One table from errors to gRPC statuses.

Law: each layer raises only its own error type; this is the only place that knows what a caller sees of it. What is
not in the table is our own bug: INTERNAL, no detail leaves, and the log has it.
"""

import grpc

from turnkeeper.core.model import Refusal
from turnkeeper.policies import UnknownPolicyError
from turnkeeper.wire.errors import InvalidArgumentError


class RefusedError(ValueError):
    """The core refused an event that contradicts what was told before."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)


class NotFoundError(LookupError):
    """A person asked for a request id that is not live."""


class StoppingError(RuntimeError):
    """The daemon takes no new work."""

    def __init__(self) -> None:
        super().__init__("the daemon is stopping")


STATUS: dict[type[Exception], grpc.StatusCode] = {
    InvalidArgumentError: grpc.StatusCode.INVALID_ARGUMENT,
    RefusedError: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownPolicyError: grpc.StatusCode.NOT_FOUND,
    NotFoundError: grpc.StatusCode.NOT_FOUND,
    StoppingError: grpc.StatusCode.UNAVAILABLE,
}


def status_of(error: Exception) -> tuple[grpc.StatusCode, str]:
    """Return the status and the text a caller sees."""
    code = STATUS.get(type(error))
    if code is None:
        return grpc.StatusCode.INTERNAL, "internal error; the daemon's log has it"
    return code, str(error)
