"""What the daemon answers, read into frozen values.

An enum value that this client does not know, and UNSPECIFIED where the contract gives it no meaning, is not
understood: the client then decides alone, and never less severely than the verdict it could read.
"""

from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from turnkeeper_client._gen import turnkeeper_pb2 as pb
from turnkeeper_client._gen import words
from turnkeeper_client._gen.words import CallVerdict, Decision, Disposition, Mode, Verdict

_NEVER_UNSPECIFIED = ("verdict", "reason")


@dataclass(frozen=True)
class Answer(Decision):
    """A decision; ``fallback_code`` is the gRPC code for which the client made it alone, None if the daemon did."""

    fallback_code: int | None = None


@dataclass(frozen=True)
class BeforeModelAnswer(Answer):
    """May this model call be made? ``mode`` is the one to send: a ``Mode``, or the number that was asked."""

    mode: int = Mode.UNSPECIFIED
    drop_declarations: bool = False
    declare_tools: tuple[str, ...] = ()
    model_call: int = 0


@dataclass(frozen=True)
class AfterModelAnswer(Answer):
    """May the calls of this response be run? One verdict for each, in order."""

    calls: tuple[CallVerdict, ...] = ()


class NotUnderstoodError(Exception):
    """An answer that this client does not know."""


def read_before(told: pb.BeforeModelResponse, asked: int) -> BeforeModelAnswer:
    """Read the answer before a model call."""
    mode = known_mode(told.mode)
    if not isinstance(mode, Mode) and mode != asked:
        raise NotUnderstoodError
    return BeforeModelAnswer(
        **_decision(told.decision),
        mode=mode,
        drop_declarations=told.drop_declarations,
        declare_tools=tuple(told.declare_tools),
        model_call=told.model_call,
    )


def read_after(told: pb.AfterModelResponse, calls: int) -> AfterModelAnswer:
    """Read the answer after a response."""
    if len(told.calls) != calls:
        raise NotUnderstoodError
    return AfterModelAnswer(**_decision(told.decision), calls=tuple(CallVerdict(**read(c)) for c in told.calls))


def known_mode(number: int) -> int:
    """Return a ``Mode``, or the number of one that is newer than this client."""
    return Mode(number) if number in Mode._value2member_map_ else number


def read(message: Message) -> dict[str, Any]:
    """Return the fields of a message as plain values."""
    values: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.enum_type is not None:
            values[field.name] = _word(field.enum_type.name, value, needed=field.name in _NEVER_UNSPECIFIED)
        elif field.message_type is None:
            values[field.name] = value
        elif field.message_type.name == "Duration":
            values[f"{field.name}_s"] = value.seconds + value.nanos / 1e9
        else:
            kind = getattr(words, field.message_type.name)
            values[field.name] = tuple(kind(**read(one)) for one in value) if field.is_repeated else kind(**read(value))
    return values


def _decision(told: pb.Decision) -> dict[str, Any]:
    values = read(told)
    if values["verdict"] is Verdict.REJECT and values["disposition"] is Disposition.UNSPECIFIED:
        raise NotUnderstoodError
    return values


def _word(name: str, number: int, *, needed: bool) -> object:
    kind = getattr(words, name)
    if number not in kind._value2member_map_ or (needed and number == 0):
        raise NotUnderstoodError
    return kind(number)
