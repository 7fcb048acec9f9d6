"""What the README shows runs as it stands."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from daemon_process import Daemon

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()
GRPCURL = ROOT / ".tools" / "bin" / "grpcurl"


def block(name: str, occurrence: int = 0) -> str:
    """Return the fenced block after ``<!-- test: name -->``."""
    after = README.split(f"<!-- test: {name} -->")[1]
    return re.findall(r"```\w*\n(.*?)```", after, re.DOTALL)[occurrence]


def test_the_python_snippet_prints_what_it_says(daemon: Daemon) -> None:
    env = {**os.environ, "TURNKEEPER_ADDRESS": daemon.address_unix}
    ran = subprocess.run(
        [sys.executable, "-c", block("python")], capture_output=True, text=True, env=env, timeout=60, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout == "It is sunny; I asked 10 times.\n"
    assert f"`{ran.stdout.strip()}`" in README


def test_the_demo_prints_what_is_shown(daemon: Daemon) -> None:
    command = [sys.executable, "-m", "turnkeeper", "demo", "--speed", "0", "--address", daemon.address_unix]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    printed = [line.split("  demo-")[0].rstrip() for line in ran.stdout.splitlines()]
    shown = [line.rstrip() for line in block("demo").splitlines() if line.strip() not in ("", "...")]
    assert [line for line in shown if line not in printed] == []


def test_the_policy_file_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"
    path.write_text(block("policy"))
    command = [sys.executable, "-m", "turnkeeper", "check", str(path)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.go_tools
@pytest.mark.skipif(not GRPCURL.exists(), reason="not run: no grpcurl, it is built by `make tools`")
def test_grpcurl_gets_the_answer_that_is_shown(daemon: Daemon) -> None:
    command = block("grpcurl").replace("127.0.0.1:7310", daemon.address_tcp).replace("grpcurl", str(GRPCURL), 1)
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    shown = json.loads(block("grpcurl", 1))
    decision = {key: answer["decision"][key] for key in shown["decision"]}
    assert {"decision": decision, "mode": answer["mode"], "model_call": answer["model_call"]} == shown


def test_every_command_of_the_readme_is_there() -> None:
    for command in re.findall(r"turnkeeper (\w[\w-]*) ?", README):
        if command in ("serve", "status", "tail", "demo", "inspect", "check", "schema", "config"):
            ran = subprocess.run(
                [sys.executable, "-m", "turnkeeper", command, "--help"], capture_output=True, timeout=60, check=False
            )
            assert ran.returncode == 0, command
