"""Talking to a running daemon: one channel, one deadline, one way to fail."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click
import grpc

from turnkeeper.config import default_socket

DEADLINE_S = 5.0
UNREACHABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)

address_option = click.option(
    "--address",
    metavar="ADDR",
    envvar="TURNKEEPER_ADDRESS",
    default="",
    help="Address of the daemon.  [env: TURNKEEPER_ADDRESS]  [default: the socket if it is there, else 127.0.0.1:7310]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def default_address() -> str:
    """Return the default socket if it is there, else the default port."""
    address = default_socket(os.environ)
    return address if Path(address.removeprefix("unix://")).exists() else "127.0.0.1:7310"


@contextmanager
def channel(address: str) -> Iterator[grpc.Channel]:
    """Open a channel; a daemon that cannot be reached ends the command with exit code 3."""
    where = address or default_address()
    target = f"unix:{where.removeprefix('unix://')}" if where.startswith("unix://") else where
    opened = grpc.insecure_channel(target, options=(("grpc.default_authority", "localhost"),))
    try:
        with opened:
            yield opened
    except grpc.RpcError as error:
        fail(error, where)


def fail(error: grpc.RpcError, where: str) -> NoReturn:
    """Say what went wrong, and exit: 3 unreachable, 1 the daemon says no, 2 it calls the input bad."""
    code, details = error.code(), error.details()
    if code in UNREACHABLE:
        click.echo(f"cannot reach the daemon at {where}: {_short(details)}", err=True)
        click.echo("start one with: turnkeeper serve", err=True)
        raise SystemExit(3) from None
    click.echo(f"{code.name}: {details}", err=True)
    raise SystemExit(2 if code is grpc.StatusCode.INVALID_ARGUMENT else 1) from None


def _short(details: str | None) -> str:
    """Return the end of gRPC's chain of reasons, which is the one that helps."""
    return (details or "no answer").rpartition(": ")[2]


def call(opened: grpc.Channel, method: str, request: Any, response: type[Any]) -> Any:  # noqa: ANN401 - generated messages
    """Ask the Inspection service one question."""
    ask: Callable[..., Any] = opened.unary_unary(
        f"/turnkeeper.v1.Inspection/{method}",
        request_serializer=type(request).SerializeToString,
        response_deserializer=response.FromString,
    )
    return ask(request, timeout=DEADLINE_S)
