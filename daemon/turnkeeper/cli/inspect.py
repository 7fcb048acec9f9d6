"""``turnkeeper inspect``."""

import click
from rich.console import Console

from turnkeeper.cli.remote import address_option, call, channel, json_option
from turnkeeper.cli.render import as_dict, decision_line, safe
from turnkeeper.cli.render import as_json as to_json
from turnkeeper.v1 import turnkeeper_pb2 as pb


@click.command("inspect")
@click.argument("request_id")
@click.option("--tenant", metavar="NAME", default="", help="Tenant of the request id.")
@address_option
@json_option
def command(request_id: str, tenant: str, address: str, *, as_json: bool) -> None:
    """Show the state and the timeline of one request id.

    Exit code 1 when the id is not live. The timeline holds the last 4 model calls.
    """
    request = pb.GetRequestRequest(request_id=request_id, tenant=tenant)
    with channel(address) as opened:
        answer = call(opened, "GetRequest", request, pb.GetRequestResponse)
    if as_json:
        click.echo(to_json(answer))
        return
    told = as_dict(answer)
    summary = told["summary"]
    counters = summary.get("counters", {})
    console = Console(highlight=False)
    state = f"ended, {summary.get('outcome', 'completed')}" if summary.get("ended") else "live"
    console.print(f"[bold]{safe(summary['request_id'])}[/]  policy {safe(summary['policy'])}  {state}", soft_wrap=True)
    console.print(f"  since {summary['started_at']}, last seen {summary['seen_at']}")
    counted = (
        f"{counters.get('turns', 0)} turns, {counters.get('model_calls', 0)} model calls, "
        f"{counters.get('function_calls', 0)} function calls asked for, {counters.get('tokens', 0)} tokens"
    )
    limit = f"{counters.get('limit', 0)} {counters.get('unit')}"
    left = "" if counters.get("limit_off") else f"; {counters.get('remaining', 0)} of {limit} left"
    console.print(f"  {counted}{left}", soft_wrap=True)
    console.print(f"  last decision {summary.get('last_verdict', 'none')} {summary.get('last_reason', '')}")
    for tool in summary.get("tools", []):
        console.print(f"  {tool['function_calls']:>4} × {tool['name']}", markup=False)
    for record in told.get("timeline", []):
        console.print(" " + decision_line(record), soft_wrap=True)
