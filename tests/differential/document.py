"""Writes ``daemon/MEASURED.md``: what the vendors' SDKs did, from ``measured.json``."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MEASURED = HERE / "measured.json"
DOCUMENT = HERE.parents[1] / "daemon" / "MEASURED.md"
WORDS = {
    "error": "an error",
    "returned_calls_not_run": "the last response, its calls not run",
    "returned_calls_run": "the last response, its results never sent",
    "text": "a text",
    "unlimited": "cut off by the measurement: still calling",
}
HEAD = """# What the SDKs do at their limits, measured

The vendors' SDKs, with nothing of Turnkeeper in them, against a scripted model that calls a function in every response,
with other arguments each time. A cell is *model requests, turns run*: the requests that the model server counted, and the
responses whose calls were run. Written by `tests/differential/document.py` from `tests/differential/measured.json`, which
`make test-differential` measures again; the simulator of `tests/simulation` must give the same under the matching
[profile](PROFILES.md), or the difference is explained there by version.

"""


def written() -> str:
    """Return the document."""
    rows: list[dict[str, Any]] = json.loads(MEASURED.read_text("utf-8"))
    text = HEAD
    for sdk, version in sorted({(row["sdk"], row["version"]) for row in rows}):
        mine = [row for row in rows if (row["sdk"], row["version"]) == (sdk, version)]
        text += f"## {sdk} {version}\n\n{_table(mine)}\n"
    return text.rstrip() + "\n"


def _table(rows: list[dict[str, Any]]) -> str:
    limits = sorted({row["limit"] for row in rows if row["limit"] is not None})
    columns = [*limits, *([None] if any(row["limit"] is None for row in rows) else [])]
    head = ["how", "calls a response", *("default" if limit is None else str(limit) for limit in columns), "ends with"]
    lines = [head, ["---"] * len(head)]
    kinds = {(row["api"], row["mode"], row["shape"], row["parallel"]): None for row in rows}
    for kind in kinds:
        cells = {row["limit"]: row for row in rows if (row["api"], row["mode"], row["shape"], row["parallel"]) == kind}
        how = ", ".join(part for part in kind[:3] if part and part != "whole")
        shown = [f"{cells[c]['requests']}, {cells[c]['turns_run']}" if c in cells else "" for c in columns]
        ends = {row["ending"]: None for row in cells.values()}
        lines.append([how, str(kind[3]), *shown, "; ".join(WORDS.get(end, end.removeprefix("other:")) for end in ends)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    DOCUMENT.write_text(written(), "utf-8")
