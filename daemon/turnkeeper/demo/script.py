"""What a scripted model answers: a YAML or JSON file, read and checked.

``answers`` are given in order, one for each request; ``repeat`` gives one several times, or ``forever``. An answer
is ``text``, ``calls`` and a ``finish_reason``, or ``chunks`` of these, or an HTTP error (``status``). Under mode
NONE a script with ``obey_none`` gives ``none_answer`` instead. In texts and arguments ``{n}`` is the number of the
request.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_FOREVER = 2**63
_DEFAULT_NONE = {"text": "Here is what I found so far."}
_PART_KEYS = {"text", "calls", "finish_reason", "finish_message", "usage", "delay_s", "content"}
_ANSWER_KEYS = _PART_KEYS | {"chunks", "repeat", "status", "message"}
_SCRIPT_KEYS = {"obey_none", "none_answer", "answers"}
_USAGE = {
    "prompt": "promptTokenCount",
    "candidates": "candidatesTokenCount",
    "thoughts": "thoughtsTokenCount",
    "cached": "cachedContentTokenCount",
    "total": "totalTokenCount",
}


class ScriptError(Exception):
    """A script that cannot be used: where, and why."""


@dataclass(frozen=True)
class Chunk:
    """One chunk of an answer, or a whole one. ``finish_reason`` empty: none is sent."""

    text: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    finish_reason: str = ""
    finish_message: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    delay_s: float = 0.0
    content: bool = True

    def parts(self, number: int) -> list[dict[str, Any]]:
        """Return the parts, filled in for one request."""
        text = [{"text": _fill(self.text, number)}] if self.text else []
        return [*text, *({"functionCall": _fill(dict(call), number)} for call in self.calls)]


@dataclass(frozen=True)
class Answer:
    """One answer; an HTTP error if ``status`` is not 200."""

    chunks: tuple[Chunk, ...]
    repeat: int = 1
    status: int = 200
    message: str = ""


@dataclass(frozen=True)
class Script:
    """A whole script."""

    answers: tuple[Answer, ...]
    obey_none: bool
    none_answer: Answer

    def play(self) -> Iterator[Answer]:
        """Give the answers in order."""
        for answer in self.answers:
            for _ in range(answer.repeat):
                yield answer


def load(name: str) -> Script:
    """Read a script: a file, or the name of one that is shipped."""
    path = Path(name)
    if not path.is_file():
        shipped = resources.files(__package__) / "scripts" / f"{name}.yaml"
        if not shipped.is_file():
            message = f"{name}: no such file, and no shipped script (shipped: {', '.join(shipped_names())})"
            raise ScriptError(message)
        return parse(shipped.read_text("utf-8"), name)
    return parse(path.read_text("utf-8"), name)


def shipped_names() -> list[str]:
    """Return the names of the shipped scripts."""
    return sorted(entry.name.removesuffix(".yaml") for entry in (resources.files(__package__) / "scripts").iterdir())


def parse(text: str, name: str = "script") -> Script:
    """Read a script from YAML, or JSON, which is YAML."""
    try:
        loaded = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        message = f"{name}: {error}"
        raise ScriptError(message) from error
    told = _mapping(loaded, name, _SCRIPT_KEYS)
    answers = told.get("answers")
    if not isinstance(answers, list) or not answers:
        message = f"{name}.answers: {answers!r} is not allowed; allowed: a list of at least one answer"
        raise ScriptError(message)
    return Script(
        tuple(_answer(answer, f"{name}.answers[{index}]") for index, answer in enumerate(answers)),
        bool(told.get("obey_none", True)),
        _answer(told.get("none_answer", _DEFAULT_NONE), f"{name}.none_answer"),
    )


def _answer(loaded: object, where: str) -> Answer:
    told = _mapping(loaded, where, _ANSWER_KEYS)
    repeat = _FOREVER if told.get("repeat") == "forever" else told.get("repeat", 1)
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1:
        message = f"{where}.repeat: {repeat!r} is not allowed; allowed: 1 and more, or forever"
        raise ScriptError(message)
    told_chunks = told.get("chunks")
    if told_chunks is None:
        chunks = [_chunk({key: value for key, value in told.items() if key in _PART_KEYS}, where, last=True)]
    else:
        ends = any("finish_reason" in chunk for chunk in told_chunks)
        chunks = [
            _chunk(chunk, f"{where}.chunks[{index}]", last=not ends and index == len(told_chunks) - 1)
            for index, chunk in enumerate(told_chunks)
        ]
    return Answer(tuple(chunks), repeat, int(told.get("status", 200)), str(told.get("message", "scripted error")))


def _chunk(loaded: object, where: str, *, last: bool) -> Chunk:
    told = _mapping(loaded, where, _PART_KEYS)
    usage = _mapping(told.get("usage", {}), f"{where}.usage", set(_USAGE))
    return Chunk(
        str(told.get("text", "")),
        tuple(_mapping(call, f"{where}.calls", {"name", "args", "id"}) for call in told.get("calls", ())),
        str(told.get("finish_reason", "STOP" if last else "") or ""),
        str(told.get("finish_message", "")),
        {_USAGE[key]: int(value) for key, value in usage.items()},
        float(told.get("delay_s", 0)),
        bool(told.get("content", True)),
    )


def _mapping(loaded: object, where: str, keys: set[str]) -> Mapping[str, Any]:
    if not isinstance(loaded, Mapping) or not keys.issuperset(loaded):
        found = sorted(set(loaded) - keys) if isinstance(loaded, Mapping) else loaded
        message = f"{where}: {found!r} is not allowed; allowed: a mapping of {', '.join(sorted(keys))}"
        raise ScriptError(message)
    return loaded


def _fill(value: Any, number: int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value.replace("{n}", str(number))
    if isinstance(value, Mapping):
        return {key: _fill(inner, number) for key, inner in value.items()}
    return [_fill(inner, number) for inner in value] if isinstance(value, list) else value
