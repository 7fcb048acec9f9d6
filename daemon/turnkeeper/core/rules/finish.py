"""Finish reasons that say the model tried a function call it may not make.

A provider reports them with or without the call, with or without content; each is as bad as the call itself.
"""

from turnkeeper.core.events import AfterModel
from turnkeeper.core.model import FinishReason, Reason, Verdict
from turnkeeper.core.policy import Policy
from turnkeeper.core.rules.moment import After, Findings
from turnkeeper.core.state import Finding

_TEXT = {
    FinishReason.MALFORMED_FUNCTION_CALL: (
        Reason.MALFORMED_CALL,
        "the model stopped on a malformed function call",
        "The function call was malformed and was not run. Call a declared function with valid arguments, or answer.",
    ),
    FinishReason.UNEXPECTED_TOOL_CALL: (
        Reason.UNEXPECTED_TOOL_CALL,
        "the model stopped on a function call that it was not allowed to make",
        "The function call was not allowed and was not run. Answer without calling functions.",
    ),
}


def after(moment: After) -> Findings:
    """Reject, or report, a bad finish."""
    return judge(moment.event, moment.policy)


def judge(event: AfterModel, policy: Policy) -> Findings:
    """Judge the finish reason, which needs no state."""
    found = _TEXT.get(event.finish_reason)
    if found is None:
        return ()
    reason, message, hint = found
    verdict = Verdict.REJECT if policy.guards.bad_finish else Verdict.ALLOW
    return (Finding(verdict, reason, message, hint),)
