"""The published schema, and what it says about a file, in words.

Law: the schema says what is allowed, once; a message is its description (or its list of words) with the value and the
place. What a schema cannot say is checked in ``meaning``.
"""

import difflib
import json
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path as File
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from turnkeeper.policies.yaml_nodes import SHOWN_MAX, Node, Path, Problem, find, plain, position, quoted, shown

_FILE = File(__file__).with_name("policy.schema.json")
WORDS_SHOWN_MAX = 40  # a message stays readable
WORDS_COMPARED_MAX = 100  # each comparison takes microseconds, and every wrong name of a file is compared
_KIND_ONLY = ("const", "type", "enum")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file."""
    content: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
    return content


def problems(root: Node, file: str) -> Iterator[Problem]:
    """Yield everything about a file that the schema does not allow."""
    content = plain(root)
    if content is None:
        empty = "an empty file, allowed: policies, match (without --policies the built-in policy holds)"
        yield Problem(file, 1, 1, empty)
        return
    for error in _validator().iter_errors(content):
        for leaf in _leaves(error):
            yield from _told(leaf, root, file)


def name_of(path: Path) -> str:
    """Return a path as an operator reads it: ``policies.a.limits[0].n``."""
    name = ""
    for step in path:
        name += f"[{step}]" if isinstance(step, int) else f".{word(step)}"
    return name.removeprefix(".")


def word(text: str) -> str:
    """Return a key or a name as it is, in quotes if it does not read as one word."""
    return text if text and text.isprintable() and " " not in text and len(text) <= SHOWN_MAX else quoted(text)


def words(allowed: Collection[str]) -> str:
    """Return a list of words; of very many the first, and how many there are."""
    first = ", ".join(word(each) for each in list(allowed)[:WORDS_SHOWN_MAX])
    return first if len(allowed) <= WORDS_SHOWN_MAX else f"{first} and {len(allowed) - WORDS_SHOWN_MAX} more"


def meant(text: str, allowed: Collection[str]) -> str:
    """Return a hint at the word that was meant, if one is near."""
    near = difflib.get_close_matches(text[:SHOWN_MAX], list(allowed)[:WORDS_COMPARED_MAX], 1)
    return f"; did you mean {word(near[0])}?" if near else ""


def described(definition: str) -> str:
    """Return what the schema allows for one of its definitions."""
    return _allowed(_schema()["$defs"][definition])


@cache
def _schema() -> dict[str, Any]:
    return schema()


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(_schema())


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the errors of the branch that was meant: of a map, the branch for a map."""
    deeper = [each for each in error.context or () if each.validator not in _KIND_ONLY or each.relative_path]
    if error.validator == "anyOf" and deeper and isinstance(error.instance, dict):
        for each in deeper:
            yield from _leaves(each)
    else:
        yield error


def _told(error: ValidationError, root: Node, file: str) -> Iterator[Problem]:
    path = tuple(error.absolute_path)
    node = find(root, path)
    rule = cast("dict[str, Any]", error.schema)
    instance = cast("Any", error.instance)
    if error.validator == "additionalProperties":
        allowed = rule["properties"]
        for key in instance:
            if key not in allowed:
                text = f"{name_of((*path, key))}: unknown key, allowed: {words(allowed)}{meant(key, allowed)}"
                yield Problem(file, *position(root, (*path, key)), text)
    elif error.validator == "required":
        for key in rule["required"]:
            if key not in instance:
                text = f"{name_of((*path, key))}: missing, allowed: {_allowed(rule['properties'][key])}"
                yield Problem(file, *node.mark, text)
    elif "propertyNames" in error.schema_path:
        text = f"{name_of(path)}: key {quoted(instance)}, allowed: {_allowed(rule)}"
        yield Problem(file, *position(root, (*path, instance)), text)
    else:
        hint = meant(instance, rule["enum"]) if "enum" in rule and isinstance(instance, str) else ""
        where = f"{name_of(path)}: " if path else ""
        yield Problem(file, *node.mark, f"{where}{shown(node)}, allowed: {_allowed(rule)}{hint}")


def _allowed(node: dict[str, Any]) -> str:
    if "$ref" in node:
        node = _schema()["$defs"][node["$ref"].rpartition("/")[2]]
    return ", ".join(node["enum"]) if "enum" in node else str(node["description"])
