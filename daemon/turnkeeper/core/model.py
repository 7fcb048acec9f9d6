"""The words of a decision, as closed enumerations.

Law: numbers are those of the wire contract, so that no layer translates them; order of severity is the order of
``Verdict``; order of precedence is the order of ``PRECEDENCE`` and of nothing else.
"""

from enum import Enum, IntEnum
from typing import NamedTuple


class Verdict(IntEnum):
    """What a shim is told to do. A higher number is more severe."""

    UNSPECIFIED = 0
    ALLOW = 1
    FORCE_NONE = 2
    REJECT = 3


class Mode(IntEnum):
    """Function-calling mode. Other numbers may come from newer callers and are echoed."""

    UNSPECIFIED = 0
    AUTO = 1
    ANY = 2
    NONE = 3
    VALIDATED = 4


class Disposition(IntEnum):
    """What a shim does with a REJECT."""

    UNSPECIFIED = 0
    RAISE = 1
    RETURN = 2


class FinishReason(IntEnum):
    """Why the model stopped, as normalised by the shim."""

    UNSPECIFIED = 0
    STOP = 1
    LENGTH = 2
    TOOL_CALLS = 3
    CONTENT_FILTER = 4
    UNEXPECTED_TOOL_CALL = 5
    MALFORMED_FUNCTION_CALL = 6
    OTHER = 7


class Unit(IntEnum):
    """What a limit counts."""

    UNSPECIFIED = 0
    TURNS = 1
    MODEL_CALLS = 2
    FUNCTION_CALLS = 3


class Outcome(IntEnum):
    """How a loop ended, as the application tells it."""

    UNSPECIFIED = 0
    COMPLETED = 1
    FAILED = 2
    CANCELLED = 3


class Reason(IntEnum):
    """Why. Precedence is in ``PRECEDENCE``, not in the numbers."""

    UNSPECIFIED = 0
    WITHIN_POLICY = 1
    MALFORMED_CALL = 2
    UNEXPECTED_TOOL_CALL = 3
    DISALLOWED = 4
    NO_TOOLS_ENABLED = 5
    POLICY_REJECT = 6
    COST_BUDGET = 7
    TOKEN_BUDGET = 8
    TIME_BUDGET = 9
    TURN_LIMIT = 10
    MODEL_CALL_LIMIT = 11
    FUNCTION_CALL_LIMIT = 12
    TOOL_NOT_ENABLED = 13
    ERROR_STREAK = 14
    CYCLE = 15
    REPETITION = 16
    UNAVAILABLE = 17  # a shim's own; the daemon never sends it
    SUPERSEDED = 18
    SIMILAR = 19


PRECEDENCE = (
    Reason.MALFORMED_CALL,
    Reason.UNEXPECTED_TOOL_CALL,
    Reason.SUPERSEDED,
    Reason.DISALLOWED,
    Reason.NO_TOOLS_ENABLED,
    Reason.POLICY_REJECT,
    Reason.COST_BUDGET,
    Reason.TOKEN_BUDGET,
    Reason.TIME_BUDGET,
    Reason.TURN_LIMIT,
    Reason.MODEL_CALL_LIMIT,
    Reason.FUNCTION_CALL_LIMIT,
    Reason.TOOL_NOT_ENABLED,
    Reason.ERROR_STREAK,
    Reason.CYCLE,
    Reason.REPETITION,
    Reason.SIMILAR,
    Reason.WITHIN_POLICY,
)
RANK = {reason: rank for rank, reason in enumerate(PRECEDENCE)}


class Enforcement(Enum):
    """ENFORCE answers the verdict. OBSERVE judges the same and answers ALLOW with the mode asked."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


class Point(Enum):
    """The two questions a shim asks."""

    BEFORE_MODEL = "before_model"
    AFTER_MODEL = "after_model"


class Counters(NamedTuple):
    """Counts of one request id, the event just told included. ``limit`` is that of the limit nearest to its end."""

    turns: int = 0
    model_calls: int = 0
    function_calls: int = 0
    tokens: int = 0
    cost_micro_usd: int = 0
    elapsed_ns: int = 0
    limit: int = 0
    remaining: int = 0
    limit_off: bool = True
    unit: Unit = Unit.UNSPECIFIED


class Warning(NamedTuple):  # noqa: A001 - the word of the contract
    """A pattern that is not acted on yet."""

    reason: Reason
    message: str
    model_hint: str


class Decision(NamedTuple):
    """The answer to one event. ``verdict`` is what the shim does, ``verdict_if_enforced`` what was judged."""

    verdict: Verdict
    reason: Reason
    message: str
    model_hint: str
    disposition: Disposition
    policy: str
    policy_version: str
    enforced: bool
    verdict_if_enforced: Verdict
    decision_id: str
    counters: Counters
    warnings: tuple[Warning, ...] = ()


class BeforeAnswer(NamedTuple):
    """``mode`` is the one to send: a ``Mode``, or the number asked when this core does not know it."""

    decision: Decision
    mode: int
    drop_declarations: bool = False
    declare_tools: tuple[str, ...] = ()
    model_call: int = 0


class CallVerdict(NamedTuple):
    """What to do with one function call. ``result_text`` is for a call that is not run."""

    call_id: str
    name: str
    run: bool
    reason: Reason
    result_text: str


class AfterAnswer(NamedTuple):
    """One verdict per call of the event, in order."""

    decision: Decision
    calls: tuple[CallVerdict, ...]


class EndAnswer(NamedTuple):
    """Counters at the end; zeros for an unknown id."""

    counters: Counters


class Refusal(NamedTuple):
    """The event contradicts what was told before: INVALID_ARGUMENT, nothing changed."""

    field: str
    message: str


Answer = BeforeAnswer | AfterAnswer | EndAnswer | Refusal
