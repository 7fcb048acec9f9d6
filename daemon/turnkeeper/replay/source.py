"""Files to documents, in constant memory.

Law: a line is a document, however many there are; what is not one is told with file:line and passed over. A file
that is one JSON document over several lines, as programs write for people to read, is taken whole up to
``WHOLE_BYTES_MAX``. Compressed files are recognised by their first bytes.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from turnkeeper.replay import formats
from turnkeeper.replay.runs import FormatError, Run

WHOLE_BYTES_MAX = 64 * 1024 * 1024
LINE_BYTES_MAX = WHOLE_BYTES_MAX
_GZIP = b"\x1f\x8b"


class Document(NamedTuple):
    """A document that is complete by itself, not decoded yet."""

    format: str
    data: bytes
    where: str


class Bad(NamedTuple):
    """What could not be read. ``where`` is file:line."""

    where: str
    message: str


Item = Document | Run | Bad
Advance = Callable[[int], None]


def read(path: Path, advance: Advance) -> Iterator[Item]:
    """Yield what a file holds; ``advance`` is told of bytes read. Raises ``OSError``."""
    gatherers = {name: make() for name, make in formats.GATHERERS.items()}
    for where, data in _documents(path, advance):
        if isinstance(data, Bad):
            yield data
            continue
        try:
            name = formats.detect(data)
            if name in gatherers:
                yield from formats.gather(gatherers[name], data, where)
            else:
                yield Document(name, data, where)
        except FormatError as error:
            yield Bad(where, str(error))
    for gatherer in gatherers.values():
        yield from gatherer.close()


def _documents(path: Path, advance: Advance) -> Iterator[tuple[str, bytes | Bad]]:
    with path.open("rb") as raw:
        told = 0

        def tell() -> None:
            nonlocal told
            position = raw.tell()
            advance(position - told)
            told = position

        compressed = raw.read(2) == _GZIP
        raw.seek(0)
        lines = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if compressed else raw
        try:
            for each in _lines(lines, str(path)):
                tell()
                yield each
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            yield str(path), Bad(str(path), f"damaged gzip: {error}")
        tell()


def _lines(lines: BinaryIO, file: str) -> Iterator[tuple[str, bytes | Bad]]:
    number = 0
    while line := lines.readline(LINE_BYTES_MAX + 1):
        number += 1
        where = f"{file}:{number}"
        if len(line) > LINE_BYTES_MAX:
            yield where, Bad(where, f"longer than {LINE_BYTES_MAX} bytes")
            _skip_line(lines, line)
        elif not line.strip():
            continue
        elif number == 1 and _opens_only(line):
            rest = lines.read(WHOLE_BYTES_MAX)
            whole = line + rest
            over = Bad(where, f"one document of more than {WHOLE_BYTES_MAX} bytes")
            yield where, over if len(rest) == WHOLE_BYTES_MAX else whole
            return
        else:
            yield where, line


def _skip_line(lines: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = lines.readline(LINE_BYTES_MAX)


def _opens_only(line: bytes) -> bool:
    """Whether a first line begins a document that ends on a later one."""
    return line.strip() in (b"{", b"[")
