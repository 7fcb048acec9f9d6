"""Messages as JSON values."""

from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.wire.plain import plain


def test_numbers_are_numbers_and_nothing_is_left_out() -> None:
    status = pb.GetStatusResponse(live_requests=2**40, observer=pb.ObserverStatus(restarts=3))
    status.policies.add(name="default")
    told = plain(status)
    assert told["live_requests"] == 2**40
    assert told["observer"] == {
        "running": False,
        "restarts": 3,
        "facts_offered": 0,
        "facts_dropped": 0,
        "export_failures": 0,
    }
    assert told["policies"] == [{"name": "default", "version": "", "enforcement": ""}]
    assert told["draining"] is False


def test_numbers_deep_in_lists_are_numbers_too() -> None:
    record = pb.DecisionRecord(decision=pb.Decision(counters=pb.Counters(tokens=5)))
    told = plain(pb.GetRequestResponse(timeline=[record]))
    assert told["timeline"][0]["decision"]["counters"]["tokens"] == 5
