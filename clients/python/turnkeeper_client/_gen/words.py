"""Enums and plain messages of the contract, and the keyword arguments of its calls.

Generated from ``protos/`` by ``make proto``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypedDict


class CallKind(IntEnum):
    """``turnkeeper.v1.CallKind``."""

    UNSPECIFIED = 0
    MAIN = 1
    SIDE = 2


class Disposition(IntEnum):
    """``turnkeeper.v1.Disposition``."""

    UNSPECIFIED = 0
    RAISE = 1
    RETURN = 2


class FinishReason(IntEnum):
    """``turnkeeper.v1.FinishReason``."""

    UNSPECIFIED = 0
    STOP = 1
    LENGTH = 2
    TOOL_CALLS = 3
    CONTENT_FILTER = 4
    UNEXPECTED_TOOL_CALL = 5
    MALFORMED_FUNCTION_CALL = 6
    OTHER = 7


class LimitUnit(IntEnum):
    """``turnkeeper.v1.LimitUnit``."""

    UNSPECIFIED = 0
    TURNS = 1
    MODEL_CALLS = 2
    FUNCTION_CALLS = 3


class Mode(IntEnum):
    """``turnkeeper.v1.Mode``."""

    UNSPECIFIED = 0
    AUTO = 1
    ANY = 2
    NONE = 3
    VALIDATED = 4


class Outcome(IntEnum):
    """``turnkeeper.v1.Outcome``."""

    UNSPECIFIED = 0
    COMPLETED = 1
    FAILED = 2
    CANCELLED = 3


class Reason(IntEnum):
    """``turnkeeper.v1.Reason``."""

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
    UNAVAILABLE = 17
    SUPERSEDED = 18
    SIMILAR = 19


class Verdict(IntEnum):
    """``turnkeeper.v1.Verdict``."""

    UNSPECIFIED = 0
    ALLOW = 1
    FORCE_NONE = 2
    REJECT = 3


@dataclass(frozen=True)
class Caller:
    """``turnkeeper.v1.Caller``."""

    service: str = ""
    agent: str = ""
    provider: str = ""
    model: str = ""
    conversation_id: str = ""


@dataclass(frozen=True)
class FunctionCall:
    """``turnkeeper.v1.FunctionCall``."""

    id: str = ""
    name: str = ""
    args_json: str = ""
    loop_key: str = ""


@dataclass(frozen=True)
class FunctionResult:
    """``turnkeeper.v1.FunctionResult``."""

    call_id: str = ""
    name: str = ""
    digest: bytes = b""
    is_error: bool = False


@dataclass(frozen=True)
class Usage:
    """``turnkeeper.v1.Usage``."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost_micro_usd: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True)
class Counters:
    """``turnkeeper.v1.Counters``."""

    turns: int = 0
    model_calls: int = 0
    function_calls: int = 0
    tokens: int = 0
    cost_micro_usd: int = 0
    elapsed_s: float = 0.0
    limit: int = 0
    remaining: int = 0
    limit_off: bool = False
    unit: LimitUnit = LimitUnit.UNSPECIFIED


@dataclass(frozen=True)
class Warning:  # noqa: A001 - the word of the contract
    """``turnkeeper.v1.Warning``."""

    reason: Reason = Reason.UNSPECIFIED
    message: str = ""
    model_hint: str = ""


@dataclass(frozen=True)
class CallVerdict:
    """``turnkeeper.v1.CallVerdict``."""

    call_id: str = ""
    name: str = ""
    run: bool = False
    reason: Reason = Reason.UNSPECIFIED
    result_text: str = ""


@dataclass(frozen=True)
class Decision:
    """``turnkeeper.v1.Decision``."""

    verdict: Verdict = Verdict.UNSPECIFIED
    reason: Reason = Reason.UNSPECIFIED
    message: str = ""
    model_hint: str = ""
    disposition: Disposition = Disposition.UNSPECIFIED
    policy: str = ""
    policy_version: str = ""
    enforced: bool = False
    verdict_if_enforced: Verdict = Verdict.UNSPECIFIED
    decision_id: str = ""
    counters: Counters = Counters()
    warnings: tuple[Warning, ...] = ()


class Before(TypedDict, total=False):
    """What ``BeforeModel`` may be told."""

    model_call: int
    attempt: int
    policy: str
    caller: Caller | None
    kind: CallKind
    mode: int
    allowed_function_names: Iterable[str]
    enabled_tools: Iterable[str] | None
    turns_since_prompt: int
    has_function_calls: bool
    instruction_tools: Iterable[str]
    results: Iterable[FunctionResult]
    parent_request_id: str
    tenant: str
    root_request_id: str
    traceparent: str


class After(TypedDict, total=False):
    """What ``AfterModel`` may be told."""

    model_call: int
    attempt: int
    chunk: int
    last: bool
    calls: Iterable[FunctionCall]
    finish_reason: FinishReason
    raw_finish_reason: str
    usage: Usage | None
    has_text: bool
    policy: str
    caller: Caller | None
    mode_sent: int
    turns_since_prompt: int
    kind: CallKind
    tenant: str
    root_request_id: str
    traceparent: str


class End(TypedDict, total=False):
    """What ``EndRequest`` may be told."""

    outcome: Outcome
    tenant: str
    root_request_id: str
    traceparent: str
