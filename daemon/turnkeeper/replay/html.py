"""What a replay found, as one HTML file: nothing in it is fetched from anywhere.

One colour a file of policies; grey is all runs. Names from recordings are escaped.
"""

from html import escape

from turnkeeper.replay.plots import bars, columns
from turnkeeper.replay.report import name, overview, place, rows, succeeded
from turnkeeper.replay.tally import Judged, Tally

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2433; --soft: #667085; --line: #d9dee7; --back: #fff;
  --grey: #9aa5b8; --a: #2f6fde; --b: #d9822b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a2b3; --line: #343c4b; --back: #14181f;
  --grey: #5d6880; --a: #6ea0ff; --b: #f0a75a; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 900px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
p, .soft { color: var(--soft); } td, th { font-size: .93em; } table { border-collapse: collapse; width: 100%; }
td, th { padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 11px; }
.grey { fill: var(--grey); } .s0 { fill: var(--a); } .s1 { fill: var(--b); } line { stroke: var(--line); }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .35em 0 1em; }
.k0 { background: var(--a); } .k1 { background: var(--b); } .kg { background: var(--grey); }
"""


def page(tally: Tally) -> str:
    """Return the report."""
    parts = [
        f"<h1>Replay of {tally.runs:,} runs</h1><p>{escape(overview(tally))}</p>",
        _totals(tally),
        _section("Turns of a prompt", "How many prompts have how many turns.", _lengths(tally)),
        _section("Where stops fall", f"Stopped runs by the turn they were stopped at. {_keys(tally)}", _stops(tally)),
        _section("Why", f"Stopped runs by reason. {_keys(tally)}", _reasons(tally)),
        _section("Agents", f'Runs, and those stopped. <i class="key kg"></i>all {_keys(tally)}', _agents(tally)),
        _runs(tally),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width"><title>Turnkeeper replay</title><style>{_STYLE}</style></head>\n<body>'
        + "\n".join(parts)
        + "</body></html>\n"
    )


def _section(title: str, text: str, plot: str) -> str:
    return f"<h2>{title}</h2><p>{text}</p>{plot or '<p>Nothing to show.</p>'}"


def _keys(tally: Tally) -> str:
    return "".join(f'<i class="key k{index}"></i>{escape(judged.file)}' for index, judged in enumerate(tally.judged))


def _totals(tally: Tally) -> str:
    head = "".join(f'<th class="n">{escape(judged.file)}</th>' for judged in tally.judged)
    body = "".join(f"<tr><td>{escape(title)}</td>{_numbers(values)}</tr>" for title, values in rows(tally))
    return f"<table><tr><th></th>{head}</tr>{body}</table>"


def _numbers(values: list[str]) -> str:
    return "".join(f'<td class="n">{escape(value)}</td>' for value in values)


def _lengths(tally: Tally) -> str:
    return columns([("grey", dict(tally.lengths))])


def _stops(tally: Tally) -> str:
    return columns([(f"s{index}", _by_turn(judged)) for index, judged in enumerate(tally.judged)])


def _by_turn(judged: Judged) -> dict[int, int]:
    turns: dict[int, int] = {}
    for (turn, _), count in judged.at_turn.items():
        turns[turn] = turns.get(turn, 0) + count
    return turns


def _reasons(tally: Tally) -> str:
    keys = sorted({key for judged in tally.judged for key in judged.reasons})
    return bars([(key, [(f"s{i}", judged.reasons[key]) for i, judged in enumerate(tally.judged)]) for key in keys])


def _agents(tally: Tally) -> str:
    return bars(
        [
            (agent, [("grey", runs), *((f"s{i}", judged.agents[agent]) for i, judged in enumerate(tally.judged))])
            for agent, runs in tally.agents.most_common()
        ]
    )


def _runs(tally: Tally) -> str:
    if not tally.stopped:
        return ""
    lines = [
        f"<tr><td>{escape(name(played))}</td><td>{escape(judged.file)}</td><td>{place(verdicts.stop)}</td>"
        f'<td>{verdicts.stop.verdict} {verdicts.stop.reason}</td><td class="n">{verdicts.stop.saved.turns:,}</td>'
        f"<td>{succeeded(played)}</td></tr>"
        for played in tally.stopped
        for judged, verdicts in zip(tally.judged, played.verdicts, strict=True)
        if verdicts.stop is not None
    ]
    return (
        f"<h2>The first {len(tally.stopped):,} stopped runs</h2><table><tr><th>run</th><th>policies</th><th>where</th>"
        f'<th>verdict</th><th class="n">turns saved</th><th>the run</th></tr>{"".join(lines)}</table>'
    )
