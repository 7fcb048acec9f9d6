"""Play a case on a target, step by step, at the times it gives."""

import json
from typing import NamedTuple, Protocol

from google.protobuf.json_format import MessageToDict

from turnkeeper.vectors.comparing import Answer, Difference, differences
from turnkeeper.vectors.conformance_pb2 import Case, Step

START_NS = 1_767_225_600 * 1_000_000_000  # a case begins on 2026-01-01


class Target(Protocol):
    """What a case is played on."""

    def send(self, sent: Step, now_ns: int) -> Answer | None:
        """Play one step; None: there is nothing to answer."""


class Failure(NamedTuple):
    """The first step that went otherwise than wanted; steps are counted from 1."""

    step: int
    sent: str
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        lines = [f"step {self.step}: {difference}" for difference in self.differences]
        return "\n".join([*lines, f"sent {self.sent}"])


def play(case: Case, target: Target) -> Failure | None:
    """Play a case up to the first step that fails; None: it passed."""
    now_ns = START_NS
    for number, step in enumerate(case.steps, 1):
        if step.HasField("at"):
            now_ns = START_NS + step.at.ToNanoseconds()
        found = differences(step.want, target.send(step, now_ns))
        if found:
            return Failure(number, _sent(step), tuple(found))
    return None


def _sent(step: Step) -> str:
    told = MessageToDict(step, preserving_proto_field_name=True)
    return json.dumps({key: value for key, value in told.items() if key != "want"})
