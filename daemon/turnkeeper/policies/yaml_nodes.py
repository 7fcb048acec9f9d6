"""YAML with places: text to a tree whose every key and value knows its line and column.

Law: a file is YAML 1.2 *core* and one document of maps with text keys. ``off`` and ``yes`` are words, ``010`` is ten,
a key given twice is a mistake, ``<<`` is a key like any other. What is read is bounded before it is kept: size, depth,
and the number of values with each alias counted as what it stands for.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.reader import ReaderError

BYTES_MAX = 1_048_576  # a Kubernetes ConfigMap holds no more
DEPTH_MAX = 32  # what is configured here is at most 6 deep; the parser slows down with the square of it
VALUES_MAX = 20_000  # hundreds of policies, read in less than a second; an alias counts as what it stands for
LINE_MAX = 65_536  # characters; the parser slows down with the square of some long words
SAID_MAX = 200  # characters of what the parser says
SHOWN_MAX = 60  # characters of a value in a message

Scalar = str | int | float | bool | None
Plain = Scalar | list["Plain"] | dict[str, "Plain"]
Path = Sequence[str | int]

_STR, _SEQ, _MAP = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], int | float]], ...] = (
    (re.compile(r"[-+]?[0-9]{1,400}"), int),  # a longer one is a float: Python reads no more than 4300 digits
    (re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+"), lambda text: int(text, 0)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), lambda text: float(text.replace(".", ""))),
)


class Problem(NamedTuple):
    """One thing that is wrong in a file, and where."""

    file: str
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        """Return one line, as compilers write it."""
        return f"{self.file}:{self.line}:{self.column}: {self.text}"


class Mark(NamedTuple):
    """A place in a file, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place. ``text`` is a scalar as it is written, ``size`` the number of values it stands for."""

    mark: Mark
    value: "Scalar | list[Node] | dict[str, Entry]"
    text: str = ""
    size: int = 1


class Entry(NamedTuple):
    """The value of a key, and the place of the key."""

    mark: Mark
    node: Node


class YamlError(Exception):
    """Everything that is wrong with a text as YAML. ``root`` is what could be read all the same, or None."""

    def __init__(self, problems: list[Problem], root: Node | None = None) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))
        self.root = root


def compose(text: str | bytes, file: str) -> Node:
    """Return the tree of a text; an empty one is a null. Raises ``YamlError``."""
    composer = _Composer(_decode(text, file), file)
    root = composer.document()
    if composer.problems:
        raise YamlError(composer.problems, root)
    return root


def plain(node: Node) -> Plain:
    """Return a tree as plain values."""
    if isinstance(node.value, dict):
        return {key: plain(entry.node) for key, entry in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


def find(root: Node, path: Path) -> Node:
    """Return the value at a path of keys and indexes."""
    node = root
    for step in path:
        held = cast("list[Node] | dict[str, Entry]", node.value)
        node = held[str(step)].node if isinstance(held, dict) else held[int(step)]
    return node


def position(root: Node, path: Path) -> Mark:
    """Return where the key at the end of a path is written; of an item in a list, where the item begins."""
    if not path:
        return root.mark
    parent = find(root, path[:-1]).value
    return parent[str(path[-1])].mark if isinstance(parent, dict) else find(root, path).mark


def shown(node: Node) -> str:
    """Return a value as a message tells it: short, and on one line."""
    if isinstance(node.value, dict):
        return _short("{" + ", ".join(repr(key)[1:-1] for key in node.value) + "}")
    if isinstance(node.value, list):
        return f"a list of {len(node.value)}"
    if node.value is None:
        return "nothing"
    return quoted(node.value) if isinstance(node.value, str) else _short(node.text)


def quoted(text: str) -> str:
    """Return a text in quotes, short, and on one line."""
    return repr(_short(text))


def resolve(text: str) -> Scalar:
    """Return what a plain scalar means in the YAML 1.2 core schema."""
    if text in _WORDS:
        return _WORDS[text]
    return next((read(text) for form, read in _NUMBERS if form.fullmatch(text)), text)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"


def _one_line(text: str) -> str:
    """Return a text in which names from the file cannot break or reorder the line."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _decode(text: str | bytes, file: str) -> str:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > BYTES_MAX:
        raise YamlError([Problem(file, 1, 1, f"too large, allowed: {BYTES_MAX} bytes")])
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place(data[: error.start].decode("utf-8", "replace"))
        wrong = f"byte 0x{data[error.start]:02x}, allowed: UTF-8 text"
        raise YamlError([Problem(file, *place, wrong)]) from None
    for number, line in enumerate(decoded.split("\n"), 1):
        if len(line) > LINE_MAX:
            raise YamlError([Problem(file, number, 1, f"a line of {len(line)} characters, allowed: {LINE_MAX}")])
    return decoded


