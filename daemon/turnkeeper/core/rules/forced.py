"""NONE that we forced: carried to the next model call, and held against the response.

NONE alone is not enough: models call functions under it. So a call in the response to a NONE model call is always
rejected, with the reason and the disposition that forced the NONE.
"""

from turnkeeper.core.model import Verdict
from turnkeeper.core.rules.moment import After, Before, Findings


def before(moment: Before) -> Findings:
    """Force NONE when the response before was answered with FORCE_NONE."""
    pending = moment.record.pending
    return (pending,) if pending is not None else ()


def after(moment: After) -> Findings:
    """Reject a call made although we forced NONE, or refused the model call."""
    forced = moment.record.forced
    if forced is None or not moment.event.calls:
        return ()
    message = f"the model called a function although calls were off: {forced.message}"
    return (forced._replace(verdict=Verdict.REJECT, message=message),)
