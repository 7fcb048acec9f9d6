"""Every vector, played by a daemon over gRPC, at the times it gives."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import cases
from daemon_target import DaemonTarget

from turnkeeper.vectors import play, policies_of
from turnkeeper.vectors.conformance_pb2 import Case


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio.new_event_loop()
    yield running
    running.close()


@pytest.mark.parametrize(("path", "case"), cases())
def test_daemon(path: Path, case: Case, tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    target = DaemonTarget(policies_of(path, case), tmp_path, loop)
    try:
        failure = play(case, target)
    finally:
        target.close()
    assert failure is None, f"{case.doc}\n{failure}"
