"""What a replay found, for a terminal."""

from collections import Counter
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from turnkeeper.replay.player import Played, Stop
from turnkeeper.replay.tally import Judged, Tally


def show(console: Console, tally: Tally, rows_max: int) -> None:
    """Print some of the stopped runs, and the totals."""
    for played in tally.stopped[:rows_max]:
        console.print(_run(tally, played), markup=False, soft_wrap=True)
    console.print(_totals(tally))
    console.print(overview(tally), soft_wrap=True)


def overview(tally: Tally) -> str:
    """Say what was read."""
    size = tally.size
    unknown = tally.runs - tally.succeeded - tally.failed
    verdict = f"{tally.succeeded:,} succeeded, {tally.failed:,} failed" + (f", {unknown:,} not told" if unknown else "")
    return (
        f"{tally.runs:,} runs ({verdict}), {tally.prompts:,} prompts, {size.turns:,} turns,"
        f" {size.function_calls:,} function calls, {size.tokens:,} tokens"
    )


def rows(tally: Tally) -> list[tuple[str, list[str]]]:
    """Return the totals, a row a figure and a column a file of policies."""
    size = tally.size

    def row(title: str, value: Callable[[Judged], str]) -> tuple[str, list[str]]:
        return title, [value(judged) for judged in tally.judged]

    table = [
        row("runs stopped", lambda one: share(one.stopped, tally.runs)),
        row("succeeded, and would have been stopped", lambda one: share(one.succeeded_stopped, tally.succeeded)),
        row("failed, and would have been stopped", lambda one: share(one.failed_stopped, tally.failed)),
        row("runs warned", lambda one: share(one.warned, tally.runs)),
        row("final answers made under NONE", lambda one: f"{one.forced_answers:,}"),
        row("turns saved", lambda one: share(one.saved.turns, size.turns)),
        row("function calls saved", lambda one: share(one.saved.function_calls, size.function_calls)),
        row("tokens saved", lambda one: share(one.saved.tokens, size.tokens)),
    ]
    for title, told in (("stopped by", _reasons), ("stopped with", _verdicts)):
        keys = sorted({key for judged in tally.judged for key in told(judged)})
        table += [(f"{title} {key}", [f"{told(judged)[key]:,}" for judged in tally.judged]) for key in keys]
    return table


def _reasons(judged: Judged) -> Counter[str]:
    return judged.reasons


def _verdicts(judged: Judged) -> Counter[str]:
    return judged.verdicts


def share(part: int, whole: int) -> str:
    """Return a number, and what part of the whole it is."""
    return f"{part:,} ({100 * part / whole:.2f} %)" if whole else f"{part:,}"


def place(stop: Stop) -> str:
    """Say where a run was stopped."""
    return f"prompt {stop.prompt}, turn {stop.turn}, {stop.point.replace('_model', '')}"


def name(played: Played) -> str:
    """Return what a run is called, fit for a terminal; the place it was read from where it has no name."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in played.id or played.where)


def succeeded(played: Played) -> str:
    """Say how a run ended."""
    return {True: "succeeded", False: "failed", None: ""}[played.success]


def _totals(tally: Tally) -> Table:
    table = Table("", *(judged.file for judged in tally.judged), box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for title, values in rows(tally):
        table.add_row(title, *values)
    return table


def _run(tally: Tally, played: Played) -> str:
    told = []
    for judged, verdicts in zip(tally.judged, played.verdicts, strict=True):
        stop = verdicts.stop
        under = f" under {judged.file}" if len(tally.judged) > 1 else ""
        if stop is not None:
            saves = f"saves {stop.saved.turns} turns, {stop.saved.tokens} tokens"
            told.append(f"  {place(stop)}: {stop.verdict}, {stop.reason}: {stop.message}; {saves}{under}")
        elif under:
            told.append(f"  not stopped{under}")
    how = f", {succeeded(played)}" if played.success is not None else ""
    return "\n".join([f"{name(played)}{how}", *told])
