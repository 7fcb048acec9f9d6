"""``turnkeeper healthcheck``."""

import click
from grpc_health.v1 import health_pb2, health_pb2_grpc

from turnkeeper.cli.remote import DEADLINE_S, address_option, channel, json_option


@click.command("healthcheck")
@address_option
@json_option
def command(address: str, *, as_json: bool) -> None:
    """Exit 0 if the daemon is serving, 1 if it is not, 3 if it cannot be reached."""
    with channel(address) as opened:
        answer = health_pb2_grpc.HealthStub(opened).Check(health_pb2.HealthCheckRequest(), timeout=DEADLINE_S)
    name = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    click.echo(f'{{"status": "{name}"}}' if as_json else name)
    raise SystemExit(0 if answer.status == health_pb2.HealthCheckResponse.SERVING else 1)
