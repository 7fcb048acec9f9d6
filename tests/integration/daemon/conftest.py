"""One daemon for the tests of a module; those that kill it start their own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

from daemon_process import Daemon
from wire_client import Wire


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon.running(tmp_path_factory.mktemp("daemon")) as running:
        yield running


@pytest.fixture
def wire(daemon: Daemon) -> Iterator[Wire]:
    with Wire(daemon.address_unix) as opened:
        yield opened
