"""The daemon under test: its server, decider, store and policies in this process, reached over real gRPC.

Only the clock is ours, and what is told ends in a list: no observer is started.
"""

import asyncio
from pathlib import Path

import grpc
from google.protobuf.message import Message

from turnkeeper.facts.meters import Meters
from turnkeeper.facts.records import FactRecord
from turnkeeper.policies import PolicyFile
from turnkeeper.server.account import Account
from turnkeeper.server.decider import Decider
from turnkeeper.server.front import Front
from turnkeeper.server.inspection import Inspection
from turnkeeper.server.telling import Teller
from turnkeeper.server.watch import Watchers
from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.vectors import Status
from turnkeeper.vectors.conformance_pb2 import Step

IDS_MAX = 1000
KEY = b"conformance-key-of-32-bytes-long"
TIMEOUT_S = 10
_METHODS: dict[str, tuple[str, type[Message]]] = {
    "before_model": ("BeforeModel", pb.BeforeModelResponse),
    "after_model": ("AfterModel", pb.AfterModelResponse),
    "end_request": ("EndRequest", pb.EndRequestResponse),
}


class Told:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.records: list[FactRecord] = []

    def take_seq(self) -> int:
        """Return the next sequence number."""
        return len(self.records) + 1

    def offer(self, record: FactRecord) -> None:
        """Keep a record."""
        self.records.append(record)


class DaemonTarget:
    """One daemon on a Unix socket in ``folder``, and one client of it."""

    def __init__(self, policies: str, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._now_ns = 0
        self._policies: Path | None = None
        if policies:
            self._policies = folder / "policies.yaml"
            self._policies.write_text(policies, encoding="utf-8")
        self._address = f"unix:{folder / 'sock'}"
        self.told = Told()
        self._start()

    def send(self, sent: Step, now_ns: int) -> Message | Status | None:
        """Play one step."""
        self._now_ns = now_ns
        kind = sent.WhichOneof("send")
        if kind == "lose_state":
            self.close()
            self._start()
            return None
        return self._loop.run_until_complete(self._call(kind, getattr(sent, kind)))

    def close(self) -> None:
        """Stop."""
        self._loop.run_until_complete(self._stop())

    def _start(self) -> None:
        self._loop.run_until_complete(self._begin())

    async def _begin(self) -> None:
        meters, watchers = Meters(), Watchers()
        teller = Teller(self.told, None, watchers)
        policies = PolicyFile(self._policies)
        decider = Decider(policies, IDS_MAX, Account(meters, teller, self._clock), self._clock, KEY)
        inspection = Inspection(decider.store, policies, watchers, pb.GetStatusResponse)
        self._front = Front(decider, inspection, teller, meters)
        self._front.server.add_insecure_port(self._address)
        await self._front.start()
        self._channel = grpc.aio.insecure_channel(self._address, options=[("grpc.use_local_subchannel_pool", 1)])

    async def _stop(self) -> None:
        await self._channel.close(None)
        await self._front.stop(0)

    async def _call(self, kind: str, request: Message) -> Message | Status:
        method, response = _METHODS[kind]
        call = self._channel.unary_unary(
            f"/turnkeeper.v1.TurnKeeper/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response.FromString,
        )
        try:
            answer: Message = await call(request, timeout=TIMEOUT_S, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            return Status(error.code().name, error.details() or "")
        return answer

    def _clock(self) -> int:
        return self._now_ns
