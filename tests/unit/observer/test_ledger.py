"""The account of facts."""

import random

from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.facts.records import Report
from turnkeeper.observer.ledger import Ledger

ITEMS = st.lists(st.lists(st.sampled_from(["", "export_failed", "export_queue_full"]), max_size=4), max_size=30)


@given(ITEMS, st.randoms(use_true_random=False))
def test_each_fact_is_settled_once_whatever_the_order(facts: list[list[str]], order: random.Random) -> None:
    ledger = Ledger()
    settlings = [(seq, cause) for seq, causes in enumerate(facts) for cause in causes]
    order.shuffle(settlings)
    for seq, causes in enumerate(facts):
        ledger.open(seq, len(causes))
    for seq, cause in settlings:
        ledger.settle(seq, cause)
    report = ledger.report()
    assert report.told == sum(not any(causes) for causes in facts)
    assert report.told + sum(report.dropped.values()) == len(facts)


def test_the_first_cause_counts() -> None:
    ledger = Ledger()
    ledger.open(1, 3)
    ledger.settle(1)
    ledger.settle(1, "export_queue_full")
    assert ledger.report() == Report(0, {}, 0)
    ledger.settle(1, "export_failed")
    assert ledger.report() == Report(0, {"export_queue_full": 1}, 0)


def test_what_is_abandoned_is_settled_and_stays_so() -> None:
    ledger = Ledger()
    ledger.open(1, 1)
    ledger.open(2, 2)
    ledger.settle(2, "export_queue_full")
    ledger.abandon("export_failed")
    ledger.settle(1)
    assert ledger.report() == Report(0, {"export_failed": 1, "export_queue_full": 1}, 0)
