"""Every vector, played by a daemon over gRPC, at the times it gives."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance_pb2 import Case
from daemon_target import DaemonTarget
from playing import cases, play
from suites import policies_of


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio.new_event_loop()
    yield running
    running.close()


@pytest.mark.parametrize(("path", "case"), list(cases()))
def test_daemon(path: Path, case: Case, tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    target = DaemonTarget(policies_of(path, case), tmp_path, loop)
    try:
        assert play(case, target) == []
    finally:
        target.close()
