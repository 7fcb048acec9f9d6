import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODE_UNSPECIFIED: _ClassVar[Mode]
    MODE_AUTO: _ClassVar[Mode]
    MODE_ANY: _ClassVar[Mode]
    MODE_NONE: _ClassVar[Mode]
    MODE_VALIDATED: _ClassVar[Mode]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_ALLOW: _ClassVar[Verdict]
    VERDICT_FORCE_NONE: _ClassVar[Verdict]
    VERDICT_REJECT: _ClassVar[Verdict]

class Disposition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISPOSITION_UNSPECIFIED: _ClassVar[Disposition]
    DISPOSITION_RAISE: _ClassVar[Disposition]
    DISPOSITION_RETURN: _ClassVar[Disposition]

class CallKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALL_KIND_UNSPECIFIED: _ClassVar[CallKind]
    CALL_KIND_MAIN: _ClassVar[CallKind]
    CALL_KIND_SIDE: _ClassVar[CallKind]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
    FINISH_REASON_TOOL_CALLS: _ClassVar[FinishReason]
    FINISH_REASON_CONTENT_FILTER: _ClassVar[FinishReason]
    FINISH_REASON_UNEXPECTED_TOOL_CALL: _ClassVar[FinishReason]
    FINISH_REASON_MALFORMED_FUNCTION_CALL: _ClassVar[FinishReason]
    FINISH_REASON_OTHER: _ClassVar[FinishReason]

class LimitUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LIMIT_UNIT_UNSPECIFIED: _ClassVar[LimitUnit]
    LIMIT_UNIT_TURNS: _ClassVar[LimitUnit]
    LIMIT_UNIT_MODEL_CALLS: _ClassVar[LimitUnit]
    LIMIT_UNIT_FUNCTION_CALLS: _ClassVar[LimitUnit]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_COMPLETED: _ClassVar[Outcome]
    OUTCOME_FAILED: _ClassVar[Outcome]
    OUTCOME_CANCELLED: _ClassVar[Outcome]

class Reason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REASON_UNSPECIFIED: _ClassVar[Reason]
    REASON_WITHIN_POLICY: _ClassVar[Reason]
    REASON_MALFORMED_CALL: _ClassVar[Reason]
    REASON_UNEXPECTED_TOOL_CALL: _ClassVar[Reason]
    REASON_DISALLOWED: _ClassVar[Reason]
    REASON_NO_TOOLS_ENABLED: _ClassVar[Reason]
    REASON_POLICY_REJECT: _ClassVar[Reason]
    REASON_COST_BUDGET: _ClassVar[Reason]
    REASON_TOKEN_BUDGET: _ClassVar[Reason]
    REASON_TIME_BUDGET: _ClassVar[Reason]
    REASON_TURN_LIMIT: _ClassVar[Reason]
    REASON_MODEL_CALL_LIMIT: _ClassVar[Reason]
    REASON_FUNCTION_CALL_LIMIT: _ClassVar[Reason]
    REASON_TOOL_NOT_ENABLED: _ClassVar[Reason]
    REASON_ERROR_STREAK: _ClassVar[Reason]
    REASON_CYCLE: _ClassVar[Reason]
    REASON_REPETITION: _ClassVar[Reason]
    REASON_UNAVAILABLE: _ClassVar[Reason]
    REASON_SUPERSEDED: _ClassVar[Reason]
    REASON_SIMILAR: _ClassVar[Reason]
