"""What can be wrong with the bytes of an event."""

from typing import NoReturn


class InvalidArgumentError(ValueError):
    """A field holds what it may not. ``field`` is its path in the message; the text has the value and the limit."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(f"{field}: {text}")
        self.field = field


def refuse(field: str, text: str) -> NoReturn:
    """Refuse a field."""
    raise InvalidArgumentError(field, text)


def refuse_bytes(message: str, data: bytes) -> NoReturn:
    """Refuse bytes that are not the message."""
    refuse(message, f"{len(data)} bytes that are not this message (wrong bytes, or text that is not UTF-8)")
