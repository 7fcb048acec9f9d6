"""An answer beside the one that is wanted."""

from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.vectors import Difference, Status
from turnkeeper.vectors.comparing import differences
from turnkeeper.vectors.conformance_pb2 import Want

ANSWER = pb.AfterModelResponse(
    decision=pb.Decision(
        verdict=pb.VERDICT_REJECT, message="no", enforced=True, counters=pb.Counters(turns=3, cost_micro_usd=2**40)
    ),
    calls=[pb.CallVerdict(call_id="a", run=True), pb.CallVerdict(call_id="b", reason=pb.REASON_TURN_LIMIT)],
)
BEFORE = pb.BeforeModelResponse(declare_tools=["x", "y"], mode=pb.MODE_ANY)


def told(want: dict[str, Any], answer: Any) -> list[str]:
    return [str(difference) for difference in differences(ParseDict(want, Want()), answer)]


@pytest.mark.parametrize(
    ("want", "found"),
    [
        ({}, []),
        ({"after_model": {}}, []),
        ({"after_model": {"decision": {"verdict": "VERDICT_REJECT", "counters": {"turns": 3}}}}, []),
        (
            {"after_model": {"decision": {"verdict": "VERDICT_ALLOW", "message": "yes", "counters": {"turns": 4}}}},
            [
                "decision.verdict: wanted VERDICT_ALLOW, got VERDICT_REJECT",
                'decision.message: wanted "yes", got "no"',
                "decision.counters.turns: wanted 4, got 3",
            ],
        ),
        ({"after_model": {"calls": [{}, {}]}}, []),
        (
            {"after_model": {"calls": [{"run": True}, {"call_id": "c", "run": True}]}},
            ['calls[1].call_id: wanted "c", got "b"', "calls[1].run: wanted true, got false"],
        ),
        (
            {"after_model": {"calls": [{}]}},
            [
                ('calls: wanted 1 entries, got 2: [{"call_id": "a", "run": true},'
                ' {"call_id": "b", "reason": "REASON_TURN_LIMIT"}]')
            ],
        ),
        ({"zero": ["decision.disposition", "decision.counters.tokens"]}, []),
        ({"zero": ["calls.run"]}, ["calls.run: wanted its default, got true"]),
        ({"zero": ["decision.counters"]}, ['decision.counters: wanted its default, got {"turns": 3, "cost_micro_usd": "1099511627776"}']),
        ({"filled": ["decision.message", "decision.counters", "calls", "calls.call_id"]}, []),
        ({"filled": ["calls.run"]}, ["calls.run: wanted another value than its default, got its default"]),
        ({"filled": ["decision.warnings.message"]}, ["decision.warnings.message: wanted another value than its default, got nothing"]),
        ({"before_model": {}}, ["wanted BeforeModelResponse, got AfterModelResponse"]),
    ],
)  # fmt: skip
def test_an_answer(want: dict[str, Any], found: list[str]) -> None:
    assert told(want, ANSWER) == found


def test_lists_of_words() -> None:
    assert told({"before_model": {"declare_tools": ["x", "y"]}}, BEFORE) == []
    assert told({"before_model": {"declare_tools": ["x", "z"]}}, BEFORE) == ['declare_tools[1]: wanted "z", got "y"']
    assert told({"before_model": {"declare_tools": ["x"]}}, BEFORE) == [
        'declare_tools: wanted 1 entries, got 2: ["x", "y"]'
    ]
    assert told({"zero": ["declare_tools"]}, BEFORE) == ['declare_tools: wanted its default, got ["x", "y"]']


def test_statuses() -> None:
    refused = Status("NOT_FOUND", "no such policy")
    assert told({"status": {"code": "NOT_FOUND", "message_contains": ["such", "policy"]}}, refused) == []
    assert told({"status": {"code": "INTERNAL", "message_contains": ["id"]}}, refused) == [
        "wanted status INTERNAL, got status NOT_FOUND: no such policy",
        'status.message: wanted it to contain "id", got status NOT_FOUND: no such policy',
    ]
    assert told({}, refused) == ["wanted an answer, got status NOT_FOUND: no such policy"]
    assert told({"before_model": {}}, refused) == ["wanted before_model, got status NOT_FOUND: no such policy"]
    assert told({"status": {"code": "NOT_FOUND"}}, BEFORE) == [
        'wanted status NOT_FOUND, got {"mode": "MODE_ANY", "declare_tools": ["x", "y"]}'
    ]


def test_nothing_was_answered() -> None:
    assert told({}, None) == []
    assert differences(ParseDict({"before_model": {}}, Want()), None) == [Difference("", "before_model", "nothing")]
