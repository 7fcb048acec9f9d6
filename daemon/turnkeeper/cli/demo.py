"""``turnkeeper demo``."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from turnkeeper.demo.play import UnreachableError, play
from turnkeeper_client import OptionError

EXIT_S = 10.0


@click.command("demo")
@click.option(
    "--address",
    metavar="ADDR",
    default="",
    envvar="TURNKEEPER_ADDRESS",
    help="Play against this daemon.  [env: TURNKEEPER_ADDRESS]  [default: start one, and stop it after]",
)
@click.option("--speed", type=click.FloatRange(min=0), default=None, help="1 is for watching, 0 does not pause.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each step.")
def command(address: str, speed: float | None, as_json: bool) -> None:  # noqa: FBT001 - click passes flags by name
    """Watch a runaway tool loop being stopped, with a scripted model: no API key is needed.

    The first model calls a function on every turn: ten turns run, then it is made to answer. The second ignores
    that, and its call is rejected.
    """
    chosen = speed if speed is not None else float(sys.stdout.isatty())
    with contextlib.nullcontext(address) if address else _daemon() as where:
        try:
            play(where, sys.stdout, speed=chosen, as_json=as_json)
        except OptionError as error:
            click.echo(f"--address: {error}", err=True)
            raise SystemExit(2) from None
        except UnreachableError as error:
            click.echo(f"cannot reach the daemon at {where}: {error}", err=True)
            raise SystemExit(3) from None


@contextlib.contextmanager
def _daemon() -> Iterator[str]:
    """Start a daemon with the default policy on a socket of its own, and stop it."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("TURNKEEPER_")}
    with tempfile.TemporaryDirectory(prefix="turnkeeper-demo-") as directory:
        address = f"unix://{directory}/turnkeeper.sock"
        serve = (sys.executable, "-m", "turnkeeper", "serve", "--listen", address, "--admin", "127.0.0.1:0")
        log = Path(directory, "daemon.log")
        with log.open("w") as stderr:
            process = subprocess.Popen(  # noqa: S603 - our own command
                serve, stdout=subprocess.PIPE, stderr=stderr, text=True, env=env
            )
        with process:
            try:
                line = process.stdout.readline() if process.stdout else ""
                if not line:
                    click.echo(f"the daemon did not start:\n{log.read_text()}", err=True)
                    raise SystemExit(3)
                yield str(json.loads(line)["listen"][0])
            finally:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=EXIT_S)
                process.kill()
