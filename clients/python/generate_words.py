"""Write ``turnkeeper_client/_gen/words.py``: enums and plain messages of the contract as typed Python values."""

import re
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from turnkeeper_client._gen import turnkeeper_pb2 as pb

TARGET = Path(__file__).parent / "turnkeeper_client" / "_gen" / "words.py"
MESSAGES = (
    "Caller",
    "FunctionCall",
    "FunctionResult",
    "Usage",
    "Counters",
    "Warning",
    "CallVerdict",
    "Decision",
)
HEAD = '''"""Enums and plain messages of the contract, and the keyword arguments of its calls.

Generated from ``protos/`` by ``make proto``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypedDict
'''
CALLS = {"BeforeModel": "Before", "AfterModel": "After", "EndRequest": "End"}
NOT_TOLD = ("request_id", "fallbacks")  # a parameter of its own, and the client's own
SCALARS = {
    FieldDescriptor.TYPE_STRING: ("str", '""'),
    FieldDescriptor.TYPE_BYTES: ("bytes", 'b""'),
    FieldDescriptor.TYPE_BOOL: ("bool", "False"),
    FieldDescriptor.TYPE_UINT32: ("int", "0"),
    FieldDescriptor.TYPE_UINT64: ("int", "0"),
}


def words() -> str:
    """Return the module's text."""
    text = HEAD
    for name, enum in sorted(pb.DESCRIPTOR.enum_types_by_name.items()):
        prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper() + "_"
        text += f'\n\nclass {name}(IntEnum):\n    """``{enum.full_name}``."""\n\n'
        text += "".join(f"    {value.name.removeprefix(prefix)} = {value.number}\n" for value in enum.values)
    for name in MESSAGES:
        message = pb.DESCRIPTOR.message_types_by_name[name]
        text += f'\n\n@dataclass(frozen=True)\nclass {name}:\n    """``{message.full_name}``."""\n\n'
        text += "".join(f"    {_field(field)}\n" for field in message.fields)
    for call, name in CALLS.items():
        message = pb.DESCRIPTOR.message_types_by_name[f"{call}Request"]
        text += f'\n\nclass {name}(TypedDict, total=False):\n    """What ``{call}`` may be told."""\n\n'
        text += "".join(f"    {line}\n" for line in _arguments(message))
        text += "    traceparent: str\n"
    return text.replace("class Warning:", "class Warning:  # noqa: A001 - the word of the contract")


def _arguments(message: Descriptor) -> Iterator[str]:
    """Return the fields as arguments; those of a transcript stand for themselves."""
    for field in message.fields:
        if field.name in NOT_TOLD:
            continue
        if field.message_type is not None and field.message_type.name == "Transcript":
            yield from _arguments(field.message_type)
        else:
            yield f"{field.name}: {_argument(field)}"


def _argument(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        return "int" if field.enum_type.name == "Mode" else field.enum_type.name  # a mode may be newer than this
    if field.message_type is not None and field.message_type.name == "ToolNames":
        return "Iterable[str] | None"
    kind = field.message_type.name if field.message_type is not None else SCALARS[field.type][0]
    return f"Iterable[{kind}]" if field.is_repeated else kind if field.message_type is None else f"{kind} | None"


def _field(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        return f"{field.name}: {field.enum_type.name} = {field.enum_type.name}.UNSPECIFIED"
    if field.message_type is None:
        kind, default = SCALARS[field.type]
        return f"{field.name}: {kind} = {default}"
    return _message_field(field.name, field.message_type, repeated=field.is_repeated)


def _message_field(name: str, message: Descriptor, *, repeated: bool) -> str:
    if message.name == "Duration":
        return f"{name}_s: float = 0.0"
    return f"{name}: tuple[{message.name}, ...] = ()" if repeated else f"{name}: {message.name} = {message.name}()"


if __name__ == "__main__":
    TARGET.write_text(words())
