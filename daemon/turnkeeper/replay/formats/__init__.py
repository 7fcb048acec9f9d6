"""Which format a document is in, told by its content."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import msgspec

from turnkeeper.replay.formats import atif, chat, events, gemini, otlp, recorded
from turnkeeper.replay.runs import FormatError, Run

READERS: dict[str, Callable[[bytes, str], list[Run]]] = {
    "recorded runs": recorded.read,
    "chat messages": chat.read,
    "Gemini contents": gemini.read,
    "an ATIF trajectory": atif.read,
}
EVENTS, TRACES = "events", "OTLP traces"


class Gatherer(Protocol):
    """A format whose runs are spread over lines."""

    def add(self, data: bytes, where: str) -> Iterator[Run]:
        """Take one line; yield what is complete."""

    def close(self) -> Iterator[Run]:
        """Yield the rest."""


GATHERERS: dict[str, Callable[[], Gatherer]] = {EVENTS: events.Gatherer, TRACES: otlp.Gatherer}
_UNSET = msgspec.UNSET
_UNREADABLE = (msgspec.DecodeError, ValueError, OverflowError, RecursionError)
_Maybe = msgspec.Raw | msgspec.UnsetType


class _Shape(msgspec.Struct, gc=False):
    """The keys that tell formats apart. Everything else is passed over unread."""

    prompts: _Maybe = _UNSET
    messages: _Maybe = _UNSET
    contents: _Maybe = _UNSET
    steps: _Maybe = _UNSET
    schema_version: _Maybe = _UNSET
    resourceSpans: _Maybe = _UNSET  # noqa: N815 - OTLP's name
    before_model: _Maybe = _UNSET
    after_model: _Maybe = _UNSET
    end_request: _Maybe = _UNSET


class _Item(msgspec.Struct, gc=False):
    role: Any = None
    parts: _Maybe = _UNSET


_object = msgspec.json.Decoder(_Shape).decode
_array = msgspec.json.Decoder(list[_Item]).decode


def detect(data: bytes) -> str:
    """Return the format of a document. Raises ``FormatError``."""
    try:
        return _of_array(data) if data.lstrip()[:1] == b"[" else _of_object(_object(data))
    except _UNREADABLE as error:
        raise FormatError(f"not JSON that can be read: {_short(error)}") from None  # noqa: EM102, TRY003 - holds both


def _of_object(shape: _Shape) -> str:
    tests = (
        (shape.prompts, "recorded runs"),
        (shape.messages, "chat messages"),
        (shape.contents, "Gemini contents"),
        (shape.steps if shape.schema_version is not _UNSET else _UNSET, "an ATIF trajectory"),
        (shape.resourceSpans, TRACES),
        (shape.before_model, EVENTS),
        (shape.after_model, EVENTS),
        (shape.end_request, EVENTS),
    )
    for found, name in tests:
        if found is not _UNSET:
            return name
    msg = "a JSON object of no known format: see `turnkeeper replay --help`"
    raise FormatError(msg)


def _of_array(data: bytes) -> str:
    items = _array(data)
    if items and all(isinstance(item.role, str) for item in items):
        return "Gemini contents" if any(item.parts is not _UNSET for item in items) else "chat messages"
    msg = "a JSON array that holds no messages: see `turnkeeper replay --help`"
    raise FormatError(msg)


def read(name: str, data: bytes, where: str) -> list[Run]:
    """Return the runs of a document in a format that is complete by itself. Raises ``FormatError``."""
    try:
        return READERS[name](data, where)
    except _UNREADABLE as error:
        raise FormatError(f"no {name}: {_short(error)}") from None  # noqa: EM102, TRY003 - holds both


def gather(gatherer: Gatherer, data: bytes, where: str) -> list[Run]:
    """Return the runs that are complete with this line. Raises ``FormatError``."""
    try:
        return list(gatherer.add(data, where))
    except _UNREADABLE as error:
        raise FormatError(_short(error)) from None


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
