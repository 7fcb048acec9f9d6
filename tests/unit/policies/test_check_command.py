"""``turnkeeper check`` and ``turnkeeper schema``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turnkeeper.cli import cli
from turnkeeper.policies import schema

GOOD = "policies: {a: {}, b: {extends: a}}\n"


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(arg) for arg in args])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "good": GOOD,
        "one": "policies: {a: {}}",
        "rules": "match: [{when: {agent: a}, policy: default}]",
        "bad": "policies:\n  a: {deny: 1, enforcement: on}\n",
        "twice": "policies: {a: {}}\npolicies: {a: {x: 1}}\n",
        "broken": "a: [",
        "config": "log_level: info\npolicies: policies.yaml\n",
        "wrong": "log_levle: info\n",
    }
    paths = {}
    for name, text in contents.items():
        paths[name] = tmp_path / f"{name}.yaml"
        paths[name].write_text(text)
    return paths


def test_good_files(files: dict[str, Path]) -> None:
    result = run("check", files["good"], files["one"], files["rules"], files["config"])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{files['good']}: ok, 2 policies",
        f"{files['one']}: ok, 1 policy",
        f"{files['rules']}: ok, 0 policies",
        f"{files['config']}: ok, config",
    ]


def test_bad_files(files: dict[str, Path]) -> None:
    result = run("check", files["bad"], files["good"], files["twice"], files["broken"], files["wrong"])
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0].startswith(f"{files['bad']}:2:13: policies.a.deny: 1, allowed: ")
    assert lines[1] == f"{files['bad']}:2:29: policies.a.enforcement: 'on', allowed: enforce, observe"
    assert lines[2] == f"{files['good']}: ok, 2 policies"
    assert lines[3] == f"{files['twice']}:2:1: key 'policies', given twice: first in line 1"
    assert lines[4].startswith(f"{files['broken']}:1:5: not YAML: ")
    assert lines[5].startswith(f"{files['wrong']}:1:1: log_levle: unknown option")


def test_json(files: dict[str, Path]) -> None:
    result = run("check", "--json", files["good"], files["bad"], files["config"])
    good, bad, config = json.loads(result.stdout)
    assert result.exit_code == 1
    assert good == {"file": str(files["good"]), "ok": True, "policies": ["a", "b"], "problems": []}
    assert bad["problems"][1] == {
        "file": str(files["bad"]),
        "line": 2,
        "column": 29,
        "text": "policies.a.enforcement: 'on', allowed: enforce, observe",
    }
    assert config == {"file": str(files["config"]), "ok": True, "problems": []}


def test_what_cannot_be_read_is_bad_usage(files: dict[str, Path], tmp_path: Path) -> None:
    result = run("check", tmp_path / "none", files["bad"], tmp_path)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"{tmp_path / 'none'}: cannot be read: No such file or directory",
        f"{tmp_path}: cannot be read: not a regular file",
    ]
    assert "policies.a.deny" in result.stdout
    assert run("check").exit_code == 2


def test_the_schema_is_printed() -> None:
    result = run("schema")
    assert (result.exit_code, json.loads(result.stdout)) == (0, schema())


@pytest.mark.parametrize(
    ("name", "example"), [("check", "turnkeeper check policies.yaml"), ("schema", "turnkeeper schema > ")]
)
def test_help_shows_an_example(name: str, example: str) -> None:
    assert f"  {example}" in run(name, "--help").stdout
