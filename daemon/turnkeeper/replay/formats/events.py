"""The contract's own events as JSON, one a line: ``{"before_model": {...}}``, ``{"after_model": {...}}``,
``{"end_request": {...}}``, each with an optional ``at`` in seconds.

Names are those of the contract. Events of many requests may be mixed; a run is told when its request ends, at the end
of the input, or when more than ``OPEN_MAX`` are open.
"""  # noqa: D205 - the first sentence names three forms

from collections import OrderedDict
from collections.abc import Iterator

import msgspec

from turnkeeper.core.events import Usage
from turnkeeper.replay.runs import FunctionCall, FunctionResult, Response, Run, digest

OPEN_MAX = 4096
RESPONSES_MAX = 10_000  # of one request id; a longer one is told in parts


class _Caller(msgspec.Struct):
    agent: str = ""
    model: str = ""


class _Call(msgspec.Struct):
    name: str
    id: str = ""
    args_json: str | None = None


class _Result(msgspec.Struct):
    call_id: str
    digest: str = ""
    is_error: bool = False


class _Usage(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost_micro_usd: int = 0


class _Event(msgspec.Struct):
    request_id: str
    tenant: str = ""
    model_call: int = 0
    attempt: int = 0
    caller: _Caller | None = None
    calls: list[_Call] = []
    results: list[_Result] = []
    usage: _Usage | None = None


class _Line(msgspec.Struct):
    before_model: _Event | None = None
    after_model: _Event | None = None
    end_request: _Event | None = None
    at: float = 0


class _Told(msgspec.Struct):
    """One response as it is gathered from its chunks."""

    model_call: int
    attempt: int
    asked_ns: int
    told_ns: int = 0
    answered: bool = False
    calls: dict[str, _Call] = {}
    results: dict[str, _Result] = {}
    usage: Usage = Usage()


class _Request:
    def __init__(self, where: str) -> None:
        self.where = where
        self.caller = _Caller()
        self.told: list[_Told] = []

    def ask(self, event: _Event, at_ns: int) -> None:
        for result in event.results:
            for told in reversed(self.told):
                if result.call_id in told.calls:
                    told.results[result.call_id] = result
                    break
        if not self._replaced(event):
            self.told.append(_Told(event.model_call, event.attempt, at_ns))

    def tell(self, event: _Event, at_ns: int) -> None:
        newest = self.told[-1] if self.told else None
        if newest is None or (event.model_call and newest.model_call != event.model_call):
            newest = _Told(event.model_call, event.attempt, at_ns)
            self.told.append(newest)
        newest.told_ns, newest.answered = at_ns, True
        for call in event.calls:
            newest.calls.setdefault(call.id or f"#{len(newest.calls)}", call)
        if event.usage is not None:
            used = event.usage
            newest.usage = Usage(used.input_tokens, used.output_tokens, used.total_tokens, used.cost_micro_usd)

    def _replaced(self, event: _Event) -> bool:
        """Let a higher attempt of the newest model call take its place."""
        if not self.told or not event.model_call or self.told[-1].model_call != event.model_call:
            return False
        if event.attempt > self.told[-1].attempt:
            self.told[-1] = _Told(event.model_call, event.attempt, self.told[-1].asked_ns)
        return True


_decode = msgspec.json.Decoder(_Line).decode


class Gatherer:
    """Gathers events into runs."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], _Request] = OrderedDict()

    def add(self, data: bytes, where: str) -> Iterator[Run]:
        """Take one line; yield the runs that are over with it."""
        line = _decode(data)
        event = line.before_model or line.after_model or line.end_request
        if event is None:
            return
        key = (event.tenant, event.request_id)
        request = self._open.setdefault(key, _Request(where))
        self._open.move_to_end(key)
        request.caller = event.caller or request.caller
        at_ns = round(line.at * 1_000_000_000)
        if line.before_model is not None:
            request.ask(event, at_ns)
        elif line.after_model is not None:
            request.tell(event, at_ns)
        if line.end_request is not None or len(request.told) >= RESPONSES_MAX:
            yield _run(key[1], self._open.pop(key))
        elif len(self._open) > OPEN_MAX:
            (_, oldest), gone = self._open.popitem(last=False)
            yield _run(oldest, gone)

    def close(self) -> Iterator[Run]:
        """Yield the runs that are still open."""
        while self._open:
            (_, name), request = self._open.popitem(last=False)
            yield _run(name, request)


def _run(name: str, request: _Request) -> Run:
    prompt = tuple(_response(told) for told in request.told if told.answered)
    return Run(name, request.where, (prompt,) if prompt else (), request.caller.agent, request.caller.model)


def _response(told: _Told) -> Response:
    places = {call_id: index for index, call_id in enumerate(told.calls)}
    calls = tuple(FunctionCall(call.name, call.args_json) for call in told.calls.values())
    results = tuple(
        FunctionResult(places[call_id], digest(result.digest), result.is_error)
        for call_id, result in told.results.items()
    )
    return Response(calls, results, told.usage, told.asked_ns, told.told_ns)
