"""A core answer to the bytes of a response."""

from turnkeeper.core.model import AfterAnswer, BeforeAnswer, CallVerdict, Counters, Decision, EndAnswer
from turnkeeper.v1 import turnkeeper_pb2 as pb

NS = 1_000_000_000


def before_model(answer: BeforeAnswer) -> bytes:
    """Encode a BeforeModelResponse."""
    return pb.BeforeModelResponse(
        decision=decision(answer.decision),
        mode=answer.mode,  # type: ignore[arg-type]  # open enum: a mode from the future is echoed
        drop_declarations=answer.drop_declarations,
        declare_tools=answer.declare_tools,
        model_call=answer.model_call,
    ).SerializeToString()


def after_model(answer: AfterAnswer) -> bytes:
    """Encode an AfterModelResponse."""
    calls = [_call(verdict) for verdict in answer.calls]
    return pb.AfterModelResponse(decision=decision(answer.decision), calls=calls).SerializeToString()


def end_request(answer: EndAnswer) -> bytes:
    """Encode an EndRequestResponse."""
    return pb.EndRequestResponse(counters=counters(answer.counters)).SerializeToString()


def decision(value: Decision) -> pb.Decision:
    """Return the message of a decision."""
    return pb.Decision(
        verdict=int(value.verdict),  # type: ignore[arg-type]  # numbers are the contract's
        reason=int(value.reason),  # type: ignore[arg-type]
        message=value.message,
        model_hint=value.model_hint,
        disposition=int(value.disposition),  # type: ignore[arg-type]
        policy=value.policy,
        policy_version=value.policy_version,
        enforced=value.enforced,
        verdict_if_enforced=int(value.verdict_if_enforced),  # type: ignore[arg-type]
        decision_id=value.decision_id,
        counters=counters(value.counters),
        warnings=[
            pb.Warning(reason=int(warning.reason), message=warning.message, model_hint=warning.model_hint)  # type: ignore[arg-type]
            for warning in value.warnings
        ],
    )


def counters(value: Counters) -> pb.Counters:
    """Return the message of counters."""
    message = pb.Counters(
        turns=value.turns,
        model_calls=value.model_calls,
        function_calls=value.function_calls,
        tokens=value.tokens,
        cost_micro_usd=value.cost_micro_usd,
        limit=value.limit,
        remaining=value.remaining,
        limit_off=value.limit_off,
        unit=int(value.unit),  # type: ignore[arg-type]
    )
    message.elapsed.seconds, message.elapsed.nanos = divmod(value.elapsed_ns, NS)
    return message


def _call(verdict: CallVerdict) -> pb.CallVerdict:
    return pb.CallVerdict(
        call_id=verdict.call_id,
        name=verdict.name,
        run=verdict.run,
        reason=int(verdict.reason),  # type: ignore[arg-type]
        result_text=verdict.result_text,
    )
