"""A message as JSON values for people and scripts: the contract's names, every field, numbers as numbers."""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

_TEXT_IN_JSON = (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_INT64)  # protobuf's own JSON writes them as text


def plain(message: Message) -> dict[str, Any]:
    """Return a message as JSON values."""
    told: dict[str, Any] = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    _numbers(told, message)
    return told


def _numbers(told: dict[str, Any], message: Message) -> None:
    for field in message.DESCRIPTOR.fields:
        value = told.get(field.name)
        if value is None:
            continue
        if field.type in _TEXT_IN_JSON:
            told[field.name] = int(value)
        elif isinstance(value, dict):
            _numbers(value, getattr(message, field.name))
        elif isinstance(value, list) and field.message_type is not None:
            for item, part in zip(value, getattr(message, field.name), strict=True):
                _numbers(item, part)
