"""Which facts leave the process: what the OpenTelemetry variables say, read from a mapping.

Law: a decision that is not ALLOW is always told; sampling is for ALLOW alone. The variables and their values are
those of the OpenTelemetry specification; a value it does not know is warned of once, and its default holds.
"""

import logging
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

TRACES, METRICS, LOGS = "TRACES", "METRICS", "LOGS"
DEFAULT_SAMPLER = "parentbased_always_on"
SAMPLED = 0x01

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")
_FLAGS = slice(53, 55)  # of a traceparent
_LOW_64_BITS = slice(16, 32)  # of a trace id: the part that the ratio looks at
_log = logging.getLogger(__name__)

Keep = Callable[[str, str], bool]


class TraceParent(NamedTuple):
    """A W3C traceparent: who called, and whether it is sampled."""

    trace_id: str
    span_id: str
    flags: int


def parse_traceparent(value: str) -> TraceParent | None:
    """Return the parts of a W3C traceparent, or None when it is not a valid one."""
    match = _TRACEPARENT.match(value)
    if match is None or (value.startswith("00") and match.end() != len(value)):
        return None
    return TraceParent(match[1], match[2], int(match[3], 16))


def signal_exported(environ: Mapping[str, str], signal: str) -> bool:
    """Tell whether one of TRACES, METRICS and LOGS has an endpoint and is not switched off."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporters = environ.get(f"OTEL_{signal}_EXPORTER", "") or "otlp"
    if "otlp" not in {name.strip() for name in exporters.split(",")}:
        return False
    return bool(environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT") or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"))


def exports(environ: Mapping[str, str]) -> bool:
    """Tell whether any signal is exported."""
    return any(signal_exported(environ, signal) for signal in (TRACES, METRICS, LOGS))


class Sampler:
    """``keep(traceparent, trace_id)`` tells whether the span of an ALLOW is exported."""

    __slots__ = ("keep",)

    keep: Keep

    def __init__(self, environ: Mapping[str, str]) -> None:
        name = environ.get("OTEL_TRACES_SAMPLER", "").strip().lower() or DEFAULT_SAMPLER
        self.keep = _never
        if signal_exported(environ, TRACES):
            self.keep = _sampler(name, environ.get("OTEL_TRACES_SAMPLER_ARG", ""))


def _sampler(name: str, argument: str) -> Keep:
    based_on_parent, root = name.startswith("parentbased_"), name.removeprefix("parentbased_")
    if root not in {"always_on", "always_off", "traceidratio"}:
        fields = {"OTEL_TRACES_SAMPLER": name, "used": DEFAULT_SAMPLER}
        _log.warning("unknown sampler, the default is used", extra={"fields": fields})
        return _follow_parent(_always)
    keep = {"always_on": _always, "always_off": _never}.get(root) or _by_ratio(_ratio(argument))
    return _follow_parent(keep) if based_on_parent else keep


def _ratio(argument: str) -> float:
    try:
        ratio = float(argument or 1.0)
    except ValueError:
        ratio = -1.0
    if 0.0 <= ratio <= 1.0:
        return ratio
    fields = {"OTEL_TRACES_SAMPLER_ARG": argument, "allowed": "0.0 to 1.0", "used": 1.0}
    _log.warning("not a ratio, every trace is kept", extra={"fields": fields})
    return 1.0


def _always(traceparent: str, trace_id: str) -> bool:  # noqa: ARG001 - one signature for all
    return True


def _never(traceparent: str, trace_id: str) -> bool:  # noqa: ARG001 - one signature for all
    return False


def _by_ratio(ratio: float) -> Keep:
    bound = round(ratio * 2**64)

    def keep(traceparent: str, trace_id: str) -> bool:  # noqa: ARG001 - one signature for all
        return int(trace_id[_LOW_64_BITS], 16) < bound

    return keep


def _follow_parent(root: Keep) -> Keep:
    def keep(traceparent: str, trace_id: str) -> bool:
        if not traceparent:
            return root(traceparent, trace_id)
        try:
            return bool(int(traceparent[_FLAGS], 16) & SAMPLED)
        except ValueError:  # not a valid one: as if there were none
            return root(traceparent, trace_id)

    return keep
