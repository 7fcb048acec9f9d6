"""``turnkeeper status``."""

import click
from rich.console import Console

from turnkeeper.cli.remote import address_option, call, channel, json_option
from turnkeeper.cli.render import as_dict, safe
from turnkeeper.cli.render import as_json as to_json
from turnkeeper.v1 import turnkeeper_pb2 as pb


@click.command("status")
@address_option
@json_option
def command(address: str, *, as_json: bool) -> None:
    """Tell what a running daemon is and does: version, policies, live ids, losses."""
    with channel(address) as opened:
        status = call(opened, "GetStatus", pb.GetStatusRequest(), pb.GetStatusResponse)
    if as_json:
        click.echo(to_json(status))
        return
    told = as_dict(status)
    console = Console(highlight=False)
    policies = ", ".join(f"{p['name']} {p['version']} ({p['enforcement']})" for p in told.get("policies", []))
    observer = told.get("observer", {})
    rows = {
        "version": told.get("version"),
        "started": told.get("started_at"),
        "serving": ", ".join(told.get("listen", [])) + (" (draining)" if told.get("draining") else ""),
        "admin": told.get("admin"),
        "store": told.get("store"),
        "policies": policies,
        "loaded": told.get("policy_loaded_at"),
        "live ids": told.get("live_requests", 0),
        "decisions": told.get("decisions", 0),
        "observer": f"{'running' if observer.get('running') else 'down'}, {observer.get('restarts', 0)} restarts, "
        f"{observer.get('facts_dropped', 0)} of {observer.get('facts_offered', 0)} facts dropped, "
        f"{observer.get('export_failures', 0)} failed exports",
    }
    for name, value in rows.items():
        console.print(f"[bold]{name:<10}[/] {safe(str(value))}", soft_wrap=True)
    if status.policy_error:
        console.print(f"[red]last reload refused[/] since {told['policy_error_since']}:")
        console.print(status.policy_error, markup=False, soft_wrap=True)
