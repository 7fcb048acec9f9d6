"""Whatever the collector does, facts are read, memory is bounded, and what is lost is counted exactly."""

import asyncio

import pytest
import uvloop
from observer_feed import Rig, feeding, loop_end, policies, refusing_port, silent_port, until

PROTOCOLS = ["grpc", "http/protobuf"]
FAST = {
    "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
    "OTEL_BSP_SCHEDULE_DELAY": "50",
    "OTEL_BLRP_SCHEDULE_DELAY": "50",
    "OTEL_METRIC_EXPORT_INTERVAL": "100",
}
COMPLAINT = "the collector does not take what is exported"


def complaints(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if COMPLAINT in line]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_refusing_is_counted_and_said_once(protocol: str, capfd: pytest.CaptureFixture[str]) -> None:
    environ = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": refusing_port(), "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}

    async def scenario() -> None:
        async with feeding(environ) as rig:
            rig.decide(5)
            rig.offer(loop_end)
            rig.offer(policies)
            await rig.settled()
            await until(lambda: rig.feed.export_failures >= 4)
            assert (rig.feed.told, rig.feed.dropped) == (0, 7)
            await dropped_shown(rig, 'turnkeeper_facts_dropped_total{turnkeeper_reason="export_failed"}', 7)
            assert (await rig.get("/readyz"))[0] == 200

    uvloop.run(scenario())
    stderr = capfd.readouterr().err
    assert len(complaints(stderr)) == 1, stderr
    assert "Traceback" not in stderr


async def dropped_shown(rig: Rig, sample: str, value: float) -> None:
    for _ in range(200):
        if (found := (await rig.samples())[sample]) == value:
            return
        await asyncio.sleep(0.05)
    message = f"{sample} is {found}, not {value}"
    raise AssertionError(message)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_hanging_fills_bounded_queues_and_a_stop_keeps_its_deadline(
    protocol: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async def scenario(endpoint: str) -> None:
        environ = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_BSP_MAX_QUEUE_SIZE": "600",
            "OTEL_LOGS_EXPORTER": "none",
        }
        async with feeding(environ) as rig:
            rig.decide(3_000)
            await until(lambda: rig.feed.dropped == 2_400)
            sample = 'turnkeeper_facts_dropped_total{turnkeeper_reason="export_queue_full"}'
            await dropped_shown(rig, sample, 2_400)
            rig.decide(10)
            await until(lambda: rig.feed.dropped == 2_410)
            await asyncio.wait_for(rig.feed.stop(1.5), 4.0)
            assert (rig.feed.offered, rig.feed.told, rig.feed.dropped) == (3_010, 0, 3_010)

    with silent_port() as endpoint:
        uvloop.run(scenario(endpoint))
    assert "Traceback" not in capfd.readouterr().err


def test_variables_that_cannot_be_used_are_said_and_end_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": refusing_port(), "OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}

    async def scenario() -> None:
        async with feeding(environ) as rig:
            rig.decide()
            await rig.settled()
            assert (rig.feed.told, rig.feed.restarts) == (1, 0)

    uvloop.run(scenario())
    assert capfd.readouterr().err.count("its OTEL_ variables cannot be used") == 3


@pytest.mark.parametrize("switch", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_what_is_switched_off_is_not_exported(switch: dict[str, str]) -> None:
    environ = {**FAST, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": refusing_port(), **switch}

    async def scenario() -> None:
        async with feeding(environ) as rig:
            rig.decide()
            await rig.settled()
            assert (rig.feed.told, rig.feed.dropped, rig.feed.export_failures) == (1, 0, 0)

    uvloop.run(scenario())
