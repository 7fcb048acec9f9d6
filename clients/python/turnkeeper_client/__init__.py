"""Ask Turnkeeper before and after each model call of a tool-calling loop."""

from turnkeeper_client._gen.words import (
    Caller,
    CallKind,
    CallVerdict,
    Counters,
    Disposition,
    FinishReason,
    FunctionCall,
    FunctionResult,
    LimitUnit,
    Mode,
    Outcome,
    Reason,
    Usage,
    Verdict,
    Warning,  # noqa: A004 - the word of the contract
)
from turnkeeper_client.answers import AfterModelAnswer, BeforeModelAnswer
from turnkeeper_client.client import AsyncTurnKeeper, TurnKeeper
from turnkeeper_client.errors import ArgumentError, OptionError, ToolLoopRejected, TurnkeeperError
from turnkeeper_client.loop import AsyncLoop, Checked, Guarded, Loop, Seen, digest
from turnkeeper_client.options import Options

__all__ = [
    "AfterModelAnswer",
    "ArgumentError",
    "AsyncLoop",
    "AsyncTurnKeeper",
    "BeforeModelAnswer",
    "CallKind",
    "CallVerdict",
    "Caller",
    "Checked",
    "Counters",
    "Disposition",
    "FinishReason",
    "FunctionCall",
    "FunctionResult",
    "Guarded",
    "LimitUnit",
    "Loop",
    "Mode",
    "OptionError",
    "Options",
    "Outcome",
    "Reason",
    "Seen",
    "ToolLoopRejected",
    "TurnKeeper",
    "TurnkeeperError",
    "Usage",
    "Verdict",
    "Warning",
    "digest",
]
