"""``make judge``: loop detectors and turn caps, measured on recorded runs; writes ``daemon/DETECTORS.md``.

Law: our figures come from the rules themselves, played as ``turnkeeper replay`` plays them. A run is stopped when a
turn of it is kept from being run. The values of the policy `watchful` in daemon/examples are judged, not a copy of them.
"""

import argparse
import gzip
import hashlib
import json
import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import rules

from turnkeeper import policies
from turnkeeper.core.model import Unit, Verdict
from turnkeeper.core.policy import Act, Detector, ErrorStreak, Limit, Policy
from turnkeeper.replay.formats import recorded
from turnkeeper.replay.player import Stop, judge
from turnkeeper.replay.runs import Run

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "daemon" / "examples" / "watchful.yaml"
DOCUMENT = ROOT / "daemon" / "DETECTORS.md"
CAPS = (5, 10, 15, 20, 25, 50)
IN_TIME = 3  # turns after the first of the loop


class Labelled(NamedTuple):
    """A run with its hindsight label, and which half it is in."""

    run: Run
    told: dict[str, Any]
    half: int


class Place(NamedTuple):
    prompt: int
    turn: int


Find = Callable[[Labelled], Place | None]


class Score(NamedTuple):
    """What one detector did, on all runs or on a half of them."""

    succeeded: int
    false_stops: int
    loops: int
    caught: int
    in_time: int
    after: float | None
    others: int  # failed runs without a label that were stopped

    @property
    def false_share(self) -> float:
        return self.false_stops / self.succeeded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="?", default=os.environ.get("TURNKEEPER_TRAJECTORIES", ""))
    parser.add_argument("--policies", type=Path, help="judge the policy watchful of this file, and write no document")
    asked = parser.parse_args()
    if not asked.runs or not Path(asked.runs).is_file():
        where = f"at {asked.runs}" if asked.runs else "given, by argument or in TURNKEEPER_TRAJECTORIES"
        sys.stdout.write(f"not run: no recorded runs {where}\n")
        return
    policy = replace(policies.load(asked.policies or EXAMPLE).policies["watchful"], limits=(), budgets=None)
    if policy.repetition is None and policy.cycle is None and policy.error_streak is None:
        sys.exit("the policy watchful has no detector to judge")
    document = written(load(Path(asked.runs)), policy)
    sys.stdout.write(document)
    if asked.policies is None:
        DOCUMENT.write_text(document, "utf-8")


def load(path: Path) -> list[Labelled]:
    """Read the runs; halves are by a hash of the id."""
    runs = []
    with gzip.open(path) as lines:
        for number, line in enumerate(lines, 1):
            told = json.loads(line)
            half = int(hashlib.sha256(told["id"].encode()).hexdigest()[8:16], 16) % 2
            runs.append(Labelled(recorded.read(line, str(number))[0], told, half))
    return runs


def ours(policy: Policy) -> Find:
    """Return where the rules of a policy stop a run."""

    def find(labelled: Labelled) -> Place | None:
        stop = judge(labelled.run, policy).stop
        return None if stop is None else Place(stop.prompt - 1, _index(labelled.run, stop))

    return find


def _index(run: Run, stop: Stop) -> int:
    """Return the index among all responses of the prompt: the label counts those without a call too."""
    turns = [index for index, response in enumerate(run.prompts[stop.prompt - 1]) if response.calls]
    return turns[stop.turn - 1]


def theirs(rule: rules.Rule) -> Find:
    """Return where another system's rule stops a run."""

    def find(labelled: Labelled) -> Place | None:
        for number, prompt in enumerate(rules.prompts(labelled.told)):
            turn = rule(prompt)
            if turn is not None:
                return Place(number, turn)
        return None

    return find


def score(runs: list[Labelled], places: dict[str, Place]) -> Score:
    """Compare stops with labels."""
    succeeded = [each for each in runs if each.told["success"]]
    looped = [each for each in runs if each.told["loop"]]
    found = [(each.told["loop"], places[each.run.id]) for each in looped if _catches(each, places.get(each.run.id))]
    after = [place.turn - loop["first_turn"] for loop, place in found if place.prompt == loop["prompt"]]
    others = [each for each in runs if each.told["success"] is False and not each.told["loop"]]
    return Score(
        len(succeeded),
        sum(_cuts(each, places.get(each.run.id)) for each in succeeded),
        len(looped),
        len(found),
        sum(turns <= IN_TIME for turns in after) + len(found) - len(after),
        statistics.median(after) if after else None,
        sum(_cuts(each, places.get(each.run.id)) for each in others),
    )


def _catches(labelled: Labelled, place: Place | None) -> bool:
    """Whether a stop comes before the loop is over, or right at its end."""
    loop = labelled.told["loop"]
    return place is not None and place <= (loop["prompt"], loop["first_turn"] + loop["period"] * loop["laps"])


