"""Conformance vectors: cases as data, how they are read, played and compared.

A case says what is sent, at an explicit time, and what must be answered. What it is played on is a ``Target``: the core
in this process, or whatever else can answer.
"""

from turnkeeper.vectors.comparing import Answer, Difference, Status
from turnkeeper.vectors.core_target import CoreTarget
from turnkeeper.vectors.playing import Failure, Target, play
from turnkeeper.vectors.suites import SuiteError, policies_of, read

__all__ = [
    "Answer",
    "CoreTarget",
    "Difference",
    "Failure",
    "Status",
    "SuiteError",
    "Target",
    "play",
    "policies_of",
    "read",
]
