"""House rules on what is shipped and what is committed."""

import re
import tomllib

from files import ROOT, files, git, name

PYPROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
COMMITTED_BYTES = 1_000_000


def test_a_dependency_says_what_it_is_for() -> None:
    project = tomllib.loads(PYPROJECT)
    for needed in [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]:
        line = next(line for line in PYPROJECT.splitlines() if f'"{needed}"' in line)
        assert re.search(r"# \w.{3,}", line), f"{needed}: say what it is for"


def test_a_suppressed_rule_says_why() -> None:
    ignores = PYPROJECT.partition("[tool.ruff.lint]")[2].partition("[tool.ruff.lint.flake8")[0]
    silent = [line for line in ignores.splitlines() if re.match(r'\s+"[A-Z]+\d*",', line) and "# " not in line]
    assert not silent


def test_everything_installed_is_pinned() -> None:
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    named = re.findall(r"^([\w.-]+)==[\w.]+$", pins, flags=re.MULTILINE)
    pinned = {re.sub(r"[-_.]+", "-", pin).lower() for pin in named}
    project = tomllib.loads(PYPROJECT)
    needed = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    names = {re.sub(r"[-_.]+", "-", re.split(r"[<>=\[ ]", one)[0]).lower() for one in needed}
    assert names - pinned == {"turnkeeper-client"}


def test_nothing_built_is_committed() -> None:
    assert not git("ls-files", "--cached", "--ignored", "--exclude-standard")
    large = [name(path) for path in files() if path.stat().st_size > COMMITTED_BYTES]
    assert not large, f"over {COMMITTED_BYTES} bytes: {large}"
