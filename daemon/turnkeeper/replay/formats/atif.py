"""Harbor's Agent Trajectory Interchange Format (ATIF): one document a run, ``schema_version`` ``ATIF-v1.x``.

A step of an agent is a response, with its calls, the results in its observation, and its metrics; a step of a user
begins a prompt.
"""

from datetime import datetime
from typing import Any

import msgspec

from turnkeeper.core.events import Usage
from turnkeeper.replay.runs import Builder, Run, arguments, digest


class _Call(msgspec.Struct):
    tool_call_id: str
    function_name: str
    arguments: Any = None


class _Result(msgspec.Struct):
    source_call_id: str | None = None
    content: Any = None


class _Observation(msgspec.Struct):
    results: list[_Result] = []


class _Metrics(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


class _Step(msgspec.Struct):
    source: str
    timestamp: datetime | None = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None
    metrics: _Metrics | None = None


class _Agent(msgspec.Struct):
    name: str = ""
    model_name: str | None = None


class _Trajectory(msgspec.Struct):
    schema_version: str
    steps: list[_Step]
    session_id: str | None = None
    agent: _Agent | None = None
    success: bool | None = None


_decode = msgspec.json.Decoder(_Trajectory).decode


def read(data: bytes, where: str) -> list[Run]:
    """Return the run of one document."""
    told = _decode(data)
    built = Builder()
    for step in told.steps:
        if step.source == "user":
            built.user()
        elif step.source == "agent":
            _take(built, step)
    agent = told.agent or _Agent()
    return [Run(told.session_id or "", where, built.prompts(), agent.name, agent.model_name or "", told.success)]


def _take(built: Builder, step: _Step) -> None:
    calls = [(call.tool_call_id, call.function_name, arguments(call.arguments)) for call in step.tool_calls or ()]
    metrics = step.metrics or _Metrics()
    usage = Usage(
        metrics.prompt_tokens or 0,
        metrics.completion_tokens or 0,
        cost_micro_usd=round((metrics.cost_usd or 0) * 1_000_000),
    )
    at_ns = 0 if step.timestamp is None else round(step.timestamp.timestamp() * 1_000_000_000)
    built.response(calls, usage, at_ns)
    for result in step.observation.results if step.observation else ():
        built.result(result.source_call_id or "", digest(result.content))
