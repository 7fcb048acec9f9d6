"""An answer beside the one that is wanted.

Comparison is by descriptor and knows no message by name: a new field of the contract needs no code here.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from turnkeeper.vectors.conformance_pb2 import Want

_NOTHING = "nothing"
Descriptor = Any  # two implementations of one class, of which only one is typed


class Status(NamedTuple):
    """An answer that is no message: the call failed."""

    code: str
    message: str


class Difference(NamedTuple):
    """One thing that is not as it is wanted. ``path`` is empty where it is about the answer as a whole."""

    path: str
    wanted: str
    got: str

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}wanted {self.wanted}, got {self.got}"


Answer = Message | Status


def differences(want: Want, answer: Answer | None) -> list[Difference]:
    """Tell in what an answer is not the one wanted."""
    kind = want.WhichOneof("answer")
    if isinstance(answer, Status) or kind == "status":
        return _status(want, answer)
    if answer is None:
        return [] if kind is None else [Difference("", kind, _NOTHING)]
    found: list[Difference] = []
    if kind is not None:
        wanted: Message = getattr(want, kind)
        if wanted.DESCRIPTOR is not answer.DESCRIPTOR:
            return [Difference("", str(wanted.DESCRIPTOR.name), str(answer.DESCRIPTOR.name))]
        found += _message(wanted, answer, "")
    for path in want.zero:
        values = [(value, told) for value, told in _values(answer, path) if value]
        found += [Difference(path, "its default", told) for _, told in values]
    for path in want.filled:
        filled = [bool(value) for value, _ in _values(answer, path)]
        if not filled or not all(filled):
            found.append(Difference(path, "another value than its default", _NOTHING if not filled else "its default"))
    return found


def has_path(descriptor: Descriptor, path: str) -> bool:
    """Tell whether a path leads to a field."""
    head, _, rest = path.partition(".")
    field = descriptor.fields_by_name.get(head)
    if field is None or not rest:
        return field is not None
    return field.message_type is not None and has_path(field.message_type, rest)


def _status(want: Want, answer: Answer | None) -> list[Difference]:
    if not isinstance(answer, Status):
        return [Difference("", f"status {want.status.code}", _NOTHING if answer is None else _told(answer))]
    told = f"status {answer.code}: {answer.message}"
    if want.WhichOneof("answer") != "status":
        return [Difference("", want.WhichOneof("answer") or "an answer", told)]
    found = [] if answer.code == want.status.code else [Difference("", f"status {want.status.code}", told)]
    missing = [part for part in want.status.message_contains if part not in answer.message]
    return found + [Difference("status.message", f"it to contain {json.dumps(part)}", told) for part in missing]


def _message(want: Message, got: Message, prefix: str) -> list[Difference]:
    found: list[Difference] = []
    for field, wanted in want.ListFields():
        path, value = f"{prefix}{field.name}", getattr(got, field.name)
        if field.is_repeated:
            found += _list(field, wanted, value, path)
        elif field.message_type is not None:
            found += _message(wanted, value, f"{path}.")
        elif wanted != value:
            found.append(Difference(path, _shown(field, wanted), _shown(field, value)))
    return found


def _list(field: Descriptor, want: Sequence[object], got: Sequence[object], path: str) -> list[Difference]:
    if len(want) != len(got):
        return [Difference(path, f"{len(want)} entries", f"{len(got)}: {_shown(field, got)}")]
    found: list[Difference] = []
    for index, (wanted, value) in enumerate(zip(want, got, strict=True)):
        if isinstance(wanted, Message) and isinstance(value, Message):
            found += _message(wanted, value, f"{path}[{index}].")
        elif wanted != value:
            found.append(Difference(f"{path}[{index}]", _shown(field, wanted), _shown(field, value)))
    return found


def _values(message: Message, path: str) -> Iterator[tuple[object, str]]:
    """Yield what a path leads to and how it is shown, a list as one value at its end and entry by entry before."""
    head, _, rest = path.partition(".")
    field = message.DESCRIPTOR.fields_by_name[head]
    value = getattr(message, head)
    if not rest:
        empty = isinstance(value, Message) and not value.ByteSize()
        yield None if empty else value, _shown(field, value)
        return
    for inner in value if field.is_repeated else [value]:
        yield from _values(inner, rest)


def _shown(field: Descriptor, value: object) -> str:
    """Return a value as it is written in a case."""
    if isinstance(value, Message):
        return _told(value)
    if not isinstance(value, str | bytes | int | float):
        return f"[{', '.join(_shown(field, item) for item in value)}]" if isinstance(value, Sequence) else repr(value)
    if field.enum_type is not None and value in field.enum_type.values_by_number:
        return str(field.enum_type.values_by_number[value].name)
    return json.dumps(value) if isinstance(value, str | int | float) else repr(value)


def _told(message: Message) -> str:
    return json.dumps(MessageToDict(message, preserving_proto_field_name=True))
