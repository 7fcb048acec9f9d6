"""Bad input: a status that names the field, the value and the limit; no traceback, no state."""

import random
import socket
from collections.abc import Callable

import grpc
import pytest
from daemon_process import Daemon
from wire_client import Wire

from turnkeeper.v1 import turnkeeper_pb2 as pb


def refusal(call: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as refused:
        call()
    error = refused.value
    return error.code(), error.details()  # type: ignore[attr-defined]


BAD_FIELDS = [
    ("BeforeModel", pb.BeforeModelRequest(), ["request_id", "blank"]),
    ("BeforeModel", pb.BeforeModelRequest(request_id="  \t"), ["request_id", "blank"]),
    ("BeforeModel", pb.BeforeModelRequest(request_id="x" * 300), ["request_id", "300", "256"]),
    ("BeforeModel", pb.BeforeModelRequest(request_id="é" * 129), ["request_id", "258", "256"]),
    ("AfterModel", pb.AfterModelRequest(request_id="x" * 257), ["request_id", "257", "256"]),
    ("EndRequest", pb.EndRequestRequest(request_id="x" * 257), ["request_id", "257", "256"]),
    ("BeforeModel", pb.BeforeModelRequest(request_id="a", tenant="t" * 257), ["tenant", "257", "256"]),
    ("BeforeModel", pb.BeforeModelRequest(request_id="a", policy="p" * 257), ["policy", "257", "256"]),
    ("BeforeModel", pb.BeforeModelRequest(request_id="a", parent_request_id="a"), ["parent_request_id", "own id"]),
    ("BeforeModel", pb.BeforeModelRequest(request_id="a", caller=pb.Caller(agent="g" * 257)), ["caller.agent", "257"]),
    (
        "BeforeModel",
        pb.BeforeModelRequest(request_id="a", enabled_tools=pb.ToolNames(names=["t"] * 513)),
        ["enabled_tools.names", "513", "512"],
    ),
    (
        "BeforeModel",
        pb.BeforeModelRequest(request_id="a", enabled_tools=pb.ToolNames(names=["ok", "n" * 257])),
        ["enabled_tools.names[1]", "257"],
    ),
    (
        "BeforeModel",
        pb.BeforeModelRequest(request_id="a", results=[pb.FunctionResult(digest=b"d" * 65)]),
        ["results[0].digest", "65", "64"],
    ),
    (
        "AfterModel",
        pb.AfterModelRequest(request_id="a", calls=[pb.FunctionCall(name="n" * 257)]),
        ["calls[0].name", "257", "256"],
    ),
    ("AfterModel", pb.AfterModelRequest(request_id="a", calls=[pb.FunctionCall()] * 257), ["calls", "257", "256"]),
    ("AfterModel", pb.AfterModelRequest(request_id="a", fallbacks=[pb.Fallback()] * 33), ["fallbacks", "33", "32"]),
]


@pytest.mark.parametrize(("method", "message", "words"), BAD_FIELDS)
def test_a_bad_field_is_named_with_its_value_and_limit(
    wire: Wire, method: str, message: pb.BeforeModelRequest, words: list[str]
) -> None:
    code, details = refusal(lambda: wire.raw(method, message.SerializeToString()))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert all(word in details for word in words), details


def test_an_unknown_policy_is_told_with_the_names_there_are(wire: Wire) -> None:
    code, details = refusal(lambda: wire.before("unknown-policy", 1, policy="nope"))
    assert code is grpc.StatusCode.NOT_FOUND
    assert "nope" in details
    assert "default" in details


def test_text_that_is_not_utf8_names_the_message(wire: Wire) -> None:
    code, details = refusal(lambda: wire.raw("BeforeModel", b"\x0a\x04\xff\xfe\xfd\xfc"))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "BeforeModelRequest" in details


def test_two_megabytes_are_refused(wire: Wire) -> None:
    request = pb.AfterModelRequest(request_id="big", calls=[pb.FunctionCall(name="f", args_json="x" * 2_000_000)])
    code, _ = refusal(lambda: wire.raw("AfterModel", request.SerializeToString()))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_one_megabyte_of_arguments_is_taken(wire: Wire) -> None:
    request = pb.AfterModelRequest(request_id="big-ok", calls=[pb.FunctionCall(name="f", args_json="x" * 2**20)])
    wire.raw("AfterModel", request.SerializeToString())
    assert wire.get("big-ok").summary.counters.function_calls == 1


def test_too_much_metadata_is_refused(wire: Wire) -> None:
    code, _ = refusal(lambda: wire.before("meta", 1, metadata=(("x-big", "y" * 20_000),)))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_an_unknown_method_is_unimplemented(wire: Wire) -> None:
    code, _ = refusal(lambda: wire.raw("Nothing", b""))
    assert code is grpc.StatusCode.UNIMPLEMENTED


def test_random_bytes_as_messages_get_a_status(wire: Wire) -> None:
    chaos = random.Random(7)
    for length in range(300):
        method = ("BeforeModel", "AfterModel", "EndRequest")[length % 3]
        try:
            wire.raw(method, chaos.randbytes(length))
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.INVALID_ARGUMENT  # type: ignore[attr-defined]  # noqa: PT017


def test_random_bytes_on_the_port_close_the_connection(daemon: Daemon, wire: Wire) -> None:
    host, port = daemon.address_tcp.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=10) as opened:
        opened.settimeout(10)
        opened.sendall(random.Random(9).randbytes(4096))
        try:
            while opened.recv(65536):
                pass
        except ConnectionResetError:
            pass
    assert wire.before("after-noise", 1).decision.verdict == pb.VERDICT_ALLOW


def test_a_bad_traceparent_is_ignored(wire: Wire) -> None:
    for bad in ("", "00-zz", "00-" + "0" * 32 + "-" + "1" * 16 + "-01", "ff-" + "1" * 32 + "-" + "1" * 16 + "-01"):
        assert wire.before("trace", 0, metadata=(("traceparent", bad),)).decision.verdict == pb.VERDICT_ALLOW


def test_garbage_left_no_state_and_no_traceback(daemon: Daemon, wire: Wire) -> None:
    for request_id in ("a", "big", "unknown-policy", "meta"):
        code, _ = refusal(lambda: wire.get(request_id))  # noqa: B023
        assert code is grpc.StatusCode.NOT_FOUND
    log = daemon.stderr()
    assert "Traceback" not in log
    assert "internal error" not in log
