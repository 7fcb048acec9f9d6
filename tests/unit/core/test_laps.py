"""Repetition, cycles and error streaks, in a notation.

``A=1`` is a turn that calls A and gets result 1, ``A+B=1,2`` one with two calls, ``A=!1`` an error, ``A`` a turn whose
result is not told, ``.`` a response without a call.
"""

from typing import NamedTuple

import pytest
from told import Loop, after, before

from turnkeeper.core.events import Call, Result
from turnkeeper.core.model import Verdict
from turnkeeper.core.policy import Detector, ErrorStreak, Policy

REPEAT = Policy("p", repetition=Detector(3))
CYCLE = Policy("p", cycle=Detector(2, max_period=6))
CYCLE3 = Policy("p", cycle=Detector(3, 2, max_period=6))
BOTH = Policy("p", repetition=Detector(4, 3), cycle=Detector(2, max_period=6))
CALLS = Policy("p", repetition=Detector(2, same_result=False))
ERRORS = Policy("p", error_streak=ErrorStreak(3))


class Told(NamedTuple):
    """Where something was said: the turn, counted from 1, and the point."""

    turn: int
    point: str
    reason: str


def turn(number: int, text: str) -> tuple[list[Call], list[Result]]:
    names, _, answers = text.partition("=")
    if names == ".":
        return [], []
    calls = [Call(f"{number}.{at}", name, name.encode()) for at, name in enumerate(names.split("+"))]
    told = answers.split(",") if answers else []
    return calls, [
        Result(call.id, call.name, answer.encode(), is_error=answer.startswith("!"))
        for call, answer in zip(calls, told, strict=False)
    ]


def play(policy: Policy, text: str, *, on: bool = False) -> tuple[list[Told], list[Told]]:
    """Return the stops and the warnings; only the first stop, unless played ``on``."""
    loop = Loop(policy)
    stops, warnings = [], []
    results: list[Result] = []
    for number, each in enumerate([*text.split(), "."], 1):
        calls, answers = turn(number, each)
        for event, point in (
            (before(number, results=tuple(results)), "before"),
            (after(number, *calls), "after"),
        ):
            loop.tell(event)
            warnings += [Told(number, point, warning.reason.name) for warning in loop.decision.warnings]
            if loop.decision.verdict is not Verdict.ALLOW:
                stops.append(Told(number, point, loop.decision.reason.name))
        if stops and not on:
            break
        results = answers
    return stops, warnings


def stop(policy: Policy, text: str) -> Told | None:
    stops, _ = play(policy, text)
    return stops[0] if stops else None


