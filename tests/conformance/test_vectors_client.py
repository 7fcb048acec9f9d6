"""Every vector, played through the Python client, at the times it gives."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import cases
from client_target import ClientTarget

from turnkeeper.vectors import play, policies_of
from turnkeeper.vectors.conformance_pb2 import Case


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio.new_event_loop()
    yield running
    running.close()


@pytest.mark.parametrize(("path", "case"), cases())
def test_client(path: Path, case: Case, tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    heard = Case.FromString(case.SerializeToString())
    for step in heard.steps:
        if step.want.WhichOneof("answer") == "status":
            del step.want.status.message_contains[:]
    target = ClientTarget(policies_of(path, case), tmp_path, loop)
    try:
        failure = play(heard, target)
    finally:
        target.close()
    assert failure is None, f"{case.doc}\n{failure}"
