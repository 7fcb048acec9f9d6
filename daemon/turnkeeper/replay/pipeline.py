"""Documents to played runs, in this process or in several.

Law: what comes out is in the order of the input, and at most a few batches are under way, so memory does not grow
with the input. Formats that are complete in a line are decoded where they are played.
"""

import gc
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from turnkeeper import policies
from turnkeeper.policies import PolicySet
from turnkeeper.replay import formats
from turnkeeper.replay.player import Played, play
from turnkeeper.replay.runs import FormatError, Run
from turnkeeper.replay.source import Advance, Bad, Document, Item, read

_BATCH_ITEMS = 64
_BATCH_BYTES = 1024 * 1024
_AHEAD = 3  # batches under way for each process


class Under(NamedTuple):
    """Under which policies runs are played: files (None: the built-in ones), and the name of one policy or none."""

    files: tuple[Path | None, ...]
    named: str = ""


Out = Played | Bad


def played(inputs: Iterable[Path], under: Under, jobs: int, advance: Advance) -> Iterator[Out]:
    """Yield every run of the inputs, played, and every line that could not be read."""
    items = chain.from_iterable(_items(path, advance) for path in inputs)
    if jobs == 1:
        sets = _load(under)
        _settle()
        for item in items:
            yield from _play(item, sets, under.named)
        return
    yield from _by_processes(items, under, jobs)


def _items(path: Path, advance: Advance) -> Iterator[Item]:
    try:
        yield from read(path, advance)
    except OSError as error:
        yield Bad(str(path), f"cannot be read: {error.strerror}")


def _load(under: Under) -> tuple[PolicySet, ...]:
    return tuple(policies.load(file) for file in under.files)


def _settle() -> None:
    """Keep the collector away from what stays; runs hold no circles, so it finds nothing among them either."""
    gc.freeze()
    gc.set_threshold(50_000)


def _play(item: Item, sets: tuple[PolicySet, ...], named: str) -> Iterator[Out]:
    if isinstance(item, Bad):
        yield item
    elif isinstance(item, Run):
        yield play(item, sets, named)
    else:
        try:
            runs = formats.read(item.format, item.data, item.where)
        except FormatError as error:
            yield Bad(item.where, str(error))
            return
        for run in runs:
            yield play(run, sets, named)


def _by_processes(items: Iterator[Item], under: Under, jobs: int) -> Iterator[Out]:
    waiting: deque[Future[list[Out]]] = deque()
    spawn = get_context("spawn")  # a fork would copy the thread that draws the progress
    with ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_begin, initargs=(under,)) as pool:
        for batch in _batches(items):
            waiting.append(pool.submit(_work, batch))
            if len(waiting) >= jobs * _AHEAD:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


def _batches(items: Iterator[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.data) if isinstance(item, Document) else 0
        if len(batch) >= _BATCH_ITEMS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Worker:
    """What a process of the pool has for all its batches."""

    sets: tuple[PolicySet, ...] = ()
    named = ""


def _begin(under: Under) -> None:
    _Worker.sets, _Worker.named = _load(under), under.named
    _settle()


def _work(batch: list[Item]) -> list[Out]:
    return [out for item in batch for out in _play(item, _Worker.sets, _Worker.named)]
