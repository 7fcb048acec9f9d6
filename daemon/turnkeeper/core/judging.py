"""From findings to a decision.

Law: the most severe finding is the verdict; among equals precedence decides. What is found does not depend on
enforcement, only what is answered does.
"""

from typing import NamedTuple

from turnkeeper.core import facts as f
from turnkeeper.core.events import AfterModel, BeforeModel
from turnkeeper.core.model import (
    RANK,
    Answer,
    Decision,
    Disposition,
    Enforcement,
    Point,
    Reason,
    Verdict,
)
from turnkeeper.core.model import (
    Warning as Warned,
)
from turnkeeper.core.policy import Policy
from turnkeeper.core.rules import limits
from turnkeeper.core.rules.moment import Findings
from turnkeeper.core.state import Finding, ModelCall, State

WITHIN = Finding(Verdict.ALLOW, Reason.WITHIN_POLICY, "")
SUPERSEDED = Finding(Verdict.REJECT, Reason.SUPERSEDED, "this event is of a replaced attempt or an ended request")


class Step(NamedTuple):
    """What one event does. ``fresh`` is False for a repeat, a refusal, and an end that was told before."""

    state: State | None
    answer: Answer
    facts: tuple[f.Fact, ...] = ()
    fresh: bool = True


def worst(findings: Findings) -> Finding:
    """Return the most severe finding; among equals that of highest precedence.

    What is left to break a tie (two limits of one unit) is the stricter disposition, then the removal of tools, then
    the text, so that the order of rules is of no consequence.
    """
    if not findings:
        return WITHIN
    return min((*(finding for finding in findings if not finding.is_warning), WITHIN), key=_severity)


def _severity(finding: Finding) -> tuple[int, int, int, bool, str]:
    return -finding.verdict, RANK[finding.reason], finding.disposition, not finding.remove_tools, finding.message


def reported(findings: Findings, verdict: Finding) -> list[f.Fact]:
    """Tell findings below the verdict; an ALLOW says nothing that the answer does not."""
    return [
        f.Reported(finding.reason, finding.verdict, finding.message)
        for finding in findings
        if finding is not verdict and finding.reason is not verdict.reason
    ]


def decision(
    state: State, policy: Policy, verdict: Finding, decision_id: str, warnings: tuple[Warned, ...] = ()
) -> Decision:
    """Return the decision that a finding makes, with the counts as they are."""
    enforced = policy.enforcement is Enforcement.ENFORCE
    return Decision(
        verdict.verdict if enforced else Verdict.ALLOW,
        verdict.reason,
        verdict.message,
        verdict.model_hint,
        verdict.disposition if verdict.verdict is Verdict.REJECT else Disposition.UNSPECIFIED,
        policy.name,
        policy.version,
        enforced,
        verdict.verdict,
        decision_id,
        limits.counters(state, policy),
        warnings,
    )


def warnings(findings: Findings) -> tuple[Warned, ...]:
    """Return the patterns that are told and not acted on."""
    return tuple(
        Warned(finding.reason, finding.message, finding.model_hint) for finding in findings if finding.is_warning
    )


def note_laps(state: State, findings: Findings) -> list[f.Fact]:
    """Remember each pattern found, and tell it the first time and at doublings."""
    facts: list[f.Fact] = []
    for finding in findings:
        lap = finding.lap
        if lap is None:
            continue
        known = state.lap(lap.key)
        if known is None or known.start != lap.start or lap.laps >= 2 * known.laps:
            state.note(lap)
            facts.append(f.LoopDetected(finding.reason, lap.period, lap.laps, lap.key))
    return facts


def decision_id(record: ModelCall, point: Point, chunk: int) -> str:
    """Name a decision within its request id."""
    return f"{record.number}.{record.attempt}.{point.value}.{chunk}"


def remember(state: State, event: BeforeModel | AfterModel, decision: Decision) -> None:
    """Keep what was last decided, and the span of a decision that was not ALLOW."""
    state.last_verdict, state.last_reason = decision.verdict_if_enforced, decision.reason
    if decision.verdict_if_enforced > Verdict.ALLOW and event.trace.span_id:
        state.link(event.trace.traceparent, event.trace.span_id)
