from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from turnkeeper.policies import load
from turnkeeper.replay import formats
from turnkeeper.replay.player import Played, play
from turnkeeper.replay.runs import Run
from turnkeeper.replay.source import Bad, Document, Item, read

DATA = Path(__file__).parents[2] / "data" / "replay"


@pytest.fixture
def data() -> Path:
    return DATA


def decoded(items: Iterable[Item]) -> list[Run | Bad]:
    found: list[Run | Bad] = []
    for item in items:
        found += formats.read(*item) if isinstance(item, Document) else [item]
    return found


@pytest.fixture
def runs() -> Callable[[Path], list[Run]]:
    """Read the runs of a file that has nothing wrong with it."""

    def of(path: Path) -> list[Run]:
        found = decoded(read(path, lambda _: None))
        assert not [each for each in found if isinstance(each, Bad)]
        return [each for each in found if isinstance(each, Run)]

    return of


@pytest.fixture
def played(runs: Callable[[Path], list[Run]]) -> Callable[[Path], list[Played]]:
    """Play the runs of a file under the detectors of ``stops.yaml``."""
    return lambda path: [play(run, (load(DATA / "stops.yaml"),)) for run in runs(path)]