def _cuts(labelled: Labelled, place: Place | None) -> bool:
    """Whether a stop takes anything away: one after the last turn of a run does not."""
    if place is None:
        return False
    prompts = labelled.told["prompts"]
    return place.prompt < len(prompts) - 1 or place.turn < len(prompts[place.prompt]["turns"])


def variants(policy: Policy) -> dict[str, Policy]:
    """Return the policy, and what would be other values."""
    rows = {"**turnkeeper, `watchful`**": policy}
    if held := policy.repetition:
        rows["repetition alone"] = replace(policy, cycle=None, error_streak=None)
        for at in (3, 5):
            rows[f"repetition at {at}"] = replace(policy, repetition=replace(held, at=at))
        rows["repetition warned at 2"] = replace(policy, repetition=replace(held, warn=2))
        rows["repetition, results ignored"] = replace(policy, repetition=replace(held, same_result=False))
    if policy.cycle:
        rows["cycle alone"] = replace(policy, repetition=None, error_streak=None)
        rows["cycle, results ignored"] = replace(policy, cycle=replace(policy.cycle, same_result=False))
        rows["cycle at 2"] = replace(policy, cycle=replace(policy.cycle, at=2, warn=None))
        rows["cycle at 4"] = replace(policy, cycle=replace(policy.cycle, at=4))
    if policy.error_streak:
        rows["error_streak alone"] = replace(policy, repetition=None, cycle=None)
        for at in (3, 4, 6):
            rows[f"error_streak at {at}"] = replace(policy, error_streak=replace(policy.error_streak, at=at, warn=None))
        any_error = replace(policy.error_streak, same_error=False)
        rows["error_streak of any errors"] = replace(policy, error_streak=any_error)
    return rows


def written(runs: list[Labelled], policy: Policy) -> str:
    """Return the document."""
    finds = {name: ours(each) for name, each in variants(policy).items()}
    finds |= {name: theirs(rule) for name, rule in rules.RULES.items()}
    places = {name: {each.run.id: at for each in runs if (at := find(each))} for name, find in finds.items()}
    halves = [[each for each in runs if each.half == half] for half in (0, 1)]
    scores = {name: [score(part, found) for part in (runs, *halves)] for name, found in places.items()}
    mine = next(iter(scores))
    return TEXT.format(
        runs=len(runs),
        prompts=sum(len(each.run.prompts) for each in runs),
        turns=sum(1 for each in runs for prompt in each.run.prompts for one in prompt if one.calls),
        succeeded=scores[mine][0].succeeded,
        loops=scores[mine][0].loops,
        labelled_good=sum(1 for each in runs if each.told["success"] and each.told["loop"]),
        values=values(policy),
        compared=table(scores, [mine, *rules.RULES]),
        variants=table(scores, [name for name in scores if name not in rules.RULES]),
        halves=halves_table(scores, [mine, *rules.RULES]),
        caps=caps_table(runs),
        in_time=IN_TIME,
        **reasons(scores),
    )


def reasons(scores: dict[str, list[Score]]) -> dict[str, str]:
    """Return the figures that the text names."""
    told = {}
    for word, name in (("three", "repetition at 3"), ("lap2", "cycle at 2"), ("error4", "error_streak at 4")):
        one = scores[name][0]
        told[f"{word}_false"] = f"{one.false_stops} ({100 * one.false_share:.2f} %)"
        told[f"{word}_in_time"] = f"{one.in_time} of {one.loops}"
    mine = scores[next(iter(scores))][0]
    return told | {"mine_in_time": f"{mine.in_time} of {mine.loops}", "mine_false": str(mine.false_stops)}


def values(policy: Policy) -> str:
    """Return the detectors as they are written in a policy file."""

    def then(verdict: Verdict) -> str:
        return "force_none" if verdict is Verdict.FORCE_NONE else "reject"

    def detector(name: str, held: Detector | None, period: str) -> str:
        if held is None:
            return f"{name}: off"
        warn = "" if held.warn is None else f"warn: {held.warn}, "
        result = "required" if held.same_result else "ignored"
        return f"{name}: {{{period}{warn}at: {held.at}, then: {then(held.then)}, same_result: {result}}}"

    def errors(held: ErrorStreak | None) -> str:
        if held is None:
            return "error_streak: off"
        warn = "" if held.warn is None else f"warn: {held.warn}, "
        which, same = "all" if held.all_results else "any", str(held.same_error).lower()
        return f"error_streak: {{{warn}at: {held.at}, errors: {which}, same_error: {same}, then: {then(held.then)}}}"

    period = f"max_period: {policy.cycle.max_period}, " if policy.cycle else ""
    lines = (detector("repetition", policy.repetition, ""), detector("cycle", policy.cycle, period))
    return "\n".join((*lines, errors(policy.error_streak)))


def table(scores: dict[str, list[Score]], names: list[str]) -> str:
    """Return the figures on all runs."""
    head = (
        "| rule | successful runs stopped | loops caught | median turns after the loop's first |"
        f" found within {IN_TIME} | other failed runs stopped |\n|---|---|---|---|---|---|"
    )
    return "\n".join([head, *(row(name, scores[name][0]) for name in names)])


