"""The queue of a feed, without an observer."""

import asyncio
import sys
import time

import pytest
from observer_feed import decision, until

from turnkeeper.facts import feed as feed_module
from turnkeeper.facts.feed import Feed
from turnkeeper.facts.meters import Meters
from turnkeeper.facts.records import Status


def made(meters: Meters) -> Feed:
    return Feed(
        meters,
        version="1",
        started_ns=1,
        instance_id="i",
        admin_socket=None,
        status=lambda: Status(0, ready=True, reason="", body="{}"),
        environ={},
        clock_ns=time.time_ns,
    )


def test_a_full_queue_drops_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "QUEUE_FACTS", 3)
    meters = Meters()
    feed = made(meters)
    for _ in range(5):
        feed.offer(decision(feed.take_seq()))
    assert (feed.offered, feed.dropped, feed.pending, feed.told) == (5, 2, 3, 0)
    assert not feed.running


def test_an_observer_that_does_not_start_is_tried_again_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")

    async def scenario() -> Feed:
        feed = made(Meters())
        await feed.start()
        feed.offer(decision(feed.take_seq()))
        await until(lambda: feed.restarts >= 2)
        await feed.stop(1.0)
        return feed

    feed = asyncio.run(scenario())
    assert (feed.offered, feed.told, feed.dropped) == (1, 0, 1)
    assert "the observer does not start" in caplog.text
