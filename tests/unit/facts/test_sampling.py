"""Which facts leave the process."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.facts.sampling import LOGS, TRACES, Sampler, exports, parse_traceparent, signal_exported

ON = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"}
TRACE = "0af7651916cd43dd8448eb211c80319c"
SAMPLED = f"00-{TRACE}-b7ad6b7169203331-01"
UNSAMPLED = f"00-{TRACE}-b7ad6b7169203331-00"
LOW, HIGH = "f" * 16 + "0" * 16, "0" * 16 + "f" * 16


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (ON, True),
        ({**ON, "OTEL_SDK_DISABLED": "True"}, False),
        ({**ON, "OTEL_SDK_DISABLED": "false"}, True),
        ({"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://collector:4317"}, True),
        ({**ON, "OTEL_TRACES_EXPORTER": "none"}, True),
        ({**ON, **{f"OTEL_{signal}_EXPORTER": "none" for signal in ("TRACES", "METRICS", "LOGS")}}, False),
    ],
)
def test_exports(environ: dict[str, str], *, expected: bool) -> None:
    assert exports(environ) is expected


def test_one_signal_alone() -> None:
    environ = {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://collector:4317"}
    assert signal_exported(environ, LOGS)
    assert not signal_exported(environ, TRACES)
    assert not Sampler(environ).keep(SAMPLED, TRACE), "no traces: no span is worth making"


@pytest.mark.parametrize(
    ("name", "argument", "kept"),
    [
        ("", "", "y-yy"),
        ("parentbased_always_on", "", "y-yy"),
        ("parentbased_always_off", "", "y---"),
        ("parentbased_traceidratio", "0.5", "y-y-"),
        ("always_on", "", "yyyy"),
        ("always_off", "", "----"),
        ("traceidratio", "0.5", "--y-"),
        ("traceidratio", "0", "----"),
        ("traceidratio", "", "yyyy"),
        (" AlwaysOn ", "", "y-yy"),
    ],
)
def test_samplers(name: str, argument: str, kept: str) -> None:
    """``kept``: of a sampled caller, an unsampled one, none with a low trace id, none with a high one."""
    keep = Sampler({**ON, "OTEL_TRACES_SAMPLER": name, "OTEL_TRACES_SAMPLER_ARG": argument}).keep
    found = (keep(SAMPLED, TRACE), keep(UNSAMPLED, TRACE), keep("", LOW), keep("", HIGH))
    assert "".join("y" if one else "-" for one in found) == kept


@pytest.mark.parametrize(
    "environ",
    [
        {"OTEL_TRACES_SAMPLER": "jaeger_remote"},
        {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "half"},
        {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1.5"},
        {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "nan"},
    ],
)
def test_unknown_values_are_warned_of_once(environ: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        sampler = Sampler({**ON, **environ})
        assert sampler.keep("", HIGH)
        assert sampler.keep(SAMPLED, HIGH)
    assert len(caplog.records) == 1


@given(st.text())
def test_keep_never_raises(traceparent: str) -> None:
    assert isinstance(Sampler(ON).keep(traceparent, TRACE), bool)


def test_traceparent() -> None:
    assert parse_traceparent(SAMPLED) == (TRACE, "b7ad6b7169203331", 1)
    assert parse_traceparent(f"cc-{TRACE}-b7ad6b7169203331-01-what.the.future") == (TRACE, "b7ad6b7169203331", 1)


@pytest.mark.parametrize(
    "value",
    [
        "",
        f"ff-{TRACE}-b7ad6b7169203331-01",
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-b7ad6b7169203331-01",
        f"00-{TRACE}-b7ad6b7169203331-01-more",
        f"00-{TRACE}-b7ad6b7169203331",
        f"00-{TRACE}-b7ad6b7169203331-01\n",
    ],
)
def test_no_traceparent(value: str) -> None:
    assert parse_traceparent(value) is None
