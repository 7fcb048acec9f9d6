"""The admin HTTP, over real sockets."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Iterator

import pytest
from observer_feed import fetch, until

from turnkeeper.facts.records import Snapshot, Status
from turnkeeper.observer import admin, points
from turnkeeper.observer.admin import AdminServer
from turnkeeper.observer.points import Points

READY = Status(1, ready=True, reason="", body='{"version": "1"}')


@pytest.fixture
def known() -> Points:
    known = Points()
    known.apply(Snapshot(0, complete=True, counters={}, gauges={}, histograms={}))
    known.take_status(READY)
    return known


@pytest.fixture
def url(known: Points) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = AdminServer(listener, known)
        server.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.shutdown()


def test_paths(url: str) -> None:
    assert fetch(url + "/livez") == (200, "ok\n")
    assert fetch(url + "/readyz?verbose") == (200, "ok\n")
    assert fetch(url + "/metrics")[0] == 200
    assert json.loads(fetch(url + "/status")[1]) == {"version": "1"}
    assert 'href="/metrics"' in fetch(url + "/")[1]
    assert fetch(url + "/nothing") == (404, "not found\n")


def test_head_has_no_body_and_other_methods_are_not_allowed(url: str) -> None:
    assert fetch(url + "/metrics", "HEAD") == (200, "")
    for method in ("POST", "DELETE", "BREW"):
        assert fetch(url + "/metrics", method) == (405, "Method Not Allowed\n")


def test_not_ready_says_why(url: str, known: Points) -> None:
    known.take_status(Status(1, ready=False, reason="draining", body="{}"))
    assert fetch(url + "/readyz") == (503, "draining\n")
    assert fetch(url + "/livez") == (200, "ok\n")


def test_a_silent_deciding_process_is_neither_ready_nor_live(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "STALE_S", -1.0)
    for path in ("/readyz", "/livez"):
        status, text = fetch(url + path)
        assert status == 503
        assert "no status from the deciding process" in text


def test_before_the_first_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "FIRST_SNAPSHOT_S", 0.0)
    known = Points()
    assert admin.answer(known, "/readyz", "").body == b"starting\n"
    assert admin.answer(known, "/metrics", "").status == 503
    assert admin.answer(known, "/status", "").status == 503
    known.apply(Snapshot(0, complete=False, counters={}, gauges={}, histograms={}))
    assert admin.answer(known, "/metrics", "").status == 503, "counts are shown when all are known"


def test_garbage_is_answered_or_closed(url: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    for garbage in (b"\x00\xff\x16\x03\x01\r\n\r\n", b"GET " + b"x" * 70_000 + b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(garbage)
            with contextlib.suppress(ConnectionError):
                while connection.recv(4096):
                    pass
    assert fetch(url + "/livez") == (200, "ok\n")


def test_connections_at_once_are_bounded_and_slow_ones_are_ended(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "CONNECTIONS_MAX", 2)
    host, port = url.removeprefix("http://").split(":")
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection((host, int(port)), timeout=10)) for _ in range(2)]
        for connection in slow:
            connection.sendall(b"GET /livez HTTP/1.1\r\n")
        third = stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
        assert third.recv(1) == b"", "closed at once"
        monkeypatch.setattr(admin, "CONNECTION_S", 0.0)
        for connection in slow:
            with contextlib.suppress(ConnectionError):
                assert connection.recv(1) == b""
    monkeypatch.setattr(admin, "CONNECTION_S", 10.0)

    def answered() -> bool:
        with contextlib.suppress(OSError):
            return fetch(url + "/livez") == (200, "ok\n")
        return False

    asyncio.run(until(answered))