def row(name: str, one: Score) -> str:
    after = "–" if one.after is None else f"{one.after:g}"
    return (
        f"| {name} | {one.false_stops} ({100 * one.false_share:.2f} %) | {one.caught} of {one.loops}"
        f" ({100 * one.caught / one.loops:.1f} %) | {after} | {one.in_time} ({100 * one.in_time / one.loops:.0f} %) |"
        f" {one.others} |"
    )


def halves_table(scores: dict[str, list[Score]], names: list[str]) -> str:
    """Return what must be alike on both halves."""
    head = (
        "| rule | successful runs stopped, first half | second half | loops caught, first half | second half |"
        " median turns, first half | second half |\n|---|---|---|---|---|---|---|"
    )
    rows = []
    for name in names:
        parts = scores[name][1:]
        stops = (f"{one.false_stops} of {one.succeeded}" for one in parts)
        caught = (f"{one.caught} of {one.loops}" for one in parts)
        after = ("–" if one.after is None else f"{one.after:g}" for one in parts)
        rows.append(f"| {' | '.join([name, *stops, *caught, *after])} |")
    return "\n".join([head, *rows])


def caps_table(runs: list[Labelled]) -> str:
    """Return what limits on turns alone would do."""
    rows = ["| turns at most | successful runs cut | failed runs cut | turns of failed runs saved |\n|---|---|---|---|"]
    good = [each for each in runs if each.told["success"]]
    bad = [each for each in runs if each.told["success"] is False]
    turns = sum(1 for each in bad for prompt in each.run.prompts for one in prompt if one.calls)
    for cap in CAPS:
        policy = Policy("cap", limits=(Limit(Unit.TURNS, cap, before=Act(Verdict.FORCE_NONE)),))
        cut = sum(judge(each.run, policy).stop is not None for each in good)
        stops = [stop for each in bad if (stop := judge(each.run, policy).stop)]
        saved = sum(stop.saved.turns for stop in stops)
        rows.append(
            f"| {cap} | {cut} ({100 * cut / len(good):.1f} %) | {len(stops)} ({100 * len(stops) / len(bad):.1f} %)"
            f" | {saved:,} of {turns:,} ({100 * saved / turns:.0f} %) |"
        )
    return "\n".join(rows)


TEXT = """\
# Detectors and caps, measured

Written by `make judge`; `turnkeeper replay` gives the same figures for runs of your own.

{runs:,} real, recorded runs of agents that call tools (customer service, coding, web, data), with {prompts:,} prompts
and {turns:,} turns, were played through the rules. {succeeded} of them succeeded. {loops} hold a loop: with hindsight,
consecutive turns of one prompt that repeat with equal calls and equal results, four times or more for one turn, three
times or more for a pattern of several turns. A run is *stopped* when a turn of it is kept from being run, and a loop is
*caught* when that is before it is over. Detectors are judged with all limits off.

## The values of `watchful`

```yaml
{values}
```

- **repetition at 4**: three equal results and the same call again. At 3, a call that is tried a third time before its
  result changes, or before the agent moves on by itself, is cut: {three_false} successful runs instead of {mine_false}.
  It warns at 3, when the model can still turn round; a warning at 2 would let every pattern that returns be stopped at
  2, which cuts healthy runs.
- **cycle at 3**: a pattern of two to six turns that came twice with equal results and is asked for a third time; no
  successful run is stopped by it. At 2 nothing more is caught, only earlier: {lap2_in_time} within {in_time} turns of the
  loop's first, instead of {mine_in_time}. But at 2 the last call of the pattern has been answered once and is stopped
  before its second answer is seen, so that an agent that waits, polls, waits and polls is cut whatever the poll would
  have told; no run here polls, so the table does not show it. It warns at 2.
- **error_streak at 5**: the same error five turns running, whatever was called. At 4 all three together cut
  {error4_false} successful runs.
- {labelled_good} successful run holds a labelled loop itself, so whoever catches every loop stops it.

## Beside other rules

The other rules were written anew from what is published of them, and are judged on the same runs
(`tests/judge/rules.py` says how each was read). Turns count from the first turn of the loop to the first turn that is
not run.

{compared}

## Other values

{variants}

## Two halves

The runs in two halves by a hash of their id: what was chosen must hold on both.

{halves}

## Turn caps

A limit on turns alone, with one forced answer; the default policy's is 10.

{caps}

What a cap of 10 cuts is a matter of the work: of the long coding runs here nearly every one needs more, of the others
hardly any. Choose it by replaying your own runs.

## What these figures cannot say

Nine tenths of the loops come from models of 2023 under a cap of ten turns of their own; the one current model with long
tasks never loops exactly. Circling with ever different arguments has no label here; limits and budgets are for that.
Recorded models saw no warning: what a warning saves is not in the figures.
"""

if __name__ == "__main__":
    main()