MODE_UNSPECIFIED: Mode
MODE_AUTO: Mode
MODE_ANY: Mode
MODE_NONE: Mode
MODE_VALIDATED: Mode
VERDICT_UNSPECIFIED: Verdict
VERDICT_ALLOW: Verdict
VERDICT_FORCE_NONE: Verdict
VERDICT_REJECT: Verdict
DISPOSITION_UNSPECIFIED: Disposition
DISPOSITION_RAISE: Disposition
DISPOSITION_RETURN: Disposition
CALL_KIND_UNSPECIFIED: CallKind
CALL_KIND_MAIN: CallKind
CALL_KIND_SIDE: CallKind
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_LENGTH: FinishReason
FINISH_REASON_TOOL_CALLS: FinishReason
FINISH_REASON_CONTENT_FILTER: FinishReason
FINISH_REASON_UNEXPECTED_TOOL_CALL: FinishReason
FINISH_REASON_MALFORMED_FUNCTION_CALL: FinishReason
FINISH_REASON_OTHER: FinishReason
LIMIT_UNIT_UNSPECIFIED: LimitUnit
LIMIT_UNIT_TURNS: LimitUnit
LIMIT_UNIT_MODEL_CALLS: LimitUnit
LIMIT_UNIT_FUNCTION_CALLS: LimitUnit
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_COMPLETED: Outcome
OUTCOME_FAILED: Outcome
OUTCOME_CANCELLED: Outcome
REASON_UNSPECIFIED: Reason
REASON_WITHIN_POLICY: Reason
REASON_MALFORMED_CALL: Reason
REASON_UNEXPECTED_TOOL_CALL: Reason
REASON_DISALLOWED: Reason
REASON_NO_TOOLS_ENABLED: Reason
REASON_POLICY_REJECT: Reason
REASON_COST_BUDGET: Reason
REASON_TOKEN_BUDGET: Reason
REASON_TIME_BUDGET: Reason
REASON_TURN_LIMIT: Reason
REASON_MODEL_CALL_LIMIT: Reason
REASON_FUNCTION_CALL_LIMIT: Reason
REASON_TOOL_NOT_ENABLED: Reason
REASON_ERROR_STREAK: Reason
REASON_CYCLE: Reason
REASON_REPETITION: Reason
REASON_UNAVAILABLE: Reason
REASON_SUPERSEDED: Reason
REASON_SIMILAR: Reason

class Caller(_message.Message):
    __slots__ = ("service", "agent", "provider", "model", "conversation_id")
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    service: str
    agent: str
    provider: str
    model: str
    conversation_id: str
    def __init__(self, service: _Optional[str] = ..., agent: _Optional[str] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class FunctionCall(_message.Message):
    __slots__ = ("id", "name", "args_json", "loop_key")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGS_JSON_FIELD_NUMBER: _ClassVar[int]
    LOOP_KEY_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    args_json: str
    loop_key: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., args_json: _Optional[str] = ..., loop_key: _Optional[str] = ...) -> None: ...

class FunctionResult(_message.Message):
    __slots__ = ("call_id", "name", "digest", "is_error")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    digest: bytes
    is_error: bool
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., digest: _Optional[bytes] = ..., is_error: _Optional[bool] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "total_tokens", "cost_micro_usd", "cached_input_tokens", "reasoning_tokens")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost_micro_usd: int
    cached_input_tokens: int
    reasoning_tokens: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., total_tokens: _Optional[int] = ..., cost_micro_usd: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ..., reasoning_tokens: _Optional[int] = ...) -> None: ...

class Transcript(_message.Message):
    __slots__ = ("turns_since_prompt", "has_function_calls", "instruction_tools")
    TURNS_SINCE_PROMPT_FIELD_NUMBER: _ClassVar[int]
    HAS_FUNCTION_CALLS_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTION_TOOLS_FIELD_NUMBER: _ClassVar[int]
    turns_since_prompt: int
    has_function_calls: bool
    instruction_tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, turns_since_prompt: _Optional[int] = ..., has_function_calls: _Optional[bool] = ..., instruction_tools: _Optional[_Iterable[str]] = ...) -> None: ...

