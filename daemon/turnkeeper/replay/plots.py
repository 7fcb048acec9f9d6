"""Bars as inline SVG: upright ones over turns, lying ones beside names.

A series is a CSS class, which gives its colour, and its counts. Every bar tells its number to who points at it.
"""

from collections.abc import Mapping, Sequence
from html import escape

from turnkeeper.replay.tally import TURNS_MAX

_WIDTH = 860
_LEFT = 46  # room for the scale
_NAMES = 240  # room for names
_TOP = 10
_HEIGHT = 220
_BINS_MAX = 50
_LABELS_MAX = 17
_THICK = 13
_FILLED = 0.84  # of the room of a bar

Series = tuple[str, Mapping[int, int]]


def columns(series: Sequence[Series]) -> str:
    """Draw counts over turns, in bins where there are many turns; nothing when there is nothing."""
    longest = max((turn for _, counts in series for turn in counts), default=-1)
    if longest < 0:
        return ""
    width = longest // _BINS_MAX + 1
    bins = longest // width + 1
    binned = [(colour, _binned(counts, width, bins)) for colour, counts in series]
    most = max(max(heights) for _, heights in binned)
    slot = (_WIDTH - _LEFT) / bins
    drawn = _scale(most)
    for nth, (colour, heights) in enumerate(binned):
        bar = slot * _FILLED / len(binned)
        for at, count in enumerate(heights):
            if count:
                box = (_LEFT + at * slot + nth * bar, _HEIGHT * count / most, bar)
                drawn.append(_column(colour, box, f"{_turns(at, width)}: {count:,}"))
    for at in range(0, bins, bins // _LABELS_MAX + 1):
        x = _LEFT + (at + _FILLED / 2) * slot
        drawn.append(f'<text x="{x:.1f}" y="{_HEIGHT + _TOP + 16}" text-anchor="middle">{_turns(at, width)}</text>')
    return _svg(_HEIGHT + 34, drawn)


def bars(groups: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> str:
    """Draw a group of bars for each name; nothing when there is nothing."""
    most = max((count for _, counts in groups for _, count in counts), default=0)
    if not most:
        return ""
    room = _WIDTH - _NAMES - 60
    drawn: list[str] = []
    y = 2
    for name, counts in groups:
        shown = name if len(name) <= 36 else name[:35] + "…"  # noqa: PLR2004 - what fits
        middle = y + _THICK * len(counts) / 2 + 4
        drawn.append(
            f'<text x="{_NAMES - 8}" y="{middle:.1f}" text-anchor="end">{escape(shown)}'
            f"<title>{escape(name)}</title></text>"
        )
        for colour, count in counts:
            length = room * count / most
            drawn.append(f'<rect class="{colour}" x="{_NAMES}" y="{y}" width="{length:.1f}" height="{_THICK - 2}"/>')
            drawn.append(f'<text x="{_NAMES + length + 5:.1f}" y="{y + _THICK - 3}">{count:,}</text>')
            y += _THICK
        y += 7
    return _svg(y, drawn)


def _binned(counts: Mapping[int, int], width: int, bins: int) -> list[int]:
    heights = [0] * bins
    for turn, count in counts.items():
        heights[turn // width] += count
    return heights


def _column(colour: str, box: tuple[float, float, float], title: str) -> str:
    x, height, width = box
    y = _TOP + _HEIGHT - height
    return (
        f'<rect class="{colour}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
        f"<title>{title}</title></rect>"
    )


def _scale(most: int) -> list[str]:
    drawn = []
    for quarter in range(5):
        y = _TOP + _HEIGHT * (1 - quarter / 4)
        drawn.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        if most * quarter % 4 == 0:
            drawn.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{most * quarter // 4:,}</text>')
    return drawn


def _turns(at: int, width: int) -> str:
    first, last = at * width, (at + 1) * width - 1
    if last >= TURNS_MAX:
        return f"{first}+"
    return str(first) if width == 1 else f"{first}–{last}"


def _svg(height: int, drawn: list[str]) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{"".join(drawn)}</svg>'
