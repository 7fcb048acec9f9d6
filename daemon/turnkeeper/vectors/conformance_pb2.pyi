import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from turnkeeper.v1 import turnkeeper_pb2 as _turnkeeper_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Suite(_message.Message):
    __slots__ = ("name", "description", "cases")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CASES_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    cases: _containers.RepeatedCompositeFieldContainer[Case]
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., cases: _Optional[_Iterable[_Union[Case, _Mapping]]] = ...) -> None: ...

class Case(_message.Message):
    __slots__ = ("name", "doc", "policies_yaml", "policies_file", "steps")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    POLICIES_YAML_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FILE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    name: str
    doc: str
    policies_yaml: str
    policies_file: str
    steps: _containers.RepeatedCompositeFieldContainer[Step]
    def __init__(self, name: _Optional[str] = ..., doc: _Optional[str] = ..., policies_yaml: _Optional[str] = ..., policies_file: _Optional[str] = ..., steps: _Optional[_Iterable[_Union[Step, _Mapping]]] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("at", "before_model", "after_model", "end_request", "lose_state", "want")
    AT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_MODEL_FIELD_NUMBER: _ClassVar[int]
    AFTER_MODEL_FIELD_NUMBER: _ClassVar[int]
    END_REQUEST_FIELD_NUMBER: _ClassVar[int]
    LOSE_STATE_FIELD_NUMBER: _ClassVar[int]
    WANT_FIELD_NUMBER: _ClassVar[int]
    at: _duration_pb2.Duration
    before_model: _turnkeeper_pb2.BeforeModelRequest
    after_model: _turnkeeper_pb2.AfterModelRequest
    end_request: _turnkeeper_pb2.EndRequestRequest
    lose_state: bool
    want: Want
    def __init__(self, at: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., before_model: _Optional[_Union[_turnkeeper_pb2.BeforeModelRequest, _Mapping]] = ..., after_model: _Optional[_Union[_turnkeeper_pb2.AfterModelRequest, _Mapping]] = ..., end_request: _Optional[_Union[_turnkeeper_pb2.EndRequestRequest, _Mapping]] = ..., lose_state: _Optional[bool] = ..., want: _Optional[_Union[Want, _Mapping]] = ...) -> None: ...

class Want(_message.Message):
    __slots__ = ("before_model", "after_model", "end_request", "status", "zero", "filled")
    BEFORE_MODEL_FIELD_NUMBER: _ClassVar[int]
    AFTER_MODEL_FIELD_NUMBER: _ClassVar[int]
    END_REQUEST_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ZERO_FIELD_NUMBER: _ClassVar[int]
    FILLED_FIELD_NUMBER: _ClassVar[int]
    before_model: _turnkeeper_pb2.BeforeModelResponse
    after_model: _turnkeeper_pb2.AfterModelResponse
    end_request: _turnkeeper_pb2.EndRequestResponse
    status: WantStatus
    zero: _containers.RepeatedScalarFieldContainer[str]
    filled: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, before_model: _Optional[_Union[_turnkeeper_pb2.BeforeModelResponse, _Mapping]] = ..., after_model: _Optional[_Union[_turnkeeper_pb2.AfterModelResponse, _Mapping]] = ..., end_request: _Optional[_Union[_turnkeeper_pb2.EndRequestResponse, _Mapping]] = ..., status: _Optional[_Union[WantStatus, _Mapping]] = ..., zero: _Optional[_Iterable[str]] = ..., filled: _Optional[_Iterable[str]] = ...) -> None: ...

class WantStatus(_message.Message):
    __slots__ = ("code", "message_contains")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_CONTAINS_FIELD_NUMBER: _ClassVar[int]
    code: str
    message_contains: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, code: _Optional[str] = ..., message_contains: _Optional[_Iterable[str]] = ...) -> None: ...
