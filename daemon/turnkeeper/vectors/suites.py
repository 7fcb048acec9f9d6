"""Conformance vectors as they lie in files.

Law: a file is read whole or not at all, and all its problems are told at once, each with its place. What would pass
because it says nothing is a problem: a suite without cases, a case without steps, a field that is not there.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pool import Default
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from turnkeeper.policies.shape import meant, words
from turnkeeper.vectors.comparing import has_path
from turnkeeper.vectors.conformance_pb2 import Case, Step, Suite, Want

_NAME = re.compile(r"[A-Za-z0-9_]+")
_FIELD = re.compile(r"Failed to parse (\w+) field: ")
_PLACE = re.compile(r' at "?[A-Z]\w*((?:\.?[\w\[\]]+)*)"?\.*$')
_UNKNOWN = re.compile(r'Message type "[\w.]+" has no field named "(.*)" at "[A-Z]\w*\.?([\w.\[\]]*)"')
_ENUM = re.compile(r"Invalid enum value (.*) for enum type ([\w.]+)")


class SuiteError(Exception):
    """Everything that is wrong with a file of cases."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def read(path: Path) -> Suite:
    """Read a file. Raises ``SuiteError``."""
    try:
        content = json.loads(path.read_bytes(), object_pairs_hook=_once)
    except OSError as error:
        raise SuiteError([f"{path}: cannot be read: {error.strerror}"]) from None
    except json.JSONDecodeError as error:
        raise SuiteError([f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}"]) from None
    except (ValueError, RecursionError) as error:
        raise SuiteError([f"{path}: not JSON: {error}"]) from None
    problems: list[str] = []
    suite = Suite()
    if isinstance(content, dict):
        _fill(suite, content, "", ("cases",), problems)
        if not suite.name.isprintable():
            problems.append(f"name: {suite.name!r}, allowed: printable characters")
        for index, case in enumerate(_list(content, "cases", "", problems)):
            suite.cases.append(_case(case, f"cases[{index}]", problems))
        names = Counter(case.name for case in suite.cases)
        problems += [f"cases: name {name!r}, given {times} times" for name, times in names.items() if times > 1]
    else:
        problems.append("a map with name and cases is wanted")
    if problems:
        raise SuiteError([f"{path}: {problem}" for problem in problems])
    return suite


def policies_of(path: Path, case: Case) -> str:
    """Return the policy file's text that a case brings; empty: none. Raises ``SuiteError``."""
    if case.WhichOneof("policies") != "policies_file":
        return case.policies_yaml
    file = path.parent / case.policies_file
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SuiteError([f"{path}: case {case.name}: policies_file: {file} cannot be read: {why}"]) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a map of JSON; a key given twice is a mistake."""
    keys = Counter(key for key, _ in pairs)
    twice = [key for key, times in keys.items() if times > 1]
    if twice:
        msg = f"key {twice[0]!r}, given twice"
        raise ValueError(msg)
    return dict(pairs)


def _case(content: object, place: str, problems: list[str]) -> Case:
    case = Case()
    if not isinstance(content, dict):
        problems.append(f"{place}: a map with name and steps is wanted")
        return case
    _fill(case, content, place, ("steps",), problems)
    if not _NAME.fullmatch(case.name):
        problems.append(f"{place}.name: {case.name!r}, allowed: letters, digits and underscores")
    for index, told in enumerate(_list(content, "steps", place, problems)):
        step = Step()
        where = f"{place}.steps[{index}]"
        if isinstance(told, dict):
            if _fill(step, told, where, (), problems):
                problems += [f"{where}{problem}" for problem in _wants(step)]
        else:
            problems.append(f"{where}: a map with what is sent and want is wanted")
        case.steps.append(step)
    return case


def _list(content: dict[str, Any], key: str, place: str, problems: list[str]) -> list[object]:
    value = content.get(key)
    if isinstance(value, list) and value:
        return value
    problems.append(f"{place}{'.' if place else ''}{key}: a list of at least one is wanted")
    return []


def _fill(message: Message, content: dict[str, Any], place: str, apart: tuple[str, ...], problems: list[str]) -> bool:
    """Read a map into a message, but for the fields that are read ``apart``. False: there is a problem."""
    try:
        ParseDict({key: value for key, value in content.items() if key not in apart}, message)
    except ParseError as error:
        fields = [*message.DESCRIPTOR.fields_by_name]
        path, text = _said(str(error), fields)
        where = ".".join(part for part in (place, path) if part)
        problems.append(f"{where}: {text}" if where else text)
        return False
    return True


def _said(error: str, fields: list[str]) -> tuple[str, str]:
    """Return the place and the text of what the parser says."""
    path = ".".join(_FIELD.findall(error))
    text = _FIELD.sub("", error).partition("\n")[0]
    unknown = _UNKNOWN.search(text)
    if unknown:
        known = [_snake(name) for name in re.findall(r"'(\w+)'", error.partition("\n")[2])] or fields
        where = f"{unknown[2]}.{unknown[1]}".removeprefix(".")
        return where, f"unknown field, allowed: {words(known)}{meant(unknown[1], known)}"
    place = _PLACE.search(text)
    path = place[1].removeprefix(".") if place else path
    text = _PLACE.sub("", text).rstrip(".")
    enum = _ENUM.match(text)
    if enum:
        names = list(Default().FindEnumTypeByName(enum[2]).values_by_name)
        text = f"{enum[1]!r}, allowed: {words(names)}{meant(enum[1], names)}"
    return path, text


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)


def _wants(step: Step) -> Iterator[str]:
    """Yield what a step wants that no answer can be."""
    sent, kind = step.WhichOneof("send"), step.want.WhichOneof("answer")
    if sent is None:
        yield ": one of before_model, after_model, end_request, lose_state is wanted"
        return
    if sent == "lose_state":
        if step.HasField("want"):
            yield ".want: allowed: none, for lose_state has no answer"
        return
    if kind == "status":
        return
    if kind not in (None, sent):
        yield f".want: {kind}, allowed: {sent} or status, for that is what is sent"
    answer: Any = Want.DESCRIPTOR.fields_by_name[sent].message_type
    for key, paths in (("zero", step.want.zero), ("filled", step.want.filled)):
        for index, path in enumerate(paths):
            if not has_path(answer, path):
                yield f".want.{key}[{index}]: {path!r}, allowed: a field of {answer.name}, or one in it"
