"""A policy file to a ``PolicySet``, or to everything that is wrong with it.

Law: a file is taken whole or not at all, and all its problems are told at once, in the order of the file. The
policies that are data of this package are in every set; a file's own policy of the same name comes first.
"""

import errno
import os
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import cast

from turnkeeper.core.policy import Policy
from turnkeeper.policies import meaning, shape
from turnkeeper.policies.building import build
from turnkeeper.policies.extending import Raw, extended
from turnkeeper.policies.policy_set import DEFAULT, PolicySet, Rule
from turnkeeper.policies.yaml_nodes import BYTES_MAX, Problem, YamlError, compose, plain

BUILT_IN = "built-in"
_PACKAGE = Path(__file__).parent


class PolicyError(Exception):
    """Everything that is wrong with a policy file."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def load(path: Path | None) -> PolicySet:
    """Return the policies of a file; without one, the built-in ones. Raises ``PolicyError``."""
    if path is None:
        return PolicySet(MappingProxyType(_built_in_policies()), (), BUILT_IN)
    try:
        data = read(path)
    except OSError as error:
        raise PolicyError((Problem(str(path), 1, 1, f"cannot be read: {error.strerror}"),)) from None
    return parse(data, str(path))


def shipped() -> dict[str, str]:
    """Return the YAML of every shipped policy, as it is written, by name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(_PACKAGE.rglob("*.yaml"))}


def read(path: Path) -> bytes:
    """Return the content of a regular file, of a too large one a little more than is allowed. Raises ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait for its other end
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        msg = "not a regular file"
        raise OSError(errno.EINVAL, msg)
    with os.fdopen(descriptor, "rb") as opened:
        return opened.read(BYTES_MAX + 1)


def parse(text: str | bytes, file: str) -> PolicySet:
    """Return the policies of a text; ``file`` is its name in messages. Raises ``PolicyError``."""
    built_in = _built_in_raw()
    raw, rules = _checked(text, file, built_in)
    try:
        own = {name: build(name, each) for name, each in extended(raw, built_in).items()}
    except ValueError as error:  # the core refuses what the schema let pass
        raise PolicyError((Problem(file, 1, 1, str(error)),)) from error
    named = tuple(sorted({DEFAULT, *own}))
    return PolicySet(MappingProxyType({**_built_in_policies(), **own}), rules, file, named)


def _checked(text: str | bytes, file: str, built_in: Mapping[str, Raw]) -> tuple[dict[str, Raw], tuple[Rule, ...]]:
    """Return the maps of a file's policies, and its rules."""
    problems: set[Problem] = set()
    try:
        root = compose(text, file)
    except YamlError as error:
        problems.update(error.problems)
        if error.root is None:
            raise PolicyError(error.problems) from None
        root = error.root
    problems.update(shape.problems(root, file))
    content = plain(root)
    if isinstance(content, dict):
        problems.update(meaning.problems(root, content, built_in, file))
    if problems:
        raise PolicyError(tuple(sorted(problems)))
    valid = cast("Raw", content)
    rules = tuple(Rule(tuple(rule["when"].items()), rule["policy"]) for rule in valid.get("match", ()))
    return valid.get("policies", {}), rules


@cache
def _built_in_raw() -> dict[str, Raw]:
    """Return the maps of every policy that is data of this package, ``extends`` applied."""
    raw: dict[str, Raw] = {}
    for path in sorted(_PACKAGE.rglob("*.yaml")):
        raw.update(_checked(path.read_bytes(), path.name, raw)[0])
    return extended(raw, {})


@cache
def _built_in_policies() -> dict[str, Policy]:
    return {name: build(name, each) for name, each in _built_in_raw().items()}