def _place(before: str) -> Mark:
    """Return the place that follows a text."""
    return Mark(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _start(event: Event) -> Mark:
    return Mark(event.start_mark.line + 1, event.start_mark.column + 1)


class _Composer:
    """Events of the parser to nodes. Problems are collected; a syntax error or a bound ends it."""

    def __init__(self, text: str, file: str) -> None:
        self.problems: list[Problem] = []
        self._text = text
        self._file = file
        self._anchors: dict[str, Node] = {}
        self._open_anchors: set[str] = set()
        self._values = 0
        self._mark = Mark(1, 1)
        self._events: Iterator[Event] = YAML(pure=True, typ="safe").parse(text)

    def document(self) -> Node:
        """Return the root of the only document."""
        self._next()
        event = self._next()
        if isinstance(event, StreamEndEvent):
            return Node(Mark(1, 1), None)
        if isinstance(event, DocumentStartEvent) and event.version not in (None, (1, 2)):
            self._tell(Mark(1, 1), f"%YAML {'.'.join(map(str, event.version))}, allowed: 1.2")
        root = self._node(self._next(), 0)
        event = self._next()
        while isinstance(event, DocumentEndEvent):
            event = self._next()
        if not isinstance(event, StreamEndEvent):
            self._stop(_start(event), "a second document, allowed: one document in a file")
        return root

    def _next(self) -> Event:
        try:
            event = next(self._events)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = Mark(mark.line + 1, mark.column + 1) if mark else self._mark
            said = ", ".join(part for part in (error.context, error.problem) if part)
            self._stop(place, f"not YAML: {' '.join(said.split())[:SAID_MAX]}")
        except ReaderError as error:
            place = _place(self._text[: error.position])
            self._stop(place, f"character {self._text[error.position]!a}, allowed: printable text")
        except Exception as error:  # noqa: BLE001 - odd directives and escapes end in Python's own errors there
            self._stop(self._mark, f"not YAML after this: {str(error)[:SAID_MAX]}")
        self._mark = _start(event)
        return event

    def _node(self, event: Event, depth: int) -> Node:
        if isinstance(event, AliasEvent):
            return self._count(self._alias(event), _start(event))
        return self._anchored(cast("ScalarEvent | CollectionStartEvent", event), depth)

    def _anchored(self, event: ScalarEvent | CollectionStartEvent, depth: int) -> Node:
        mark = _start(event)
        if depth > DEPTH_MAX:
            self._stop(mark, f"nested too deep, allowed: {DEPTH_MAX} levels")
        if event.anchor:
            self._open_anchors.add(event.anchor)
        if isinstance(event, ScalarEvent):
            node = self._scalar(event, mark)
        elif isinstance(event, SequenceStartEvent):
            node = self._sequence(event, mark, depth)
        else:
            node = self._mapping(event, mark, depth)
        if event.anchor:
            self._open_anchors.discard(event.anchor)
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: AliasEvent) -> Node:
        mark = _start(event)
        if event.anchor in self._open_anchors:
            self._stop(mark, f"*{_short(event.anchor)}, stands inside of what it stands for")
        if event.anchor not in self._anchors:
            self._stop(mark, f"*{_short(event.anchor)}, allowed: an alias of an anchor (&name) above")
        return self._anchors[event.anchor]

    def _count(self, node: Node, mark: Mark) -> Node:
        self._values += node.size
        if self._values > VALUES_MAX:
            self._stop(mark, f"too many values, allowed: {VALUES_MAX}, an alias counts as what it stands for")
        return node

    def _scalar(self, event: ScalarEvent, mark: Mark) -> Node:
        self._check_tag(event, mark, _STR)
        text = event.value
        whole = text.encode("utf-8", "replace").decode()
        if whole != text:
            self._tell(mark, f"{quoted(text)}, allowed: whole characters, no halves of a surrogate pair")
        is_text = event.style is not None or event.tag is not None
        return self._count(Node(mark, whole if is_text else resolve(whole), whole), mark)

    def _sequence(self, event: SequenceStartEvent, mark: Mark, depth: int) -> Node:
        self._check_tag(event, mark, _SEQ)
        self._count(Node(mark, None), mark)
        items: list[Node] = []
        while not isinstance(item := self._next(), SequenceEndEvent):
            items.append(self._node(item, depth + 1))
        return Node(mark, items, size=1 + sum(item.size for item in items))

    def _mapping(self, event: CollectionStartEvent, mark: Mark, depth: int) -> Node:
        self._check_tag(event, mark, _MAP)
        self._count(Node(mark, None), mark)
        entries: dict[str, Entry] = {}
        while not isinstance(item := self._next(), MappingEndEvent):
            place = _start(item)
            key = self._node(item, depth + 1)
            node = self._node(self._next(), depth + 1)
            if not isinstance(key.value, str):
                self._tell(place, f"key {shown(key)}, allowed: a text (in quotes, if it looks like something else)")
            elif key.value in entries:
                self._tell(place, f"key {quoted(key.value)}, given twice: first in line {entries[key.value].mark.line}")
            else:
                entries[key.value] = Entry(place, node if node.text or node.value is not None else Node(place, None))
        return Node(mark, dict(entries), size=1 + sum(entry.node.size + 1 for entry in entries.values()))

    def _check_tag(self, event: ScalarEvent | CollectionStartEvent, mark: Mark, allowed: str) -> None:
        if event.tag not in (None, "!", allowed):
            self._tell(mark, f"tag {quoted(event.tag)}, allowed: none")

    def _tell(self, mark: Mark, text: str) -> None:
        self.problems.append(Problem(self._file, *mark, _one_line(text)))

    def _stop(self, mark: Mark, text: str) -> NoReturn:
        self._tell(mark, text)
        raise YamlError(self.problems)
