"""``turnkeeper fake-model``: a scripted, Gemini-compatible model behind a real HTTP server."""

import json
import signal
import threading

import click

from turnkeeper.demo.model import FakeModel
from turnkeeper.demo.script import ScriptError, load


@click.command("fake-model")
@click.argument("script")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
def command(script: str, host: str, port: int) -> None:
    """Serve the SCRIPT (a file, or `demo` or `stubborn`) until SIGTERM.

    One JSON line on stdout tells the base URL to give an SDK. What was asked can be read at /requests.
    """
    try:
        model = FakeModel(load(script), host, port)
    except ScriptError as error:
        click.echo(str(error), err=True)
        raise SystemExit(2) from None
    except OSError as error:
        click.echo(f"--host {host} --port {port}: {error.strerror}", err=True)
        raise SystemExit(4) from None
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with model:
        click.echo(json.dumps({"ready": True, "url": model.url}))
        stop.wait()
