"""SDKs that ping are not cut off."""

import threading

import grpc
import pytest
from daemon_process import Daemon

from turnkeeper.v1 import turnkeeper_pb2 as pb

PING_MS = 12_000  # often enough for four pings in the time of this test; SDKs ping every 30 s
PINGS = 4


@pytest.mark.slow
def test_a_connection_that_pings_without_calls_stays(daemon: Daemon) -> None:
    options = (
        ("grpc.keepalive_time_ms", PING_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.use_local_subchannel_pool", 1),
    )
    states: list[grpc.ChannelConnectivity] = []
    with grpc.insecure_channel(daemon.address_tcp, options=options) as channel:
        channel.subscribe(states.append)
        call = channel.unary_unary("/turnkeeper.v1.TurnKeeper/BeforeModel")
        request = pb.BeforeModelRequest(request_id="pings").SerializeToString()
        call(request, timeout=5)
        lost = threading.Event()
        channel.subscribe(lambda state: lost.set() if state is grpc.ChannelConnectivity.IDLE and states else None)
        assert not lost.wait((PINGS * PING_MS + 2_000) / 1000)
        call(request, timeout=5)
    assert grpc.ChannelConnectivity.TRANSIENT_FAILURE not in states
