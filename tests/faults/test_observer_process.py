"""Whatever happens to the observer, nothing waits for it and every fact is accounted for."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop
from observer_feed import Rig, feeding, observer_pids, signal_observer, until

from turnkeeper.facts import feed as feed_module

DECISIONS = (
    'turnkeeper_decisions_total{gen_ai_agent_name="helper",turnkeeper_enforced="true",turnkeeper_point="after_model",'
    'turnkeeper_policy_name="default",turnkeeper_reason="turn_limit",turnkeeper_verdict="reject"}'
)
RESTARTS = "turnkeeper_observer_restarts_total"
LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [asyncio.new_event_loop, uvloop.new_event_loop]


async def load(rig: Rig, stop: asyncio.Event) -> None:
    while not stop.is_set():
        rig.decide(20)
        await asyncio.sleep(0.001)


async def restarted(rig: Rig, times: int) -> None:
    await until(lambda: rig.feed.restarts == times)


async def tells_more(rig: Rig) -> None:
    told = rig.feed.told
    await until(lambda: rig.feed.told > told)


async def shown(rig: Rig, sample: str, value: float) -> None:
    """Wait until ``/metrics`` shows a value."""
    for _ in range(200):
        found = (await rig.samples()).get(sample)
        if found == value:
            return
        await asyncio.sleep(0.05)
    message = f"{sample} is {found}, not {value}"
    raise AssertionError(message)


def lost(rig: Rig, cause: str) -> int:
    return rig.meters._counters["facts_dropped"][cause,]


@pytest.mark.parametrize("new_loop", LOOPS, ids=["asyncio", "uvloop"])
def test_killed_under_load_loses_no_count_and_accounts_for_every_fact(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def scenario() -> None:
        async with feeding({}) as rig:
            stop = asyncio.Event()
            loading = asyncio.create_task(load(rig, stop))
            for kills in (1, 2, 3):
                await until(lambda: rig.feed.told > 0 and rig.feed.running)
                await signal_observer(signal.SIGKILL)
                await restarted(rig, kills)
                await tells_more(rig)
            stop.set()
            await loading
            await rig.settled()
            assert rig.feed.offered == rig.feed.told + rig.feed.dropped
            assert rig.feed.dropped == lost(rig, "observer_lost") + lost(rig, "queue_full")
            await shown(rig, DECISIONS, rig.feed.offered)
            await shown(rig, RESTARTS, 3)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scenario())


def test_stopped_fills_the_queue_and_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "SILENT_TICKS", 3)
    monkeypatch.setattr(feed_module, "QUEUE_FACTS", 500)

    async def scenario() -> None:
        async with feeding({}) as rig:
            await until(lambda: rig.feed.running)
            rig.decide()
            await rig.settled()
            stopped = await signal_observer(signal.SIGSTOP)
            rig.decide(4_000)
            await until(lambda: lost(rig, "queue_full") > 0)
            await until(lambda: rig.feed.restarts == 1)
            await rig.settled()
            assert stopped not in observer_pids()
            assert lost(rig, "observer_lost") > 0
            assert rig.feed.offered == rig.feed.told + rig.feed.dropped
            await shown(rig, DECISIONS, 4_001)

    uvloop.run(scenario())


def test_an_interrupt_is_for_the_daemon() -> None:
    async def scenario() -> None:
        async with feeding({}) as rig:
            rig.decide()
            await rig.settled()
            interrupted = await signal_observer(signal.SIGINT)
            await signal_observer(signal.SIGTERM)
            assert os.getpgid(interrupted) != os.getpgid(0)
            rig.decide()
            await rig.settled()
            assert observer_pids() == [interrupted]
            assert rig.feed.told == 2

    uvloop.run(scenario())


def test_a_stop_tells_what_is_queued() -> None:
    async def scenario() -> Rig:
        async with feeding({}) as rig:
            await until(lambda: rig.feed.running)
            rig.decide(3_000)
        return rig

    rig = uvloop.run(scenario())
    assert (rig.feed.told, rig.feed.dropped) == (3_000, 0)
    assert observer_pids() == []


def test_a_stop_keeps_its_deadline_when_the_observer_is_stopped() -> None:
    async def scenario() -> Rig:
        async with feeding({}, stop_s=1.0) as rig:
            rig.decide()
            await rig.settled()
            await signal_observer(signal.SIGSTOP)
            rig.decide(10)
            await asyncio.wait_for(rig.feed.stop(1.0), 3.0)
            return rig

    rig = uvloop.run(scenario())
    assert rig.feed.offered == rig.feed.told + rig.feed.dropped == 11
    assert observer_pids() == []


ORPHAN = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from observer_feed import feeding, observer_pids, until

async def scenario():
    async with feeding({{}}) as rig:
        rig.decide()
        await rig.settled()
        print(*observer_pids(), flush=True)
        await asyncio.sleep(60)

asyncio.run(scenario())
"""


def test_it_ends_with_the_process_that_feeds_it() -> None:
    script = ORPHAN.format(tests=str(Path(__file__).parents[1]))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()

    def gone() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    asyncio.run(until(gone))