class Counters(_message.Message):
    __slots__ = ("turns", "model_calls", "function_calls", "tokens", "cost_micro_usd", "elapsed", "limit", "remaining", "limit_off", "unit")
    TURNS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    LIMIT_OFF_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    turns: int
    model_calls: int
    function_calls: int
    tokens: int
    cost_micro_usd: int
    elapsed: _duration_pb2.Duration
    limit: int
    remaining: int
    limit_off: bool
    unit: LimitUnit
    def __init__(self, turns: _Optional[int] = ..., model_calls: _Optional[int] = ..., function_calls: _Optional[int] = ..., tokens: _Optional[int] = ..., cost_micro_usd: _Optional[int] = ..., elapsed: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., limit: _Optional[int] = ..., remaining: _Optional[int] = ..., limit_off: _Optional[bool] = ..., unit: _Optional[_Union[LimitUnit, str]] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("verdict", "reason", "message", "model_hint", "disposition", "policy", "policy_version", "enforced", "verdict_if_enforced", "decision_id", "counters", "warnings")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_HINT_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    POLICY_VERSION_FIELD_NUMBER: _ClassVar[int]
    ENFORCED_FIELD_NUMBER: _ClassVar[int]
    VERDICT_IF_ENFORCED_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
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
    warnings: _containers.RepeatedCompositeFieldContainer[Warning]
    def __init__(self, verdict: _Optional[_Union[Verdict, str]] = ..., reason: _Optional[_Union[Reason, str]] = ..., message: _Optional[str] = ..., model_hint: _Optional[str] = ..., disposition: _Optional[_Union[Disposition, str]] = ..., policy: _Optional[str] = ..., policy_version: _Optional[str] = ..., enforced: _Optional[bool] = ..., verdict_if_enforced: _Optional[_Union[Verdict, str]] = ..., decision_id: _Optional[str] = ..., counters: _Optional[_Union[Counters, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[Warning, _Mapping]]] = ...) -> None: ...

class Warning(_message.Message):
    __slots__ = ("reason", "message", "model_hint")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_HINT_FIELD_NUMBER: _ClassVar[int]
    reason: Reason
    message: str
    model_hint: str
    def __init__(self, reason: _Optional[_Union[Reason, str]] = ..., message: _Optional[str] = ..., model_hint: _Optional[str] = ...) -> None: ...

class ToolNames(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class Fallback(_message.Message):
    __slots__ = ("grpc_code", "count")
    GRPC_CODE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    grpc_code: int
    count: int
    def __init__(self, grpc_code: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class BeforeModelRequest(_message.Message):
    __slots__ = ("request_id", "model_call", "attempt", "policy", "caller", "kind", "mode", "allowed_function_names", "enabled_tools", "transcript", "results", "parent_request_id", "fallbacks", "tenant", "root_request_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FUNCTION_NAMES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    PARENT_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ROOT_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    model_call: int
    attempt: int
    policy: str
    caller: Caller
    kind: CallKind
    mode: Mode
    allowed_function_names: _containers.RepeatedScalarFieldContainer[str]
    enabled_tools: ToolNames
    transcript: Transcript
    results: _containers.RepeatedCompositeFieldContainer[FunctionResult]
    parent_request_id: str
    fallbacks: _containers.RepeatedCompositeFieldContainer[Fallback]
    tenant: str
    root_request_id: str
    def __init__(self, request_id: _Optional[str] = ..., model_call: _Optional[int] = ..., attempt: _Optional[int] = ..., policy: _Optional[str] = ..., caller: _Optional[_Union[Caller, _Mapping]] = ..., kind: _Optional[_Union[CallKind, str]] = ..., mode: _Optional[_Union[Mode, str]] = ..., allowed_function_names: _Optional[_Iterable[str]] = ..., enabled_tools: _Optional[_Union[ToolNames, _Mapping]] = ..., transcript: _Optional[_Union[Transcript, _Mapping]] = ..., results: _Optional[_Iterable[_Union[FunctionResult, _Mapping]]] = ..., parent_request_id: _Optional[str] = ..., fallbacks: _Optional[_Iterable[_Union[Fallback, _Mapping]]] = ..., tenant: _Optional[str] = ..., root_request_id: _Optional[str] = ...) -> None: ...

class BeforeModelResponse(_message.Message):
    __slots__ = ("decision", "mode", "drop_declarations", "declare_tools", "model_call")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    DROP_DECLARATIONS_FIELD_NUMBER: _ClassVar[int]
    DECLARE_TOOLS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALL_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    mode: Mode
    drop_declarations: bool
    declare_tools: _containers.RepeatedScalarFieldContainer[str]
    model_call: int
    def __init__(self, decision: _Optional[_Union[Decision, _Mapping]] = ..., mode: _Optional[_Union[Mode, str]] = ..., drop_declarations: _Optional[bool] = ..., declare_tools: _Optional[_Iterable[str]] = ..., model_call: _Optional[int] = ...) -> None: ...

class AfterModelRequest(_message.Message):
    __slots__ = ("request_id", "model_call", "attempt", "chunk", "last", "calls", "finish_reason", "raw_finish_reason", "usage", "has_text", "policy", "caller", "fallbacks", "mode_sent", "turns_since_prompt", "kind", "tenant", "root_request_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    RAW_FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    HAS_TEXT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    MODE_SENT_FIELD_NUMBER: _ClassVar[int]
    TURNS_SINCE_PROMPT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ROOT_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    model_call: int
    attempt: int
    chunk: int
    last: bool
    calls: _containers.RepeatedCompositeFieldContainer[FunctionCall]
    finish_reason: FinishReason
    raw_finish_reason: str
    usage: Usage
    has_text: bool
    policy: str
    caller: Caller
    fallbacks: _containers.RepeatedCompositeFieldContainer[Fallback]
    mode_sent: Mode
    turns_since_prompt: int
    kind: CallKind
    tenant: str
    root_request_id: str
    def __init__(self, request_id: _Optional[str] = ..., model_call: _Optional[int] = ..., attempt: _Optional[int] = ..., chunk: _Optional[int] = ..., last: _Optional[bool] = ..., calls: _Optional[_Iterable[_Union[FunctionCall, _Mapping]]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., raw_finish_reason: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., has_text: _Optional[bool] = ..., policy: _Optional[str] = ..., caller: _Optional[_Union[Caller, _Mapping]] = ..., fallbacks: _Optional[_Iterable[_Union[Fallback, _Mapping]]] = ..., mode_sent: _Optional[_Union[Mode, str]] = ..., turns_since_prompt: _Optional[int] = ..., kind: _Optional[_Union[CallKind, str]] = ..., tenant: _Optional[str] = ..., root_request_id: _Optional[str] = ...) -> None: ...

class AfterModelResponse(_message.Message):
    __slots__ = ("decision", "calls")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    calls: _containers.RepeatedCompositeFieldContainer[CallVerdict]
    def __init__(self, decision: _Optional[_Union[Decision, _Mapping]] = ..., calls: _Optional[_Iterable[_Union[CallVerdict, _Mapping]]] = ...) -> None: ...

class CallVerdict(_message.Message):
    __slots__ = ("call_id", "name", "run", "reason", "result_text")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RESULT_TEXT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    run: bool
    reason: Reason
    result_text: str
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., run: _Optional[bool] = ..., reason: _Optional[_Union[Reason, str]] = ..., result_text: _Optional[str] = ...) -> None: ...

class EndRequestRequest(_message.Message):
    __slots__ = ("request_id", "outcome", "fallbacks", "tenant", "root_request_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ROOT_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    outcome: Outcome
    fallbacks: _containers.RepeatedCompositeFieldContainer[Fallback]
    tenant: str
    root_request_id: str
    def __init__(self, request_id: _Optional[str] = ..., outcome: _Optional[_Union[Outcome, str]] = ..., fallbacks: _Optional[_Iterable[_Union[Fallback, _Mapping]]] = ..., tenant: _Optional[str] = ..., root_request_id: _Optional[str] = ...) -> None: ...

class EndRequestResponse(_message.Message):
    __slots__ = ("counters",)
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    counters: Counters
    def __init__(self, counters: _Optional[_Union[Counters, _Mapping]] = ...) -> None: ...

class GetStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("version", "policies", "policy_loaded_at", "policy_error", "policy_error_since", "live_requests", "store", "started_at", "draining", "listen", "admin", "observer", "decisions")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    POLICY_LOADED_AT_FIELD_NUMBER: _ClassVar[int]
    POLICY_ERROR_FIELD_NUMBER: _ClassVar[int]
    POLICY_ERROR_SINCE_FIELD_NUMBER: _ClassVar[int]
    LIVE_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    LISTEN_FIELD_NUMBER: _ClassVar[int]
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    OBSERVER_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    version: str
    policies: _containers.RepeatedCompositeFieldContainer[PolicyStatus]
    policy_loaded_at: _timestamp_pb2.Timestamp
    policy_error: str
    policy_error_since: _timestamp_pb2.Timestamp
    live_requests: int
    store: str
    started_at: _timestamp_pb2.Timestamp
    draining: bool
    listen: _containers.RepeatedScalarFieldContainer[str]
    admin: str
    observer: ObserverStatus
    decisions: int
    def __init__(self, version: _Optional[str] = ..., policies: _Optional[_Iterable[_Union[PolicyStatus, _Mapping]]] = ..., policy_loaded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., policy_error: _Optional[str] = ..., policy_error_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., live_requests: _Optional[int] = ..., store: _Optional[str] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., draining: _Optional[bool] = ..., listen: _Optional[_Iterable[str]] = ..., admin: _Optional[str] = ..., observer: _Optional[_Union[ObserverStatus, _Mapping]] = ..., decisions: _Optional[int] = ...) -> None: ...

class PolicyStatus(_message.Message):
    __slots__ = ("name", "version", "enforcement")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ENFORCEMENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    enforcement: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., enforcement: _Optional[str] = ...) -> None: ...

class ObserverStatus(_message.Message):
    __slots__ = ("running", "restarts", "facts_offered", "facts_dropped", "export_failures")
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    FACTS_OFFERED_FIELD_NUMBER: _ClassVar[int]
    FACTS_DROPPED_FIELD_NUMBER: _ClassVar[int]
    EXPORT_FAILURES_FIELD_NUMBER: _ClassVar[int]
    running: bool
    restarts: int
    facts_offered: int
    facts_dropped: int
    export_failures: int
    def __init__(self, running: _Optional[bool] = ..., restarts: _Optional[int] = ..., facts_offered: _Optional[int] = ..., facts_dropped: _Optional[int] = ..., export_failures: _Optional[int] = ...) -> None: ...

class GetRequestRequest(_message.Message):
    __slots__ = ("request_id", "tenant")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tenant: str
    def __init__(self, request_id: _Optional[str] = ..., tenant: _Optional[str] = ...) -> None: ...

class GetRequestResponse(_message.Message):
    __slots__ = ("summary", "timeline")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TIMELINE_FIELD_NUMBER: _ClassVar[int]
    summary: RequestSummary
    timeline: _containers.RepeatedCompositeFieldContainer[DecisionRecord]
    def __init__(self, summary: _Optional[_Union[RequestSummary, _Mapping]] = ..., timeline: _Optional[_Iterable[_Union[DecisionRecord, _Mapping]]] = ...) -> None: ...

class RequestSummary(_message.Message):
    __slots__ = ("request_id", "tenant", "policy", "caller", "counters", "started_at", "seen_at", "ended", "outcome", "tools", "last_verdict", "last_reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    LAST_VERDICT_FIELD_NUMBER: _ClassVar[int]
    LAST_REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tenant: str
    policy: str
    caller: Caller
    counters: Counters
    started_at: _timestamp_pb2.Timestamp
    seen_at: _timestamp_pb2.Timestamp
    ended: bool
    outcome: Outcome
    tools: _containers.RepeatedCompositeFieldContainer[ToolCount]
    last_verdict: Verdict
    last_reason: Reason
    def __init__(self, request_id: _Optional[str] = ..., tenant: _Optional[str] = ..., policy: _Optional[str] = ..., caller: _Optional[_Union[Caller, _Mapping]] = ..., counters: _Optional[_Union[Counters, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., seen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended: _Optional[bool] = ..., outcome: _Optional[_Union[Outcome, str]] = ..., tools: _Optional[_Iterable[_Union[ToolCount, _Mapping]]] = ..., last_verdict: _Optional[_Union[Verdict, str]] = ..., last_reason: _Optional[_Union[Reason, str]] = ...) -> None: ...

class ToolCount(_message.Message):
    __slots__ = ("name", "function_calls")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_CALLS_FIELD_NUMBER: _ClassVar[int]
    name: str
    function_calls: int
    def __init__(self, name: _Optional[str] = ..., function_calls: _Optional[int] = ...) -> None: ...

class ListRequestsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "tenant", "agent", "policy")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    tenant: str
    agent: str
    policy: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., tenant: _Optional[str] = ..., agent: _Optional[str] = ..., policy: _Optional[str] = ...) -> None: ...

class ListRequestsResponse(_message.Message):
    __slots__ = ("requests", "next_page_token")
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[RequestSummary]
    next_page_token: str
    def __init__(self, requests: _Optional[_Iterable[_Union[RequestSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WatchDecisionsRequest(_message.Message):
    __slots__ = ("request_id", "tenant", "without_allow")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_ALLOW_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tenant: str
    without_allow: bool
    def __init__(self, request_id: _Optional[str] = ..., tenant: _Optional[str] = ..., without_allow: _Optional[bool] = ...) -> None: ...

class WatchDecisionsResponse(_message.Message):
    __slots__ = ("record", "dropped")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    record: DecisionRecord
    dropped: int
    def __init__(self, record: _Optional[_Union[DecisionRecord, _Mapping]] = ..., dropped: _Optional[int] = ...) -> None: ...

class DecisionRecord(_message.Message):
    __slots__ = ("request_id", "point", "decision", "caller", "model_call", "time", "tenant", "attempt", "chunk", "mode_from", "mode_to", "function_calls")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALL_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    MODE_FROM_FIELD_NUMBER: _ClassVar[int]
    MODE_TO_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_CALLS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    point: str
    decision: Decision
    caller: Caller
    model_call: int
    time: _timestamp_pb2.Timestamp
    tenant: str
    attempt: int
    chunk: int
    mode_from: Mode
    mode_to: Mode
    function_calls: int
    def __init__(self, request_id: _Optional[str] = ..., point: _Optional[str] = ..., decision: _Optional[_Union[Decision, _Mapping]] = ..., caller: _Optional[_Union[Caller, _Mapping]] = ..., model_call: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tenant: _Optional[str] = ..., attempt: _Optional[int] = ..., chunk: _Optional[int] = ..., mode_from: _Optional[_Union[Mode, str]] = ..., mode_to: _Optional[_Union[Mode, str]] = ..., function_calls: _Optional[int] = ...) -> None: ...
