"""Conformance vectors as they lie in files: read, and compare an answer with what is wanted.

Names are unique in their suite, so that a case is found by ``suite/case``. Comparison is by descriptor and knows no
message by name: a new field of the contract needs no code here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from conformance_pb2 import Case, Suite, Want
from google.protobuf.json_format import Parse
from google.protobuf.message import Message

VECTORS = Path(__file__).parents[1] / "vectors"


class Status(NamedTuple):
    """An answer that is no message: the call failed."""

    code: str
    message: str


Answer = Message | Status


def suites(folder: Path = VECTORS) -> Iterator[tuple[Path, Suite]]:
    """Read every suite of a folder."""
    for path in sorted(folder.glob("*.json")):
        yield path, Parse(path.read_text(encoding="utf-8"), Suite())


def policies_of(path: Path, case: Case) -> str:
    """Return the policy file's text that a case runs under; empty: the embedded default."""
    if case.WhichOneof("policies") == "policies_file":
        return (path.parent / case.policies_file).read_text(encoding="utf-8")
    return case.policies_yaml


def differences(want: Want, answer: Answer | None) -> list[str]:
    """Tell in what an answer is not the one wanted."""
    kind = want.WhichOneof("answer")
    if isinstance(answer, Status) or kind == "status":
        return _status_differences(want, answer)
    if answer is None:
        return [] if kind is None else [f"wanted {kind}, nothing was sent"]
    found: list[str] = []
    if kind is not None:
        wanted: Message = getattr(want, kind)
        if wanted.DESCRIPTOR is not answer.DESCRIPTOR:
            return [f"wanted {wanted.DESCRIPTOR.name}, got {answer.DESCRIPTOR.name}"]
        found += _message_differences(wanted, answer, "")
    for path in want.zero:
        found += [f"{path}: {value!r}, wanted its default" for value in _values(answer, path) if value]
    for path in want.filled:
        values = list(_values(answer, path))
        if not values or not all(values):
            found.append(f"{path}: {values!r}, wanted another value than its default")
    return found


def _status_differences(want: Want, answer: Answer | None) -> list[str]:
    if not isinstance(answer, Status):
        return [f"wanted status {want.status.code}, got an answer: {answer}"]
    if want.WhichOneof("answer") != "status":
        return [f"status {answer.code}: {answer.message}"]
    found = [] if answer.code == want.status.code else [f"status {answer.code}, wanted {want.status.code}"]
    return found + [
        f"status message lacks {part!r}: {answer.message}"
        for part in want.status.message_contains
        if part not in answer.message
    ]


def _message_differences(want: Message, got: Message, prefix: str) -> list[str]:
    found: list[str] = []
    for field, wanted in want.ListFields():
        path = f"{prefix}{field.name}"
        value = getattr(got, field.name)
        if field.is_repeated:
            found += _list_differences(list(wanted), list(value), path)
        else:
            found += _value_differences(wanted, value, path)
    return found


def _list_differences(want: list[object], got: list[object], path: str) -> list[str]:
    if len(want) != len(got):
        return [f"{path}: {len(got)} entries, wanted {len(want)}"]
    pairs = enumerate(zip(want, got, strict=True))
    return [text for index, (wanted, value) in pairs for text in _value_differences(wanted, value, f"{path}[{index}]")]


def _value_differences(want: object, got: object, path: str) -> list[str]:
    if isinstance(want, Message) and isinstance(got, Message):
        return _message_differences(want, got, f"{path}.")
    return [] if want == got else [f"{path}: {got!r}, wanted {want!r}"]


def _values(message: Message, path: str) -> Iterator[object]:
    """Yield what a path leads to, a list as one value at its end and entry by entry before."""
    head, _, rest = path.partition(".")
    field = message.DESCRIPTOR.fields_by_name.get(head)
    if field is None:
        msg = f"{message.DESCRIPTOR.name} has no field {head!r}"
        raise ValueError(msg)
    value = getattr(message, head)
    if not rest:
        yield (value if value.ByteSize() else None) if isinstance(value, Message) else value
        return
    for inner in value if field.is_repeated else [value]:
        yield from _values(inner, rest)
