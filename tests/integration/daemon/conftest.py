"""One daemon for the tests of a module; those that kill it start their own."""

from collections.abc import Iterator

import pytest
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
