"""Both clients behind one face, so that one test holds for both."""

import asyncio
import contextvars
from collections.abc import Iterator
from typing import Any

import pytest

from turnkeeper_client import AfterModelAnswer, AsyncTurnKeeper, BeforeModelAnswer, Counters, TurnKeeper


class Both:
    """A client, called from plain code; the async one runs on an event loop of its own."""

    def __init__(self, kind: str, **options: Any) -> None:
        self._runner = asyncio.Runner() if kind == "async" else None
        self.keeper: Any = TurnKeeper(**options) if kind == "sync" else AsyncTurnKeeper(**options)

    def before_model(self, request_id: str, **told: Any) -> BeforeModelAnswer:
        answer: BeforeModelAnswer = self._do("before_model", request_id, **told)
        return answer

    def after_model(self, request_id: str, **told: Any) -> AfterModelAnswer:
        answer: AfterModelAnswer = self._do("after_model", request_id, **told)
        return answer

    def end_request(self, request_id: str, **told: Any) -> Counters:
        answer: Counters = self._do("end_request", request_id, **told)
        return answer

    def close(self) -> None:
        self._do("close")
        if self._runner:
            self._runner.close()

    def _do(self, name: str, *args: Any, **told: Any) -> Any:
        if self._runner is None:
            return getattr(self.keeper, name)(*args, **told)
        return self._runner.run(getattr(self.keeper, name)(*args, **told), context=contextvars.copy_context())


class Clients:
    """Makes clients of one kind, and closes them."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._made: list[Both] = []

    def __call__(self, address: str, *, deadline_ms: float = 2000, **options: Any) -> Both:
        client = Both(self._kind, address=address, deadline_ms=deadline_ms, **options)
        self._made.append(client)
        return client

    def close(self) -> None:
        for client in self._made:
            client.close()


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    """Return a maker of clients, sync and async."""
    for name in ("ADDRESS", "DEADLINE_MS", "FALLBACK", "POLICY", "TOKEN_FILE", "DISABLED"):
        monkeypatch.delenv(f"TURNKEEPER_{name}", raising=False)
    clients = Clients(request.param)
    yield clients
    clients.close()
