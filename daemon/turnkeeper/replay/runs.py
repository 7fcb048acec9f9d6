"""Recorded runs, whatever format they were recorded in.

Law: a prompt here is one request id: the responses between two messages of a user. Content is not kept: a result is
a digest. Calls and results meet by their place in the response, since recordings reuse ids or have none.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from turnkeeper.core.events import Usage

_NO_USAGE = Usage()


class FunctionCall(NamedTuple):
    """One call. ``args`` None: the recording does not tell, so it equals no other call."""

    name: str
    args: str | None


class FunctionResult(NamedTuple):
    """What the call at place ``call`` of a response was answered."""

    call: int
    digest: bytes
    is_error: bool = False


class Response(NamedTuple):
    """One response of the model, and the results of its calls. ``at_ns`` 0: the recording has no times."""

    calls: tuple[FunctionCall, ...] = ()
    results: tuple[FunctionResult, ...] = ()
    usage: Usage = Usage()
    asked_ns: int = 0
    told_ns: int = 0


Prompt = tuple[Response, ...]


class Run(NamedTuple):
    """One recorded run. ``where`` is file:line. ``success`` None: not told."""

    id: str
    where: str
    prompts: tuple[Prompt, ...]
    agent: str = ""
    model: str = ""
    success: bool | None = None


class FormatError(ValueError):
    """A document that is not what it looks like."""


def digest(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    """Digest a result; equal JSON has equal digests, whatever its order of keys."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else _encode(value)
    return blake2b(data, digest_size=16).digest()


def arguments(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return arguments as JSON text; a text is taken as it is."""
    return value if isinstance(value, str) else _encode(value).decode()


_encode = msgspec.json.Encoder(order="deterministic").encode


class Builder:
    """Builds the prompts of a run from messages in their order: users, responses, results."""

    def __init__(self) -> None:
        self._prompts: list[list[Response]] = []
        self._open: list[Response] = []
        self._places: dict[str, tuple[int, int]] = {}

    def user(self) -> None:
        """Begin a prompt."""
        self._close()

    def response(self, calls: Iterable[tuple[str, str, str | None]], usage: Usage = _NO_USAGE, at_ns: int = 0) -> None:
        """Add a response; each call is (id, name, arguments)."""
        made = list(calls)
        for index, (call_id, _, _) in enumerate(made):
            if call_id:
                self._places[call_id] = (len(self._open), index)
        told = tuple(FunctionCall(name, args) for _, name, args in made)
        self._open.append(Response(told, (), usage, at_ns, at_ns))

    def result(self, call_id: str, found: bytes, *, is_error: bool = False, name: str = "") -> None:
        """Add a result; without an id it answers the first call of that name that has none."""
        place = self._places.get(call_id) if call_id else self._unanswered(name)
        if place is None:
            return
        at, index = place
        answered = self._open[at]
        others = tuple(one for one in answered.results if one.call != index)
        self._open[at] = answered._replace(results=(*others, FunctionResult(index, found, is_error)))

    def _unanswered(self, name: str) -> tuple[int, int] | None:
        if not self._open:
            return None
        newest = self._open[-1]
        known = {one.call for one in newest.results}
        free = [index for index, call in enumerate(newest.calls) if index not in known and name in ("", call.name)]
        return (len(self._open) - 1, free[0]) if free else None

    def _close(self) -> None:
        if self._open:
            self._prompts.append(self._open)
        self._open, self._places = [], {}

    def prompts(self) -> tuple[Prompt, ...]:
        """Return what was built."""
        self._close()
        return tuple(tuple(prompt) for prompt in self._prompts)
