"""A scripted model behind a real HTTP server that speaks as Gemini does.

``POST /v1beta/models/NAME:generateContent`` and ``:streamGenerateContent?alt=sse`` answer from the script.
``GET /requests`` tells what was asked so far, ``GET /requests/N`` the whole body of one request.
"""

import json
import re
import threading
import time
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from turnkeeper.demo.script import Answer, Chunk, Script

BODY_MAX = 64 * 1024 * 1024
REQUESTS_KEPT = 10_000
_PATH = re.compile(r"/v\w+/(?P<model>.+):(?P<method>generateContent|streamGenerateContent)(\?.*)?$")


class FakeModel:
    """The server, and what it was asked. Use it as a context manager, or ``start`` and ``stop`` it."""

    def __init__(self, script: Script, host: str = "127.0.0.1", port: int = 0) -> None:
        self._script = script
        self._answers = script.play()
        self._lock = threading.Lock()
        self._asked: deque[dict[str, Any]] = deque(maxlen=REQUESTS_KEPT)
        self._bodies: deque[Mapping[str, Any]] = deque(maxlen=REQUESTS_KEPT)
        self._count = 0
        self._server = ThreadingHTTPServer((host, port), type("Handler", (_Handler,), {"model": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL to give an SDK."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What was asked, oldest first."""
        with self._lock:
            return list(self._asked)

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        """The bodies of the requests, oldest first."""
        with self._lock:
            return list(self._bodies)

    def start(self) -> None:
        """Serve in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, model: str, body: Mapping[str, Any], *, stream: bool) -> tuple[int, Answer | None]:
        """Record one request and choose its answer; None when the script is over."""
        calling = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
        with self._lock:
            self._count += 1
            forced = self._script.obey_none and calling.get("mode") == "NONE"
            answer = self._script.none_answer if forced else next(self._answers, None)
            self._bodies.append(body)
            self._asked.append(
                {
                    "n": self._count,
                    "model": model,
                    "stream": stream,
                    "mode": calling.get("mode"),
                    "allowed_function_names": calling.get("allowedFunctionNames", []),
                    "declarations": _declared(body),
                    "contents": len(body.get("contents") or ()),
                }
            )
            return self._count, answer


def _declared(body: Mapping[str, Any]) -> list[str]:
    tools = body.get("tools") or ()
    return [function["name"] for tool in tools for function in tool.get("functionDeclarations") or ()]


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    model: FakeModel
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes

    def log_message(self, *_: object) -> None:
        """Say nothing: what was asked can be read at /requests."""

    def do_GET(self) -> None:
        """Tell what was asked."""
        asked: Any = None
        if self.path == "/requests":
            asked = self.model.requests
        elif (found := re.fullmatch(r"/requests/(\d+)", self.path)) and 0 < int(found[1]) <= len(self.model.bodies):
            asked = self.model.bodies[int(found[1]) - 1]
        if asked is None:
            self._send(404, _error(404, f"{self.path}: no such page"))
        else:
            self._send(200, asked)

    def do_POST(self) -> None:
        """Answer as the script says."""
        size = int(self.headers.get("Content-Length") or 0)
        found = _PATH.match(self.path)
        if found is None or size > BODY_MAX:
            self.close_connection = True
            self._send(404 if found is None else 413, _error(404 if found is None else 413, self.path))
            return
        stream = found["method"] == "streamGenerateContent"
        number, answer = self.model.ask(found["model"], json.loads(self.rfile.read(size) or b"{}"), stream=stream)
        if answer is None:
            self._send(500, _error(500, "the script has no more answers"))
        elif answer.status != 200:  # noqa: PLR2004 - HTTP OK
            time.sleep(answer.chunks[0].delay_s)
            self._send(answer.status, _error(answer.status, answer.message))
        elif stream:
            self._stream(answer, number)
        else:
            time.sleep(sum(chunk.delay_s for chunk in answer.chunks))
            self._send(200, _whole(answer, number))

    def _send(self, status: int, value: Any) -> None:  # noqa: ANN401 - JSON
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, answer: Answer, number: int) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for chunk in answer.chunks:
                time.sleep(chunk.delay_s)
                data = json.dumps(_response(chunk, chunk.parts(number), number))
                self.wfile.write(f"data: {data}\r\n\r\n".encode())
                self.wfile.flush()
        except OSError:
            return  # the caller has left


def _whole(answer: Answer, number: int) -> dict[str, Any]:
    """Put the chunks of an answer together."""
    parts = [part for chunk in answer.chunks for part in chunk.parts(number)]
    last = answer.chunks[-1]
    usage = next((chunk.usage for chunk in reversed(answer.chunks) if chunk.usage), {})
    ends = next((chunk for chunk in reversed(answer.chunks) if chunk.finish_reason), last)
    content = any(chunk.content for chunk in answer.chunks)
    return _response(Chunk("", (), ends.finish_reason, ends.finish_message, usage, content=content), parts, number)


def _response(chunk: Chunk, parts: list[dict[str, Any]], number: int) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0}
    if chunk.content:
        candidate["content"] = {"role": "model", "parts": parts}
    if chunk.finish_reason:
        candidate["finishReason"] = chunk.finish_reason
    if chunk.finish_message:
        candidate["finishMessage"] = chunk.finish_message
    response: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": "scripted",
        "responseId": f"scripted-{number}",
    }
    if chunk.usage:
        total = chunk.usage.get("promptTokenCount", 0) + chunk.usage.get("candidatesTokenCount", 0)
        response["usageMetadata"] = {"totalTokenCount": total, **chunk.usage}
    return response


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": "SCRIPTED"}}
