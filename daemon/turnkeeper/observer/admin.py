"""The admin HTTP: health, metrics and status, from what the observer knows.

Law: it reads and changes nothing. Every request is bounded: its size by the standard library, its time and the
number at once here.
"""

import logging
import socket
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from turnkeeper.observer.exposition import render
from turnkeeper.observer.points import Points

CONNECTIONS_MAX = 64  # probes, scrapers and a browser; each has a thread
READ_S = 5.0  # for each read of a request
CONNECTION_S = 10.0  # for all of it: one byte each 4 s keeps no thread
FIRST_SNAPSHOT_S = 2.0  # a scrape right after a restart waits for the counts

_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"
_INDEX = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Turnkeeper</title>
<h1>Turnkeeper</h1>
<ul>
<li><a href="/status">/status</a> what the daemon knows, as JSON
<li><a href="/metrics">/metrics</a> for Prometheus
<li><a href="/readyz">/readyz</a> whether it takes work
<li><a href="/livez">/livez</a> whether it is alive
</ul>
</html>
"""
_log = logging.getLogger(__name__)


class Response(NamedTuple):
    """What a path answers."""

    status: HTTPStatus
    content_type: str
    body: bytes


def answer(points: Points, path: str, accept: str) -> Response:
    """Return what GET answers for a path."""
    match path:
        case "/livez":
            return _health(points.not_live())
        case "/readyz":
            return _health(points.not_ready())
        case "/metrics":
            return _metrics(points, accept)
        case "/status":
            return _status(points)
        case "/":
            return Response(HTTPStatus.OK, "text/html; charset=utf-8", _INDEX.encode())
    return Response(HTTPStatus.NOT_FOUND, _TEXT, b"not found\n")


def _health(problem: str) -> Response:
    status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
    return Response(status, _TEXT, f"{problem or 'ok'}\n".encode())


def _status(points: Points) -> Response:
    status = points.status
    if status is None:
        return Response(HTTPStatus.SERVICE_UNAVAILABLE, _JSON, b'{"error": "starting"}')
    return Response(HTTPStatus.OK, _JSON, status.body.encode())


def _metrics(points: Points, accept: str) -> Response:
    view = points.read(FIRST_SNAPSHOT_S)
    if view is None:
        return Response(HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, b"no snapshot yet\n")
    body, content_type = render(view, accept)
    return Response(HTTPStatus.OK, content_type, body)


class AdminServer(ThreadingHTTPServer):
    """Serves an inherited listening socket, so that a restarted observer goes on where the last one ended."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, points: Points) -> None:
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.points = points
        self._opened: dict[socket.socket, float] = {}
        self._lock = threading.Lock()

    def start(self) -> None:
        """Serve in a thread of its own."""
        threading.Thread(target=self.serve_forever, name="admin", daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's signature
        """Take a connection, or close it when too many are open."""
        with self._lock:
            if len(self._opened) < CONNECTIONS_MAX:
                self._opened[request] = time.monotonic()
        if request in self._opened:
            super().process_request(request, client_address)
        else:
            super().shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - the base's signature
        """Forget a connection and close it."""
        with self._lock:
            self._opened.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """End connections that take too long; called twice a second."""
        with self._lock:
            late = [request for request, since in self._opened.items() if time.monotonic() - since > CONNECTION_S]
        for request in late:
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # its thread was faster

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - the base's signature
        """Stay silent: a client that goes away is no news."""
        _log.debug("admin request failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    timeout = READ_S
    server: AdminServer
    server_version = "turnkeeper"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a path."""
        path = self.path.partition("?")[0]
        self._send(answer(self.server.points, path, self.headers.get("Accept", "")))

    def do_HEAD(self) -> None:
        """Answer a path without its body."""
        self.do_GET()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer a request that is none, in plain text; a method other than GET and HEAD is not allowed."""
        status = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else HTTPStatus(code)
        self._send(Response(status, _TEXT, f"{status.phrase}\n".encode()))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.body)))
        self.send_header("Cache-Control", "no-store")
        if response.status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's signature
        """Log no requests: probes come each second."""
