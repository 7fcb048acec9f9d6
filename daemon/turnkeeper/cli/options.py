"""Flags made from the table of options."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from turnkeeper.config import OPTIONS, ConfigError, Settings, load


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--config`` and one flag for each option."""
    for option in reversed(OPTIONS):
        shown = option.shown_default or (str(option.default) if option.default not in ("", False) else "")
        default = f"  [default: {shown}]" if shown else ""
        help_text = f"{option.help}  [env: {option.env}]{default}"
        if option.default is False:
            add: Any = click.option(option.flag, option.name, is_flag=True, default=None, help=help_text)
        else:
            add = click.option(
                option.flag, option.name, metavar=option.metavar, multiple=option.many, default=None, help=help_text
            )
        command = add(command)
    config = click.option(
        "--config", metavar="FILE", envvar="TURNKEEPER_CONFIG", default="", help="Config file (YAML)."
    )
    return config(command)


def settings(flags: Mapping[str, object], environ: Mapping[str, str], file: str) -> Settings:
    """Load the settings; every problem goes to stderr, exit code 2."""
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in flags.items()}
    try:
        return load(texts, environ, file)
    except ConfigError as error:
        for problem in error.problems:
            click.echo(str(problem), err=True)
        raise SystemExit(2) from None
