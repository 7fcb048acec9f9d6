"""Arguments of a function call in one form, so that equal arguments have equal text.

Law: keys are sorted, strings are NFC, white space goes, and a number is what it is worth: ``1``, ``1.0`` and ``1e0``
are one, an integer of any size is exact, a fraction is its double. What is not plainly one JSON value (no JSON, a
key twice, NaN, beyond a double, too long, too deep, half a surrogate pair) is taken as the text it is. Parts that a
policy ignores are left out first.

The form is in the manner of RFC 8785 and not exchanged with anybody.
"""

import json
import math
from decimal import Decimal
from typing import Any
from unicodedata import normalize

import msgspec

CHARACTERS_MAX = 65_536  # longer arguments are documents; as text they are compared well enough
DEPTH_MAX = 64
_EXACT = 2**53  # integers below it are exact as doubles
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="deterministic").encode
Pointers = tuple[tuple[str, ...], ...]


class _NotPlainError(ValueError):
    pass


def canonical(text: str, ignore: Pointers = ()) -> str:
    """Return the canonical text of JSON arguments; of anything else ``text`` itself, marked as such."""
    if len(text) > CHARACTERS_MAX and not ignore:
        return "t" + text
    if not ignore and (form := _common(text)) is not None:
        return form
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_float=_number, parse_int=_number, parse_constant=_constant
        )
        for pointer in ignore:
            value = _without(value, pointer)
        form = json.dumps(_plain(value, 0), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        form.encode()
    except (ValueError, RecursionError):
        return "t" + text
    return "j" + form


def _common(text: str) -> str | None:
    """Do what is common at a sixth of the cost: ASCII without escapes, strings and integers; else None.

    Without escapes each string has two quotes, so a key that was there twice shows as quotes that are missing.
    """
    if not text.isascii() or "\\" in text:
        return None
    try:
        value = _decode(text)
        if 2 * _strings(value, 0) != text.count('"'):
            return None
    except (ValueError, RecursionError):
        return None
    return "j" + _encode(value).decode()


def _strings(value: Any, depth: int) -> int:  # noqa: ANN401 - JSON
    kind = type(value)
    if kind is str:
        return 1
    if kind is float or depth > DEPTH_MAX:
        raise _NotPlainError
    if kind is dict:
        return len(value) + sum([_strings(item, depth + 1) for item in value.values()])
    return sum([_strings(item, depth + 1) for item in value]) if kind is list else 0


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written: whether a key is there twice is asked after some were left out."""


def _object(pairs: list[tuple[str, Any]]) -> _Pairs:
    return _Pairs(pairs)


class _Refused:
    """A part that is no plain JSON; it may be one that is left out."""


def _number(text: str) -> int | float | _Refused:
    double = float(text)
    if not math.isfinite(double):
        return _Refused()
    if double.is_integer():
        return int(double) if abs(double) < _EXACT else int(Decimal(text))
    return double


def _constant(text: str) -> _Refused:
    del text
    return _Refused()


def _plain(value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON
    if depth > DEPTH_MAX:
        raise _NotPlainError
    if isinstance(value, _Pairs):
        built = {normalize("NFC", key): _plain(item, depth + 1) for key, item in value}
        if len(built) != len(value):
            raise _NotPlainError
        return built
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, str):
        return normalize("NFC", value)
    if isinstance(value, _Refused):
        raise _NotPlainError
    return value


def _without(value: Any, parts: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    """Return the value without what a pointer names; what is not there is not missed."""
    if not parts:
        return None
    head, rest = parts[0], parts[1:]
    if isinstance(value, _Pairs):
        return _Pairs(
            (key, _without(item, rest) if key == head else item) for key, item in value if rest or key != head
        )
    if isinstance(value, list) and head.isascii() and head.isdigit() and int(head) < len(value):
        index = int(head)
        middle = [_without(value[index], rest)] if rest else []
        return [*value[:index], *middle, *value[index + 1 :]]
    return value
