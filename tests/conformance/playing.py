"""Play a case on a target, step by step, at the times it gives."""

from collections.abc import Iterator
from typing import Protocol

import pytest
from conformance_pb2 import Case, Step
from google.protobuf.json_format import MessageToJson
from suites import Answer, differences, suites

START_NS = 1_767_225_600 * 1_000_000_000  # a case begins on 2026-01-01


class Target(Protocol):
    """What a case is played on."""

    def send(self, sent: Step, now_ns: int) -> Answer | None:
        """Play one step; None: there is nothing to answer."""


def cases() -> Iterator[object]:
    """Yield every case of every suite as a pytest parameter (file, case)."""
    for path, suite in suites():
        for case in suite.cases:
            yield pytest.param(path, case, id=f"{suite.name}/{case.name}")


def play(case: Case, target: Target) -> list[str]:
    """Return what went otherwise than wanted, up to the first step that did."""
    now_ns = START_NS
    for number, step in enumerate(case.steps, 1):
        if step.HasField("at"):
            now_ns = START_NS + step.at.ToNanoseconds()
        answer = target.send(step, now_ns)
        found = differences(step.want, answer)
        if found:
            sent = MessageToJson(step, indent=None)
            return [f"{case.name}, step {number}: {text}" for text in found] + [
                case.doc,
                f"sent {sent}",
                f"got {answer}",
            ]
    return []
