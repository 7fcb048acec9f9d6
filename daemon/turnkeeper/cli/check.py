"""``turnkeeper check``."""

import json
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import click
from rich.console import Console

from turnkeeper import config, policies
from turnkeeper.policies.yaml_nodes import Problem, YamlError, compose, plain


class Checked(NamedTuple):
    """What was found in one file. ``policies`` is None for a config file."""

    file: str
    problems: tuple[Problem, ...]
    policies: tuple[str, ...] | None


@click.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(files: tuple[str, ...], *, as_json: bool) -> None:
    """Validate policy files and config files.

    A file with `match` or a map of `policies` at its top is a policy file. Every problem of a file is
    told, as file:line:column: what: value, allowed. Exit code 1 when there is one, 2 when a file cannot be read.

    \b
    turnkeeper check policies.yaml turnkeeper.yaml
    """
    unreadable = False
    found = []
    for file in files:
        try:
            found.append(_check(file, policies.read(Path(file))))
        except OSError as error:
            click.echo(f"{file}: cannot be read: {error.strerror}", err=True)
            unreadable = True
    if as_json:
        click.echo(json.dumps([_as_json(each) for each in found], indent=2))
    else:
        _print(found)
    if unreadable:
        raise SystemExit(2)
    if any(each.problems for each in found):
        raise SystemExit(1)


def _check(file: str, data: bytes) -> Checked:
    try:
        root = compose(data, file)
    except YamlError as error:
        if error.root is None:
            return Checked(file, error.problems, None)
        root = error.root
    content = plain(root)
    if not _holds_policies(content):
        return Checked(file, tuple(Problem(*problem) for problem in config.check_file(Path(file))), None)
    try:
        policies.parse(data, file)
    except policies.PolicyError as error:
        return Checked(file, error.problems, ())
    return Checked(file, (), tuple(content.get("policies", ())))


def _holds_policies(content: object) -> TypeGuard[dict[str, Any]]:
    """Tell a policy file from a config file, in which ``policies`` names a file."""
    if not isinstance(content, dict):
        return False
    return "match" in content or not isinstance(content.get("policies", ""), str)


def _print(found: list[Checked]) -> None:
    console = Console(highlight=False, soft_wrap=True, emoji=False)
    for each in found:
        for problem in each.problems:
            console.print(str(problem), style="red", markup=False)
        if not each.problems:
            what = "config" if each.policies is None else _counted(len(each.policies))
            console.print(f"{each.file}: ok, {what}", style="green", markup=False)


def _counted(number: int) -> str:
    return "1 policy" if number == 1 else f"{number} policies"


def _as_json(checked: Checked) -> dict[str, Any]:
    told: dict[str, Any] = {"file": checked.file, "ok": not checked.problems}
    if checked.policies is not None:
        told["policies"] = list(checked.policies)
    return told | {"problems": [problem._asdict() for problem in checked.problems]}
