"""Scripted model servers for real SDKs: a model that calls a function in every response, with new arguments each time.

Call ``look(n, i)``: ``n`` is the number of the model request, ``i`` that of the call in the response. Two things end it: a
request that declares no functions is answered in text, since nothing could be called, and so is every request
after ``cut`` of them: a loop that gets there has no limit.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self

from turnkeeper.demo.model import FakeModel
from turnkeeper.demo.script import parse

FINAL_TEXT = "It is done."
LEADING_TEXT = "Let me look."
SHAPES = ("calls", "split", "text_first")


@dataclass(frozen=True)
class Answers:
    """How the model answers: ``split`` has one call to a chunk, ``text_first`` a chunk of text before the calls."""

    parallel: int
    cut: int
    shape: str = "calls"


class Server(Protocol):
    """What a measurement needs of a server."""

    @property
    def url(self) -> str:
        """Tell the base URL, without a path."""

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Tell what was asked."""

    def __enter__(self) -> Self:
        """Serve."""

    def __exit__(self, *_: object) -> None:
        """Stop serving."""


def gemini(answers: Answers) -> FakeModel:
    """Speak as Gemini does."""
    calls = [{"name": "look", "args": {"n": "{n}", "i": str(i)}} for i in range(answers.parallel)]
    chunks: list[dict[str, Any]] = [{"calls": calls}]
    if answers.shape == "split":
        chunks = [{"calls": [call]} for call in calls]
    elif answers.shape == "text_first":
        chunks.insert(0, {"text": LEADING_TEXT})
    script = {
        "obey_none": False,
        "answers": [{"chunks": chunks, "repeat": answers.cut}, {"text": FINAL_TEXT, "repeat": "forever"}],
    }
    return FakeModel(parse(json.dumps(script)))


class OpenAIChat:
    """Speaks as OpenAI's chat completions do."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self._asked: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_ChatHandler,), {"chat": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._asked)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def ask(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Record one request and give the deltas of its answer; the last one has the finish reason."""
        tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
        with self._lock:
            number = len(self._asked) + 1
            self._asked.append({"n": number, "declarations": tools})
        return self._deltas(number) if tools and number <= self._answers.cut else iter([{"content": FINAL_TEXT}])

    def _deltas(self, number: int) -> Iterator[dict[str, Any]]:
        calls = [_chat_call(number, i) for i in range(self._answers.parallel)]
        if self._answers.shape == "text_first":
            yield {"content": LEADING_TEXT}
        if self._answers.shape == "split":
            yield from ({"tool_calls": [call]} for call in calls)
        else:
            yield {"tool_calls": calls}


def _chat_call(number: int, i: int) -> dict[str, Any]:
    function = {"name": "look", "arguments": json.dumps({"n": str(number), "i": str(i)})}
    return {"index": i, "id": f"call_{number}_{i}", "type": "function", "function": function}


class _ChatHandler(BaseHTTPRequestHandler):
    """One connection."""

    chat: OpenAIChat
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one segment for an answer, or each waits for an acknowledgement

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        deltas = list(self.chat.ask(body))
        finish = "tool_calls" if any("tool_calls" in delta for delta in deltas) else "stop"
        if body.get("stream"):
            choices = [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None} for delta in deltas]
            events = [_completion("chat.completion.chunk", choice) for choice in choices]
            events.append(_completion("chat.completion.chunk", {"index": 0, "delta": {}, "finish_reason": finish}))
            lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
            self._send("text/event-stream", "".join(lines))
        else:
            message: dict[str, Any] = {"role": "assistant", "content": None}
            for delta in deltas:
                message["content"] = delta.get("content", message["content"])
                message.setdefault("tool_calls", []).extend(_whole(call) for call in delta.get("tool_calls", ()))
            choice = {"index": 0, "message": {k: v for k, v in message.items() if v != []}, "finish_reason": finish}
            self._send("application/json", json.dumps(_completion("chat.completion", choice)))

    def _send(self, content_type: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _whole(call: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in call.items() if key != "index"}


def _completion(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "scripted", "object": kind, "created": 0, "model": "scripted", "choices": [choice], "usage": usage}
