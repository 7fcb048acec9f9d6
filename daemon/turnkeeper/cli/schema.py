"""``turnkeeper schema``."""

import json

import click

from turnkeeper import policies


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of policy files.

    An editor that speaks YAML checks and completes a policy file with it:

    \b
    turnkeeper schema > policy.schema.json
    # yaml-language-server: $schema=policy.schema.json     (the first line of policies.yaml)
    """
    click.echo(json.dumps(policies.schema(), indent=2, ensure_ascii=False))
