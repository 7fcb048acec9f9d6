"""Turnkeeper's own runs, one a line; the published trajectories have the same form.

``{"id", "agent", "model", "success", "prompts": [{"turns": [{"calls": [{"name", "args", "id"}], "results":
[{"call", "digest" or "text", "error"}], "tokens", "cost_usd", "at"}]}]}``: ``args`` is JSON text or JSON, ``call``
the index or the id of a call of the same turn, ``at`` seconds. All but ``prompts``, ``turns`` and ``name`` may be
missing; other keys are passed over.
"""

from typing import Any

import msgspec

from turnkeeper.core.events import Usage
from turnkeeper.replay.runs import FunctionCall, FunctionResult, Prompt, Response, Run, arguments, digest


class _Call(msgspec.Struct, gc=False):
    name: str
    args: Any = None
    id: str | None = None


class _Result(msgspec.Struct, gc=False):
    call: int | str = 0
    digest: str | None = None
    text: str | None = None
    error: bool | None = None


class _Turn(msgspec.Struct, gc=False):
    calls: list[_Call] = []
    results: list[_Result] = []
    tokens: int | None = None
    cost_usd: float | None = None
    at: float | None = None


class _Prompt(msgspec.Struct, gc=False):
    turns: list[_Turn]


class _Run(msgspec.Struct, gc=False):
    prompts: list[_Prompt]
    id: str = ""
    agent: str | None = None
    model: str | None = None
    success: bool | None = None


_decode = msgspec.json.Decoder(_Run).decode


def read(data: bytes, where: str) -> list[Run]:
    """Return the run of one line."""
    run = _decode(data)
    prompts = tuple(_prompt(prompt.turns) for prompt in run.prompts)
    return [Run(run.id, where, prompts, run.agent or "", run.model or "", run.success)]


def _prompt(turns: list[_Turn]) -> Prompt:
    return tuple([_response(turn) for turn in turns])


def _response(turn: _Turn) -> Response:
    calls = tuple(
        [FunctionCall(c.name, c.args if isinstance(c.args, str | None) else arguments(c.args)) for c in turn.calls]
    )
    results = tuple([_result(result, turn.calls) for result in turn.results]) if turn.results else ()
    usage = Usage(total_tokens=turn.tokens or 0, cost_micro_usd=round((turn.cost_usd or 0) * 1_000_000))
    at_ns = round((turn.at or 0) * 1_000_000_000)
    return Response(calls, results, usage, at_ns, at_ns)


def _result(result: _Result, calls: list[_Call]) -> FunctionResult:
    index = result.call
    if isinstance(index, str):
        index = next((place for place, call in enumerate(calls) if call.id == index), -1)
    found = result.digest.encode() if result.digest is not None else digest(result.text or "")
    return FunctionResult(index, found, bool(result.error))
