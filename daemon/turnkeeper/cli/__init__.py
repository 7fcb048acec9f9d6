"""The command line: one file per command, loaded when it is used.

Exit codes: 0 done; 1 the answer is no; 2 bad usage or bad input; 3 cannot reach the daemon; 4 address or store taken.
"""

import importlib
import os

import click

from turnkeeper import __version__

COMMANDS = {
    "serve": "Serve decisions until SIGTERM.",
    "check": "Validate policy and config files.",
    "test": "Run cases on a policy file.",
    "profiles": "List the shipped profiles, or print one.",
    "schema": "Print the JSON Schema of policy files.",
    "config": "Print every option, its value and where it came from.",
    "status": "Tell what a running daemon is and does.",
    "healthcheck": "Exit 0 if the daemon is serving, for containers and scripts.",
    "inspect": "Show the state and the timeline of one request id.",
    "tail": "Print decisions as they are made.",
    "replay": "Play recorded runs under a policy, to see what it would stop.",
    "demo": "Watch a runaway tool loop being stopped.",
    "fake-model": "Serve a scripted, Gemini-compatible model.",
    "version": "Print the version.",
}


class _Lazy(click.Group):
    """A group that imports a command's module when the command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"turnkeeper.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """Turnkeeper stops runaway tool-calling loops.

    Start a daemon with `turnkeeper serve`, see one at work with `turnkeeper demo`.

    \b
    Exit codes: 0 done; 1 the answer is no; 2 bad usage or bad input;
    3 cannot reach the daemon; 4 address or store taken.
    """


def main() -> None:
    """Run the command line."""
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")  # no process here forks and goes on using gRPC
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what is wrong is said by us, once
    try:
        cli(prog_name="turnkeeper")
    except UnicodeEncodeError:
        click.echo("an argument is not UTF-8", err=True)
        raise SystemExit(2) from None
