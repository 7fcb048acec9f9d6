"""A real daemon, a scripted model behind a real HTTP server, and the real SDK between them."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from daemon_process import Daemon
from google import genai
from google.genai import types
from google.protobuf.json_format import MessageToDict

from turnkeeper.demo.model import FakeModel
from turnkeeper.demo.script import load, parse
from turnkeeper_client import TurnKeeper
from turnkeeper_client._gen import turnkeeper_pb2 as pb
from turnkeeper_client.google_genai import GuardedClient, guard

DEADLINE_MS = 5000  # a busy machine must not turn a test of decisions into one of fallbacks
POLICIES = """\
policies:
  default:
    limits: [{unit: turns, n: 10, before: {then: force_none}, after: {then: reject}, disposition: raise}]
  three:
    limits: [{unit: turns, n: 3, before: {then: force_none}, after: {then: reject}, disposition: raise}]
  returning:
    limits: [{unit: turns, n: 3, after: {then: reject}, disposition: return}]
  returning-before:
    limits: [{unit: turns, n: 3, before: {then: reject}, disposition: return}]
  once:
    limits: [{unit: function_calls, tool: get_weather, n: 2, after: {then: force_none}}]
  removing:
    limits: [{unit: turns, n: 1, before: {then: remove_tools}, after: {then: reject}}]
"""


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    directory = tmp_path_factory.mktemp("genai")
    policies = directory / "policies.yaml"
    policies.write_text(POLICIES)
    with Daemon.running(directory, "--policies", str(policies)) as running:
        yield running


@pytest.fixture
def keeper(daemon: Daemon) -> Iterator[TurnKeeper]:
    with TurnKeeper(address=daemon.address_unix, deadline_ms=DEADLINE_MS) as client:
        yield client


class Model:
    """The scripted model, and clients of it."""

    def __init__(self, keeper: TurnKeeper) -> None:
        self._keeper = keeper
        self._server: FakeModel | None = None

    def play(self, script: str | dict[str, Any]) -> None:
        """Serve a shipped script by name, or one that is given."""
        self.stop()
        self._server = FakeModel(load(script) if isinstance(script, str) else parse(json.dumps(script)))
        self._server.start()

    def guarded(self, **under: Any) -> GuardedClient:
        """Return the real SDK's client, guarded."""
        assert self._server is not None
        options = types.HttpOptions(base_url=self._server.url, timeout=20_000)
        return guard(genai.Client(api_key="none", http_options=options), self._keeper, agent="weather", **under)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What the model was asked, read over HTTP as anyone can."""
        assert self._server is not None
        with urllib.request.urlopen(f"{self._server.url}/requests", timeout=10) as response:
            return list(json.load(response))

    @property
    def modes(self) -> list[str | None]:
        return [request["mode"] for request in self.requests]

    def body(self, number: int) -> dict[str, Any]:
        assert self._server is not None
        return dict(self._server.bodies[number - 1])

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None


@pytest.fixture
def model(keeper: TurnKeeper) -> Iterator[Model]:
    scripted = Model(keeper)
    yield scripted
    scripted.stop()


class Tools:
    """The application's functions, and how often each was run."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []

    def config(self, mode: str = "ANY", **more: Any) -> types.GenerateContentConfig:
        """Return a config that declares the function as a Python one: the SDK's automatic function calling."""
        runs = self.runs

        def get_weather(city: str, day: str) -> str:
            """Return the weather of a city on a day."""
            runs.append({"city": city, "day": day})
            return f"sunny on day {day}"

        return types.GenerateContentConfig(tools=[get_weather], tool_config=calling(mode), **more)


def calling(mode: str) -> types.ToolConfig | None:
    config = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode(mode)) if mode else None
    return types.ToolConfig(function_calling_config=config) if config else None


@pytest.fixture
def tools() -> Tools:
    return Tools()


@pytest.fixture
def state(daemon: Daemon) -> Callable[[str], dict[str, Any]]:
    """Return what the daemon knows of a request id, over its own API."""

    def ask(request_id: str) -> dict[str, Any]:
        with grpc.insecure_channel(daemon.address_tcp) as channel:
            call = channel.unary_unary(
                "/turnkeeper.v1.Inspection/GetRequest",
                request_serializer=pb.GetRequestRequest.SerializeToString,
                response_deserializer=pb.GetRequestResponse.FromString,
            )
            told = MessageToDict(call(pb.GetRequestRequest(request_id=request_id), timeout=10))
            return dict(told["summary"])

    return ask
