"""Facts: immutable records that a step leaves for telemetry.

Law: a fact tells what happened and changes nothing. The decision itself is not a fact: it is in the answer.
"""

from typing import NamedTuple

from turnkeeper.core.model import Counters, Reason, Unit, Verdict


class Reported(NamedTuple):
    """A finding below the verdict, or a guard that only reports."""

    reason: Reason
    verdict: Verdict
    message: str


class ModeSwitched(NamedTuple):
    """The mode to send is not the mode asked. Under OBSERVE: would not have been."""

    mode_from: int
    mode_to: int
    reason: Reason


class LoopDetected(NamedTuple):
    """A pattern was found: first when it is warned of or acted on, then at doublings."""

    reason: Reason
    period: int
    laps: int
    key: bytes


class CallsRejected(NamedTuple):
    """Function calls under a REJECT, at least one for each rejected response."""

    calls: int
    reason: Reason


class ModeMismatch(NamedTuple):
    """The mode that went to the model is not the mode that was answered."""

    answered: int
    sent: int


class ResultsUnmatched(NamedTuple):
    """Results whose call belongs to no kept turn."""

    results: int


class TokensSpent(NamedTuple):
    """Tokens of a response since it was last told. ``unsplit``: the provider gives a total only."""

    input_tokens: int
    output_tokens: int
    unsplit: int


class RequestReused(NamedTuple):
    """An ended request id started again at zero."""


class BudgetUse(NamedTuple):
    """How much of a limit was used when the loop ended."""

    unit: Unit
    used: int
    limit: int


class RequestEnded(NamedTuple):
    """The loop is over. ``outcome`` is one of ``OUTCOMES``; times are nanoseconds since the epoch."""

    outcome: str
    counters: Counters
    started_ns: int
    ended_ns: int
    traceparent: str
    links: tuple[tuple[str, str], ...]
    budgets: tuple[BudgetUse, ...]


OUTCOMES = ("completed", "forced_completion", "final_empty", "rejected", "failed", "cancelled", "expired")

Fact = (
    Reported
    | LoopDetected
    | ModeSwitched
    | CallsRejected
    | ModeMismatch
    | ResultsUnmatched
    | TokensSpent
    | RequestReused
    | RequestEnded
)
