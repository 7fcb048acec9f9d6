"""What a policy makes of a run."""

from collections.abc import Callable
from pathlib import Path

from turnkeeper.core.events import Usage
from turnkeeper.core.model import Enforcement, Unit, Verdict
from turnkeeper.core.policy import Act, Budgets, Detector, Limit, Policy
from turnkeeper.replay.player import Played, Size, judge
from turnkeeper.replay.runs import FunctionCall, FunctionResult, Response, Run

Play = Callable[[Path], list[Played]]


def same(turns: int, *, answer: bool = True, **told: int) -> Run:
    """A run of equal turns of ten tokens, a second apart."""
    prompt = [
        Response(
            (FunctionCall("f", "{}"),),
            (FunctionResult(0, b"r"),),
            Usage(total_tokens=10),
            asked_ns=at * 10**9,
            told_ns=at * 10**9,
        )
        for at in range(turns)
    ]
    if answer:
        prompt.append(Response(usage=Usage(total_tokens=10)))
    return Run("r", "f:1", (tuple(prompt),))


def limit(n: int, before: Verdict | None = None, after: Verdict | None = None) -> Policy:
    acts = [None if verdict is None else Act(verdict) for verdict in (before, after)]
    return Policy("p", limits=(Limit(Unit.TURNS, n, before=acts[0], after=acts[1]),))


def test_a_loop_is_stopped_at_its_fourth_lap(played: Play, data: Path) -> None:
    stuck, polls, shop = played(data / "trajectories.jsonl")
    stop = stuck.verdicts[0].stop
    assert stop is not None
    assert (stop.prompt, stop.turn, stop.point, stop.verdict, stop.reason) == (
        1,
        5,
        "after_model",
        "force_none",
        "repetition",
    )
    assert stop.saved == Size(4, 5, 90)
    assert polls.verdicts[0].stop is None
    assert polls.verdicts[0].warnings == 0
    assert shop.verdicts[0].stop is None
    assert shop.lengths == (1, 1)


def test_every_format_is_played(played: Play, data: Path) -> None:
    stops = {
        path.name: {each.verdicts[0].stop.reason if each.verdicts[0].stop else None for each in played(path)}
        for path in data.glob("*.json*")
    }
    assert stops == {
        "anthropic.jsonl": {"error_streak"},
        "atif.json": {None},
        "events.jsonl": {"repetition", None},
        "gemini.json": {"repetition"},
        "openai.jsonl": {"repetition"},
        "otlp.jsonl": {"repetition", None},
        "trajectories.jsonl": {"repetition", None},
    }


def test_none_before_an_answer_stops_nothing() -> None:
    verdicts = judge(same(3), limit(3, before=Verdict.FORCE_NONE))
    assert verdicts.stop is None
    assert verdicts.forced_answers == 1


def test_none_before_a_turn_saves_it_and_leaves_one_answer() -> None:
    stop = judge(same(5), limit(3, before=Verdict.FORCE_NONE)).stop
    assert stop is not None
    assert (stop.turn, stop.point, stop.reason, stop.saved) == (4, "before_model", "turn_limit", Size(2, 2, 20))


def test_reject_before_an_answer_takes_it_away() -> None:
    stop = judge(same(3), limit(3, before=Verdict.REJECT)).stop
    assert stop is not None
    assert stop.saved == Size(0, 0, 10)


def test_reject_after_a_turn_saves_what_follows() -> None:
    stop = judge(same(5), limit(3, after=Verdict.REJECT)).stop
    assert stop is not None
    assert (stop.turn, stop.point, stop.saved) == (4, "after_model", Size(1, 2, 20))


def test_the_rest_of_the_run_is_saved_with_the_prompt() -> None:
    run = same(5)
    stop = judge(run._replace(prompts=run.prompts * 2), limit(3, after=Verdict.REJECT)).stop
    assert stop is not None
    assert stop.saved == Size(6, 7, 80)


def test_observing_policies_are_played_alike() -> None:
    policy = Policy("p", enforcement=Enforcement.OBSERVE, repetition=Detector(3))
    stop = judge(same(5), policy).stop
    assert stop is not None
    assert (stop.turn, stop.verdict) == (3, "force_none")


def test_time_runs_where_the_recording_has_it() -> None:
    policy = Policy("p", budgets=Budgets(elapsed_ns=3 * 10**9))
    stop = judge(same(6), policy).stop
    assert stop is not None
    assert (stop.turn, stop.reason) == (4, "time_budget")
    without = same(6)
    timeless = tuple(response._replace(asked_ns=0, told_ns=0) for response in without.prompts[0])
    assert judge(without._replace(prompts=(timeless,)), policy).stop is None


def test_arguments_that_were_not_told_equal_no_others() -> None:
    run = same(6)
    untold = tuple(
        response._replace(calls=tuple(FunctionCall("f", None) for _ in response.calls)) for response in run.prompts[0]
    )
    assert judge(run._replace(prompts=(untold,)), Policy("p", repetition=Detector(3))).stop is None


def test_arguments_that_a_policy_ignores_do_not_tell_calls_apart() -> None:
    run = same(6)
    moving = tuple(
        response._replace(calls=tuple(FunctionCall("f", f'{{"page": {at}}}') for _ in response.calls))
        for at, response in enumerate(run.prompts[0])
    )
    run = run._replace(prompts=(moving,))
    assert judge(run, Policy("p", repetition=Detector(3))).stop is None
    assert judge(run, Policy("p", repetition=Detector(3), ignore_args={"f": (("page",),)})).stop is not None
