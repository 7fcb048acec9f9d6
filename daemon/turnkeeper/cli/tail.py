"""``turnkeeper tail``."""

import contextlib

import click
from rich.console import Console

from turnkeeper.cli.remote import address_option, channel, json_option
from turnkeeper.cli.render import as_dict, decision_line
from turnkeeper.cli.render import as_json as to_json
from turnkeeper.v1 import turnkeeper_pb2 as pb


@click.command("tail")
@click.option("--request-id", metavar="ID", default="", help="Only this request id.")
@click.option("--tenant", metavar="NAME", default="", help="Only this tenant.")
@click.option("--without-allow", is_flag=True, help="Only FORCE_NONE and REJECT.")
@click.option("--count", metavar="N", type=click.IntRange(min=1), default=None, help="Exit after N decisions.")
@address_option
@json_option
def command(
    request_id: str, tenant: str, address: str, count: int | None, *, without_allow: bool, as_json: bool
) -> None:
    """Print decisions as they are made, until Ctrl-C. What this terminal is too slow for is dropped and counted."""
    request = pb.WatchDecisionsRequest(request_id=request_id, tenant=tenant, without_allow=without_allow)
    console = Console(highlight=False)
    dropped = 0
    with channel(address) as opened, contextlib.suppress(KeyboardInterrupt):
        watch = opened.unary_stream(
            "/turnkeeper.v1.Inspection/WatchDecisions",
            request_serializer=pb.WatchDecisionsRequest.SerializeToString,
            response_deserializer=pb.WatchDecisionsResponse.FromString,
        )
        stream = watch(request)
        stream.initial_metadata()  # the daemon answers once nothing is missed from here on
        if not as_json:
            click.echo("watching", err=True)
        for seen, told in enumerate(stream, 1):
            if as_json:
                click.echo(to_json(told.record))
            else:
                console.print(decision_line(as_dict(told.record)), soft_wrap=True)
            if told.dropped > dropped:
                dropped = told.dropped
                click.echo(f"{dropped} decisions were dropped: this reader is too slow", err=True)
            if seen == count:
                break
