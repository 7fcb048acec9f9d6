"""``turnkeeper serve``."""

import asyncio
import os

import click
import uvloop

from turnkeeper import logs
from turnkeeper.cli.options import options, settings
from turnkeeper.policies import PolicyError
from turnkeeper.runtime import serve
from turnkeeper.server.listeners import AddressError, AddressInUseError


@click.command("serve")
@options
def command(config: str, **flags: object) -> None:
    """Serve decisions until SIGTERM; SIGHUP reads the policy file again.

    When it is ready, one JSON line goes to stdout, and nothing else; logs go to stderr. Telemetry is exported to
    OTEL_EXPORTER_OTLP_ENDPOINT when it is set; /metrics is always served on the admin address.

    \b
    turnkeeper serve
    turnkeeper serve --policies policies.yaml --listen unix:///run/turnkeeper/turnkeeper.sock
    """
    found = settings(flags, os.environ, config)
    logs.configure(found.text("log_format"), found.text("log_level"))
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(found, os.environ))
    except PolicyError as error:
        for problem in error.problems:
            click.echo(str(problem), err=True)
        raise SystemExit(2) from None
    except AddressError as error:
        click.echo(str(error), err=True)
        raise SystemExit(2) from None
    except AddressInUseError as error:
        click.echo(str(error), err=True)
        raise SystemExit(4) from None
