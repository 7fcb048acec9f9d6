"""Modes and tools: what the application asked for and enabled.

A session may run any call that names one of its tools, even a disallowed one; so each call is checked against
what was asked and enabled for this very model call. Tools that were not told are not judged.
"""

from turnkeeper.core.model import Mode, Reason, Verdict
from turnkeeper.core.rules.moment import After, Before, Findings
from turnkeeper.core.state import Finding, ModelCall

_DISALLOWED = "the application asked for function-calling mode NONE"
_NO_TOOLS = "no tool is enabled for this model call"
_OFF_HINT = "Tools are off for this answer. Answer without calling functions."
_NAME_HINT = "A function was called that is not enabled. Call only declared functions, or answer without them."


def before(moment: Before) -> Findings:
    """Tell why the mode will be NONE; nothing is forced that was not asked for."""
    findings = []
    if moment.record.mode_asked == Mode.NONE:
        findings.append(Finding(Verdict.ALLOW, Reason.DISALLOWED, _DISALLOWED))
    if moment.record.enabled_tools == ():
        findings.append(Finding(Verdict.ALLOW, Reason.NO_TOOLS_ENABLED, _NO_TOOLS))
    return findings


def after(moment: After) -> Findings:
    """Check every call of the event; one bad call rejects it whole."""
    if not moment.event.calls:
        return ()
    findings = []
    record, guards = moment.record, moment.policy.guards
    if _asked_for_none(moment):
        findings.append(_finding(Reason.DISALLOWED, _DISALLOWED, _OFF_HINT, rejects=guards.disallowed))
    if record.enabled_tools == ():
        findings.append(_finding(Reason.NO_TOOLS_ENABLED, _NO_TOOLS, _OFF_HINT, rejects=guards.no_tools))
    names = [call.name for call in moment.event.calls]
    bad = next((index for index, name in enumerate(names) if not _may_call(record, name)), None)
    if bad is not None:
        blank = "a blank name" if not names[bad].strip() else "a tool that is not enabled for this model call"
        message = f"function call {bad + 1} of {len(names)} names {blank}"
        findings.append(_finding(Reason.TOOL_NOT_ENABLED, message, _NAME_HINT, rejects=guards.not_enabled))
    return findings


def _finding(reason: Reason, message: str, hint: str, *, rejects: bool) -> Finding:
    return Finding(Verdict.REJECT if rejects else Verdict.ALLOW, reason, message, hint)


def _asked_for_none(moment: After) -> bool:
    """Whether the application, not this daemon, sent NONE."""
    record = moment.record
    if record.mode_asked == Mode.NONE:
        return True
    ours = record.mode_answered == Mode.NONE or record.forced is not None
    return moment.event.mode_sent == Mode.NONE and not ours


def _may_call(record: ModelCall, name: str) -> bool:
    """Whether one call names a tool that may be called. No tool at all is another rule's finding."""
    if not name.strip():
        return False
    if not record.enabled_tools:
        return True
    if record.allowed_names and record.mode_asked in (Mode.ANY, Mode.VALIDATED) and name not in record.allowed_names:
        return False
    return name in record.enabled_tools
