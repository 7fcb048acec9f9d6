"""``turnkeeper version``."""

import json
import platform

import click
import grpc

from turnkeeper import __version__


@click.command("version")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> None:
    """Print the version of Turnkeeper, and of what it runs on."""
    told = {"version": __version__, "python": platform.python_version(), "grpcio": grpc.__version__}
    click.echo(json.dumps(told) if as_json else "  ".join(f"{name} {value}" for name, value in told.items()))