@pytest.mark.parametrize(
    ("policy", "turns", "expected"),
    [
        (REPEAT, "A=1 A=1 A=1", Told(3, "after", "REPETITION")),
        (REPEAT, "A=1 A=1", None),
        (REPEAT, "B=1 A=1 A=1 A=1", Told(4, "after", "REPETITION")),
        # polling that makes progress, also late
        (REPEAT, "A=1 A=2 A=3 A=4 A=5", None),
        (REPEAT, "A=1 A=1 A=2 A=2 A=3", Told(3, "after", "REPETITION")),
        (Policy("p", repetition=Detector(4)), "A=1 A=1 A=2 A=2 A=3 A=3", None),
        # results that were never told are equal
        (REPEAT, "A A A", Told(3, "after", "REPETITION")),
        (REPEAT, "A=1 A A", None),
        # the same thing rolled twice in one response is no loop
        (REPEAT, "A+A=1,1 B=1", None),
        (REPEAT, "A+A=1,1 A=1 A=1", Told(3, "after", "REPETITION")),
        # order within a response does not matter
        (REPEAT, "A+B=1,2 B+A=2,1 A+B=1,2", Told(3, "after", "REPETITION")),
        (REPEAT, "A+B=1,2 A=1 A+B=1,2", None),
        # a text between neither adds nor breaks
        (REPEAT, "A=1 . A=1 . A=1", Told(5, "after", "REPETITION")),
        (REPEAT, "A=1 B=1 A=1 B=1 A=1 B=1", None),
        # calls alone
        (CALLS, "A=1 A=2", Told(2, "after", "REPETITION")),
        (CALLS, "A=1 B=1 A=1", None),
        # cycles of any period up to six, and no more
        (CYCLE, "A=1 B=2 A=1 B=2", Told(4, "after", "CYCLE")),
        (CYCLE, "A=1 B=2 A=1 C=2", None),
        (CYCLE, "A=1 B=2 A=1 B=2 ", Told(4, "after", "CYCLE")),
        (CYCLE, "A=1 B=2 C=3 A=1 B=2 C=3", Told(6, "after", "CYCLE")),
        (CYCLE, "A=1 B=2 C=3 D=4 E=5 A=1 B=2 C=3 D=4 E=5", Told(10, "after", "CYCLE")),
        (CYCLE, "A B C D E F A B C D E F", Told(12, "after", "CYCLE")),
        (CYCLE, "A B C D E F G A B C D E F G", None),
        (Policy("p", cycle=Detector(2, max_period=2)), "A B C A B C", None),
        (CYCLE3, "A=1 B=2 A=1 B=2 A=1 B=2", Told(6, "after", "CYCLE")),
        # a cycle whose results move is work: edit, test, edit, test
        (CYCLE3, "A=ok B=!3 A=ok B=!2 A=ok B=!1 A=ok B=ok", None),
        (CYCLE, "A=1 B=1 A=2 B=2 A=3 B=3", None),
        # one call over and over is no cycle, whether repetition is judged or not
        (CYCLE, "A=1 A=1 A=1 A=1 A=1 A=1", None),
        (BOTH, "A=1 A=1 A=1 A=1", Told(4, "after", "REPETITION")),
        # drifting arguments are nothing to these rules
        (BOTH, "A1=x A2=x A3=x A4=x A5=x A6=x", None),
        # errors
        (ERRORS, "A=!1 B=!1 C=!1", Told(4, "before", "ERROR_STREAK")),
        (ERRORS, "A=!1 B=!2 C=!1", None),
        (ERRORS, "A=!1 B=ok C=!1 D=!1", None),
        (ERRORS, "A+B=!1,ok A+B=!1,ok A+B=!1,ok", None),
        (ERRORS, "A+B=!1,!1 A=!1 B=!1", Told(4, "before", "ERROR_STREAK")),
        (ERRORS, "A=!1 B=!1 C", None),
        (
            Policy("p", error_streak=ErrorStreak(3, same_error=False)),
            "A=!1 B=!2 C=!3",
            Told(4, "before", "ERROR_STREAK"),
        ),
        (
            Policy("p", error_streak=ErrorStreak(2, all_results=False)),
            "A+B=!1,ok A+B=!1,ok",
            Told(3, "before", "ERROR_STREAK"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_first_stop(policy: Policy, turns: str, expected: Told | None) -> None:
    assert stop(policy, turns) == expected


def test_the_first_lap_may_be_anywhere_in_the_cycle() -> None:
    assert stop(BOTH, "X=0 B=2 A=1 B=2 A=1") == Told(5, "after", "CYCLE")


def test_warned_once_then_at_doublings() -> None:
    policy = Policy("p", repetition=Detector(20, 2))
    _, warnings = play(policy, " ".join(["A=1"] * 10))
    assert [each.turn for each in warnings] == [3, 5, 9]


def test_what_makes_progress_is_not_warned() -> None:
    assert play(Policy("p", repetition=Detector(4, 2)), "A=1 A=2 A=3 A=4") == ([], [])


def test_a_pattern_that_was_warned_acts_at_once_when_it_returns() -> None:
    policy = Policy("p", repetition=Detector(4, 2))
    stops, warnings = play(policy, "A=1 A=1 B=1 C=1 A=1 A=1")
    assert [each.turn for each in warnings] == [3]
    assert stops == [Told(6, "after", "REPETITION")]
    assert stop(policy, "A=1 B=1 C=1 A=1 A=1") is None


def test_another_pattern_is_not_taken_for_the_one_that_was_warned() -> None:
    assert stop(Policy("p", repetition=Detector(4, 2)), "A=1 A=1 B=1 C=1 C=1 D=1") is None


def test_what_a_blocked_call_is_answered_is_no_progress() -> None:
    stops, _ = play(REPEAT, "A=1 A=1 A=refused A=refused A=again", on=True)
    assert [(each.turn, each.reason) for each in stops if each.point == "after"] == [
        (3, "REPETITION"),
        (4, "REPETITION"),
        (5, "REPETITION"),
    ]


@pytest.mark.parametrize("exempt", ["may_repeat", "may_cycle", "may_fail"])
def test_a_tool_may_be_exempt(exempt: str) -> None:
    policy = Policy(
        "p",
        repetition=Detector(3),
        cycle=Detector(2, max_period=6),
        error_streak=ErrorStreak(3),
        **{exempt: frozenset({"A"})},  # type: ignore[arg-type] - one of the three sets
    )
    found = {
        "may_repeat": stop(policy, "A=1 A=1 A=1 A=1"),
        "may_cycle": stop(policy, "A=1 B=1 A=1 B=1 A=1"),
        "may_fail": stop(policy, "A=!1 A+B=!1,!1 A+C=!1,!1 A=!1"),
    }
    assert found.pop(exempt) is None
    assert None not in found.values()


def test_a_message_says_what_repeats_and_the_hint_what_to_do() -> None:
    loop = Loop(BOTH)
    for number in range(1, 5):
        results = (Result(str(number - 1), "A", b"1"),) if number > 1 else ()
        loop.tell(before(number, results=results), after(number, Call(str(number), "A", b"A")))
    assert loop.decision.message == "the same function calls 4 times in a row with equal results"
    assert "Asking again will not help" in loop.decision.model_hint
