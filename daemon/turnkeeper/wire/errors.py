"""What can be wrong with the bytes of an event."""


class InvalidArgumentError(ValueError):
    """A field holds what it may not. ``field`` is its path in the message; the text has the value and the limit."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(f"{field}: {text}")
        self.field = field
