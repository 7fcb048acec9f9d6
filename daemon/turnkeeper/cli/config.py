"""``turnkeeper config``."""

import json
import os

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from turnkeeper.cli.options import options, settings


@click.command("config")
@options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(config: str, *, as_json: bool, **flags: object) -> None:
    """Print every option, its value, and where it came from.

    Takes the flags of `serve`. Precedence: flag, environment, config file, default.
    """
    found = settings(flags, os.environ, config)
    if as_json:
        told = {name: {"value": s.value, "source": s.source, "env": s.option.env} for name, s in found.items()}
        click.echo(json.dumps(told, indent=2))
        return
    table = Table("option", "value", "from", box=None, pad_edge=False)
    for name, setting in found.items():
        value = ", ".join(setting.value) if isinstance(setting.value, tuple) else str(setting.value)
        table.add_row(name, escape(value or "-"), escape(setting.source))
    Console(highlight=False).print(table)
