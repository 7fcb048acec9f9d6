"""``turnkeeper profiles``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turnkeeper import policies
from turnkeeper.cli import cli
from turnkeeper.cli.profiles import _table

SHIPPED = Path(policies.__file__).parent


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, ["profiles", *args])


def test_in_a_pipe_a_line_each() -> None:
    result = run()
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [row[0] for row in rows] == sorted(set(policies.load(None).policies) - {"default"})
    assert rows[6] == [
        "firebase-web",
        "turns",
        "10",
        "N+1 model calls; N turns run; the last response, its calls not run",
        "Firebase JS SDK, @firebase/ai 3.0.0, maxSequentialFunctionCalls",
    ]
    assert [row[:3] for row in rows if row[0].startswith("genai-go")] == [["genai-go", "turns", "off"]]


def test_json_has_what_the_lines_have() -> None:
    told = json.loads(run("--json").stdout)
    lines = run().stdout.splitlines()
    assert len(told) == 23
    assert ["\t".join("off" if value is None else str(value) for value in row.values()) for row in told] == lines
    assert list(told[0]) == ["name", "unit", "default", "ends", "source"]


def test_a_terminal_gets_a_table() -> None:
    table = _table(json.loads(run("--json").stdout))
    assert [column.header for column in table.columns] == ["profile", "unit", "N", "a model that always calls", "of"]
    assert table.row_count == 23


@pytest.mark.parametrize("name", sorted(policies.shipped()))
def test_show_prints_what_is_shipped(name: str) -> None:
    result = run("show", name)
    (path,) = SHIPPED.rglob(f"{name}.yaml")
    assert (result.exit_code, result.stdout) == (0, path.read_text("utf-8"))
    assert result.stdout.startswith("# ")


@pytest.mark.parametrize("name", sorted(policies.shipped()))
def test_a_copy_of_a_profile_is_the_profile(name: str) -> None:
    copied = policies.parse(run("show", name).stdout, "copy.yaml")
    assert name in copied.own
    assert copied.policies[name] == policies.load(None).policies[name]


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("firebase-wbe", "; did you mean firebase-web?\n"),
        ("../default", "; did you mean default?\n"),
        ("*", ", vercel-ai\n"),
        ("", ", vercel-ai\n"),
    ],
)
def test_an_unknown_name_is_bad_input(name: str, end: str) -> None:
    result = run("show", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"{name!r} is not shipped, allowed: default, extensions-ai, firebase-android, ")
    assert result.stderr.endswith(end)


def test_help_shows_an_example() -> None:
    assert "default: {extends: firebase-web, limits: [{unit: turns, n: 5}]}" in run("--help").stdout
    assert "turnkeeper profiles show firebase-web" in run("show", "--help").stdout


def test_no_code_names_a_profile() -> None:
    names = set(policies.shipped()) - {"default", "strict"}
    code = {path: path.read_text("utf-8") for path in SHIPPED.parent.rglob("*.py") if path.parent.name != "cli"}
    assert [(path.name, name) for path, text in code.items() for name in names if f'"{name}"' in text] == []
