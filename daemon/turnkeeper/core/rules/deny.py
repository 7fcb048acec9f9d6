"""The operator's stop switch."""

from turnkeeper.core.model import Reason, Verdict
from turnkeeper.core.rules.moment import After, Before, Findings
from turnkeeper.core.state import Finding


def before(moment: Before) -> Findings:
    """Refuse every model call."""
    deny = moment.policy.deny
    return (Finding(Verdict.REJECT, Reason.POLICY_REJECT, deny),) if deny else ()


def after(moment: After) -> Findings:
    """Refuse every function call; a final answer that was made anyway may be used."""
    deny = moment.policy.deny
    return (Finding(Verdict.REJECT, Reason.POLICY_REJECT, deny),) if deny and moment.event.calls else ()
