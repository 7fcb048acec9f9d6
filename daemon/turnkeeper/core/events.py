"""The three events a shim sends, as immutable values.

Law: an event here is valid. ``wire`` checks lengths, blanks and encodings before it builds one; nothing below
checks again. Arguments of calls appear only as a keyed fingerprint.
"""

from typing import NamedTuple

from turnkeeper.core.model import FinishReason, Mode, Outcome


class Caller(NamedTuple):
    """Who asks, and about what. All but ``conversation_id`` are bounded labels."""

    service: str = ""
    agent: str = ""
    provider: str = ""
    model: str = ""
    conversation_id: str = ""


class Call(NamedTuple):
    """One function call. ``fingerprint`` is of its name and canonical arguments."""

    id: str
    name: str
    fingerprint: bytes = b""


class Result(NamedTuple):
    """What the application answered for a call; only a digest of it is ever told."""

    call_id: str
    name: str = ""
    digest: bytes = b""
    is_error: bool = False


class Usage(NamedTuple):
    """Usage of one attempt so far: cumulative, the last value counts."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost_micro_usd: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def tokens(self) -> int:
        """The total, or the sum of its parts where the provider gives none."""
        return self.total_tokens or self.input_tokens + self.output_tokens


class Transcript(NamedTuple):
    """What the shim sees in the history it is about to send."""

    turns_since_prompt: int = 0
    has_function_calls: bool = False
    instruction_tools: tuple[str, ...] = ()


class Trace(NamedTuple):
    """The caller's trace context, and the span id of this decision. Opaque here; kept for links."""

    traceparent: str = ""
    span_id: str = ""


class BeforeModel(NamedTuple):
    """May this model call be made, and in which mode? ``enabled_tools`` None: not told."""

    request_id: str
    model_call: int = 0
    attempt: int = 0
    policy: str = ""
    caller: Caller = Caller()
    side: bool = False
    mode: int = Mode.UNSPECIFIED
    allowed_names: tuple[str, ...] = ()
    enabled_tools: tuple[str, ...] | None = None
    transcript: Transcript | None = None
    results: tuple[Result, ...] = ()
    parent: str = ""
    tenant: str = ""
    root: str = ""
    fallbacks: tuple[tuple[int, int], ...] = ()
    trace: Trace = Trace()


class AfterModel(NamedTuple):
    """May the calls of this response, or chunk of it, be run? ``usage`` None: not told in this chunk."""

    request_id: str
    model_call: int = 0
    attempt: int = 0
    chunk: int = 0
    last: bool = True
    calls: tuple[Call, ...] = ()
    finish_reason: FinishReason = FinishReason.UNSPECIFIED
    usage: Usage | None = None
    has_text: bool = False
    policy: str = ""
    caller: Caller = Caller()
    mode_sent: int = Mode.UNSPECIFIED
    turns_since_prompt: int = 0
    side: bool = False
    tenant: str = ""
    root: str = ""
    fallbacks: tuple[tuple[int, int], ...] = ()
    trace: Trace = Trace()


class EndRequest(NamedTuple):
    """The loop is over."""

    request_id: str
    outcome: Outcome = Outcome.UNSPECIFIED
    tenant: str = ""
    root: str = ""
    fallbacks: tuple[tuple[int, int], ...] = ()
    trace: Trace = Trace()


Event = BeforeModel | AfterModel | EndRequest
