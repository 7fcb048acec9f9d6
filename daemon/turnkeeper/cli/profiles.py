"""``turnkeeper profiles``."""

import json
import sys
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from turnkeeper import policies
from turnkeeper.policies.policy_set import DEFAULT
from turnkeeper.policies.shape import meant, words

_COLUMNS = {"name": "profile", "unit": "unit", "default": "N", "ends": "a model that always calls", "source": "of"}


@click.group("profiles", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """List the shipped profiles: policies that limit a loop as an SDK does.

    Each is a policy under its own name, ready to be named in an event, in a match rule, or in `extends`:

    \b
    policies:
      default: {extends: firebase-web, limits: [{unit: turns, n: 5}]}

    In a pipe, one line each: name, unit, N, how a model that always calls ends, and whose limit it is, between tabs.
    """
    if ctx.invoked_subcommand is not None:
        return
    rows = _rows()
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    elif sys.stdout.isatty():
        Console(highlight=False, emoji=False).print(_table(rows))
    else:
        for row in rows:
            click.echo("\t".join(_shown(value) for value in row.values()))


@command.command("show")
@click.argument("name")
def show(name: str) -> None:
    """Print the YAML of a profile as it is shipped, to read, or to copy and change.

    \b
    turnkeeper profiles show firebase-web
    """
    texts = policies.shipped()
    if name not in texts:
        click.echo(f"{name!r} is not shipped, allowed: {words(texts)}{meant(name, texts)}", err=True)
        raise SystemExit(2)
    click.echo(texts[name], nl=False)


def _rows() -> list[dict[str, Any]]:
    found = policies.load(None).policies
    rows = []
    for name in sorted(set(found) - {DEFAULT}):
        policy = found[name]
        limit = policy.limits[0]
        told = {"name": name, "unit": limit.unit.name.lower(), "default": limit.n}
        rows.append({**told, "ends": policy.ends, "source": policy.source})
    return rows


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(*_COLUMNS.values(), box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*(_shown(row[key]) for key in _COLUMNS))
    return table


def _shown(value: object) -> str:
    return "off" if value is None else str(value)
