"""``turnkeeper replay``."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from turnkeeper import policies
from turnkeeper.core.events import Caller
from turnkeeper.policies import PolicyError, UnknownPolicyError
from turnkeeper.replay import html, report
from turnkeeper.replay.pipeline import Under, played
from turnkeeper.replay.source import Advance, Bad
from turnkeeper.replay.tally import Tally

BUILT_IN = "built-in"
_SHOW_PROGRESS_AFTER_S = 2
_ROWS_HTML = 500


@click.command("replay")
@click.argument("policy_file", metavar="POLICIES")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--policy", "named", metavar="NAME", default="", help="The policy for every run, instead of the match.")
@click.option("--compare", metavar="POLICIES", default="", help="Another policy file, side by side.")
@click.option("--runs", "rows", metavar="N", type=click.IntRange(min=0), default=20, help="List N stopped runs. [20]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a line a run, and a last line with the totals.")
@click.option("--html", "html_file", metavar="FILE", default="", help="Write a report with plots to FILE.")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), default=1, help="Use N processes. [1]")
def command(  # noqa: PLR0913 - one parameter an option
    policy_file: str,
    inputs: tuple[str, ...],
    named: str,
    compare: str,
    rows: int,
    html_file: str,
    jobs: int,
    *,
    as_json: bool,
) -> None:
    """Play recorded runs under a policy: which would have been stopped, where and why, and what that saves.

    POLICIES is a policy file, or `built-in`. Each run is told to the rules as an obedient application would have told
    it; what was recorded after the first verdict that stops something is what is saved. Nothing is asked of a model.

    Inputs are recognised by content, .gz too, a document a line (or one document a file):

    \b
    recorded runs     {"id", "agent", "model", "success", "prompts": [{"turns": [
                       {"calls": [{"name", "args"}], "results": [{"call": 0, "text"
                       or "digest", "error"}], "tokens", "cost_usd", "at"}]}]}
                      args: JSON text or JSON; call: an index or an id of the
                      turn's calls; at: seconds; a turn without a call is an answer
    events            {"before_model": {...}}, {"after_model": {...}} and
                      {"end_request": {...}} as the contract names them, "at" beside
    chat messages     OpenAI's or Anthropic's: [...], or {"messages": [...]}
    Gemini contents   [...], or {"contents": [...]}
    ATIF              {"schema_version": "ATIF-v1...", "steps": [...]}
    OTLP traces       {"resourceSpans": [...]} with GenAI spans, as a Collector's
                      file exporter writes them

    A line that is none of these is told as file:line, and the exit code is 2; the others are played all the same.

    \b
    turnkeeper replay policies.yaml runs.jsonl.gz --html report.html
    turnkeeper replay built-in runs.jsonl --compare policies.yaml --json
    """
    files = (policy_file, compare) if compare else (policy_file,)
    under = Under(tuple(_path(file) for file in files), named)
    _check(under)
    tally = Tally(files, max(rows, _ROWS_HTML if html_file else 0))
    with _progress(inputs) as advance:
        for out in played(tuple(Path(each) for each in inputs), under, jobs, advance):
            if isinstance(out, Bad):
                tally.refuse(out)
                continue
            tally.add(out)
            if as_json:
                _print_json({"kind": "run"} | msgspec.to_builtins(out))
    if as_json:
        _print_json({"kind": "total"} | tally.told())
    else:
        report.show(Console(highlight=False, emoji=False), tally, rows)
    if html_file:
        _write(html_file, html.page(tally))
    _tell_bad(tally)


def _path(file: str) -> Path | None:
    return None if file == BUILT_IN else Path(file)


def _check(under: Under) -> None:
    """Load the policies once, to tell what is wrong with them before anything is read."""
    for file in under.files:
        try:
            policies.load(file).choose(under.named, Caller())
        except (PolicyError, UnknownPolicyError) as error:
            click.echo(str(error), err=True)
            raise SystemExit(2) from None


def _print_json(told: dict[str, object]) -> None:
    click.echo(json.dumps(told, ensure_ascii=False))


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, "utf-8")
    except OSError as error:
        click.echo(f"{file}: cannot be written: {error.strerror}", err=True)
        raise SystemExit(2) from None


def _tell_bad(tally: Tally) -> None:
    for bad in tally.bad:
        click.echo(f"{bad.where}: {bad.message}", err=True)
    if tally.bad_total > len(tally.bad):
        click.echo(f"and {tally.bad_total - len(tally.bad)} more that could not be read", err=True)
    if tally.bad_total:
        raise SystemExit(2)


@contextmanager
def _progress(inputs: tuple[str, ...]) -> Iterator[Advance]:
    """Show how far it is, on a terminal, if it takes longer than a moment."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("replaying"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    shown = Progress(*columns, console=console, transient=True)
    task = shown.add_task("", total=sum(_size(Path(file)) for file in inputs))
    begins = monotonic() + _SHOW_PROGRESS_AFTER_S

    def advance(read: int) -> None:
        shown.advance(task, read)
        if not shown.live.is_started and monotonic() >= begins:
            shown.start()

    try:
        yield advance
    finally:
        shown.stop()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # told when it is read
