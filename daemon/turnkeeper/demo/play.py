"""The demo: a scripted agent loops, guarded by a real daemon.

First against a model that calls a function whenever it may: ten turns run, the eleventh model call is sent with
mode NONE, and the model answers. Then against one that calls functions under NONE too: the call is rejected, and
the function is not run.
"""

import json
import time
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console

from turnkeeper.demo.model import FakeModel
from turnkeeper.demo.script import load
from turnkeeper_client import (
    BeforeModelAnswer,
    Caller,
    FinishReason,
    FunctionCall,
    Loop,
    Mode,
    Seen,
    ToolLoopRejected,
    TurnKeeper,
    Usage,
)

MODEL = "scripted"
TOOL = "get_weather"
DEADLINE_MS = 2000  # it is watched, not measured: a busy machine must not turn it into a fallback
PAUSE_S = 0.3
LOOPS = (
    ("demo", "A model that calls a function on every turn, in mode ANY"),
    ("stubborn", "The same model, but it ignores NONE"),
)
_DECLARATION = {
    "name": TOOL,
    "description": "Return the weather.",
    "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}, "day": {"type": "STRING"}}},
}
Event = Mapping[str, Any]
Tell = Callable[[Event], None]


class UnreachableError(Exception):
    """The daemon did not decide."""


@dataclass(frozen=True)
class Reply:
    """What the scripted model answered, as far as the agent needs it."""

    content: Mapping[str, Any]
    calls: tuple[FunctionCall, ...]
    text: str
    seen: Seen


def play(address: str, out: TextIO, *, speed: float = 1.0, as_json: bool = False) -> None:
    """Play both loops against a daemon; ``speed`` 0 does not pause."""
    tell = _json_teller(out) if as_json else _plain_teller(out)
    with TurnKeeper(address=address, deadline_ms=DEADLINE_MS, fallback="closed") as keeper:
        for script, title in LOOPS:
            request_id = f"demo-{script}-{uuid.uuid4().hex[:8]}"
            tell({"event": "loop", "title": title, "request_id": request_id})
            with FakeModel(load(script)) as model:
                agent = Agent(model.url, tell, PAUSE_S / speed if speed else 0.0)
                agent.run(keeper.loop(request_id, caller=Caller("demo", "weather-agent", "gcp.gemini", MODEL)))


class Agent:
    """A hand-written loop, as an application has one. The guard is asked before and after each model call."""

    def __init__(self, url: str, tell: Tell, pause_s: float) -> None:
        self._url, self._tell, self._pause_s = url, tell, pause_s
        prompt = {"role": "user", "parts": [{"text": "How is the weather in Paris?"}]}
        self._contents: list[Mapping[str, Any]] = [prompt]
        self._run = 0

    def run(self, loop: Loop) -> None:
        """Loop until the model answers, or Turnkeeper ends it."""
        try:
            with loop:
                while self._turn(loop):
                    time.sleep(self._pause_s)
        except ToolLoopRejected as rejected:
            if rejected.decision.fallback_code is not None:
                raise UnreachableError(rejected.message) from rejected
            counters = rejected.counters
            self._tell(
                {
                    "event": "rejected",
                    "reason": rejected.reason.name,
                    "message": rejected.message,
                    "turns": counters.turns,
                    "functions_run": self._run,
                }
            )

    def _turn(self, loop: Loop) -> bool:
        """Make one model call, and run what it asks for. False when the loop is over."""
        before = loop.model_call(mode=Mode.ANY, enabled_tools=[TOOL])
        if before.mode != Mode.ANY:
            self._tell(_switched(before))
        reply = self._ask(Mode(before.mode))
        checked = loop.response(reply.seen, reply)
        if not checked.calls:
            told = {"model_call": before.model_call, "text": reply.text, "functions_run": self._run}
            self._tell({"event": "answer", **told})
            return False
        answers = [self._function(loop, call) for call in checked.run]
        answers += [_answer(call.name, text) for call, text in checked.not_run]
        self._contents += [reply.content, {"role": "user", "parts": answers}]
        counters = before.counters
        self._tell(
            {
                "event": "turn",
                "model_call": before.model_call,
                "mode": Mode(before.mode).name,
                "turn": loop.turns,
                "limit": counters.limit,
                "call": f"{reply.calls[0].name}({reply.calls[0].args_json})",
            }
        )
        return True

    def _function(self, loop: Loop, call: FunctionCall) -> Mapping[str, Any]:
        self._run += 1
        loop.result(call, "sunny")
        return _answer(call.name, "sunny")

    def _ask(self, mode: Mode) -> Reply:
        body = {
            "contents": self._contents,
            "tools": [{"functionDeclarations": [_DECLARATION]}],
            "toolConfig": {"functionCallingConfig": {"mode": mode.name}},
        }
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self._url}/v1beta/models/{MODEL}:generateContent",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
            return _reply(json.load(response))


def _reply(response: Mapping[str, Any]) -> Reply:
    content = response["candidates"][0]["content"]
    asked = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    calls = tuple(FunctionCall("", call["name"], json.dumps(call["args"])) for call in asked)
    text = "".join(part.get("text", "") for part in content["parts"])
    told = response["usageMetadata"]
    usage = Usage(told["promptTokenCount"], told["candidatesTokenCount"], told["totalTokenCount"])
    return Reply(content, calls, text, Seen(calls, FinishReason.STOP, "STOP", usage, bool(text)))


def _answer(name: str, text: str) -> Mapping[str, Any]:
    return {"functionResponse": {"name": name, "response": {"result": text}}}


def _switched(answer: BeforeModelAnswer) -> Event:
    return {
        "event": "mode_switch",
        "model_call": answer.model_call,
        "from": Mode.ANY.name,
        "to": Mode(answer.mode).name,
        "reason": answer.reason.name,
        "message": answer.message,
    }


def _json_teller(out: TextIO) -> Tell:
    def tell(event: Event) -> None:
        out.write(json.dumps(event) + "\n")
        out.flush()

    return tell


def _plain_teller(out: TextIO) -> Tell:
    console = Console(file=out, highlight=False, soft_wrap=True)

    def tell(event: Event) -> None:
        console.print(_LINES[event["event"]].format_map({key: _escaped(value) for key, value in event.items()}))
        out.flush()

    return tell


def _escaped(value: object) -> object:
    return value.replace("[", r"\[") if isinstance(value, str) else value


_LINES = {
    "loop": "\n[bold]{title}[/]  [dim]{request_id}[/]",
    "turn": "  model call {model_call:>2}  [green]{mode:<4}[/]  turn {turn:>2} of {limit}  {call}",
    "mode_switch": "  model call {model_call:>2}  [yellow]{from} -> {to}[/]  {reason}: {message}",
    "answer": "  model call {model_call:>2}  [bold green]answer[/]  {text}  [dim]({functions_run} functions run)[/]",
    "rejected": "  [bold red]rejected[/]  {reason}: {message}; the call was not run  "
    "[dim]({functions_run} functions run)[/]",
}
