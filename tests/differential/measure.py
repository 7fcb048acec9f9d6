"""Measure where real SDKs stop a model that always calls a function, with nothing between them and the model.

    python tests/differential/measure.py [--check] [NAME ...]

Each SDK is installed in a place of its own under .cache/differential, in the versions that are pinned here, and runs
against a scripted model server on this machine. For each case: how many requests the server saw, how many responses
had calls that were run (``turns_run``), how many calls were run, and how it ended:

``error`` (raised, with its name) · ``returned_calls_not_run`` (the last response has calls, none of it was run) ·
``returned_calls_run`` (its calls were run, the results never sent) · ``text`` (the model's own) · ``other:own text``
(text no model said) · ``other:nothing returned`` · ``unlimited`` (stopped here after 40 requests, pydantic-ai after
60; a default may lie higher).

The results are written to measured.json; with ``--check`` nothing is written, and a difference from it fails.
An SDK whose toolchain is missing is told as *not run*.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from installing import NotRunError
from running import Runner
from sdks import SDKS, Sdk
from servers import FINAL_TEXT, Answers

MEASURED = Path(__file__).with_name("measured.json")
LIMITS = (0, 1, 2, 3, 5, 10, None)
PARALLEL = (1, 3)
SHAPE_LIMITS = (3, 10)
Row = dict[str, Any]
KEYS = ("sdk", "version", "api", "mode", "shape", "parallel", "limit")


def cases(sdk: Sdk) -> Iterator[Row]:
    """Give what is measured of an SDK."""
    for api, mode in product(sdk.apis, ("unary", "stream") if sdk.streams else ("unary",)):
        limits = [limit for limit in LIMITS if limit is not None or api not in sdk.without_default]
        for parallel, limit in product(PARALLEL, limits):
            yield {"api": api, "mode": mode, "shape": "calls", "parallel": parallel, "limit": limit}
        if mode == "stream":
            for shape, limit in product(("split", "text_first"), SHAPE_LIMITS):
                yield {"api": api, "mode": mode, "shape": shape, "parallel": 3, "limit": limit}


def measure(sdk: Sdk) -> list[Row]:
    """Run all cases of an SDK."""
    with Runner(sdk.install()) as runner:
        return [_measured(sdk, runner, case) for case in cases(sdk)]


def _measured(sdk: Sdk, runner: Runner, case: Row) -> Row:
    answers = Answers(case["parallel"], sdk.cut, case["shape"])
    with sdk.server(answers) as server:
        asked = {"api": case["api"], "limit": case["limit"], "stream": case["mode"] == "stream"}
        told = runner.run({**asked, "parallel": case["parallel"], "base_url": server.url})
        requests = server.requests
    row = {"sdk": sdk.name, "version": told["version"], **case}
    row |= {"requests": min(len(requests), sdk.cut), "turns_run": len({n for n, _ in told["ran"]})}
    row |= {"calls_run": len(told["ran"]), "ending": _ending(told, len(requests), sdk.cut)}
    return row | ({"error": told["error"]} if told["error"] else {})


def _ending(told: Row, requests: int, cut: int) -> str:
    if requests > cut:
        return "unlimited"
    if told["error"] is not None:
        return "error"
    if requests and requests in told["calls"]:
        return "returned_calls_run" if requests in {n for n, _ in told["ran"]} else "returned_calls_not_run"
    if told["text"]:
        return "text" if told["text"] == FINAL_TEXT else "other:own text"
    return "other:nothing returned"


def order(row: Row) -> tuple[Any, ...]:
    """Sort rows; the default limit comes last."""
    return (*(row[key] for key in KEYS[:-1]), row["limit"] is None, row["limit"] or 0)


def write(rows: Iterable[Row]) -> None:
    """Write the rows, one a line."""
    lines = ",\n".join(json.dumps(row) for row in sorted(rows, key=order))
    MEASURED.write_text(f"[\n{lines}\n]\n", "utf-8")


def differences(before: list[Row], now: list[Row], names: set[str]) -> list[str]:
    """Compare what is measured now with what was, for the SDKs named."""
    old = {order(row): row for row in before if row["sdk"] in names}
    new = {order(row): row for row in now}
    return [f"was {old.get(key)}\nis  {new.get(key)}" for key in sorted({*old, *new}) if old.get(key) != new.get(key)]


def table(rows: list[Row]) -> Iterator[str]:
    """Give a line for each SDK, API, mode, shape and number of calls: 'limit: requests,turns run' and the endings."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=order):
        groups.setdefault(tuple(row[key] for key in KEYS[:-1]), []).append(row)
    for group, members in groups.items():
        counts = "  ".join(f"{_limit(row)}: {row['requests']},{row['turns_run']}" for row in members)
        endings: dict[str, list[str]] = {}
        for row in members:
            endings.setdefault(str(row.get("error", row["ending"])), []).append(_limit(row))
        tail = "; ".join(f"{ending} ({' '.join(limits)})" for ending, limits in endings.items())
        yield f"{' '.join(str(part) for part in group):<58} {counts:<70} {tail}"


def _limit(row: Row) -> str:
    return "default" if row["limit"] is None else str(row["limit"])


def say(lines: Iterable[str]) -> None:
    """Tell a person."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _attempt(sdk: Sdk) -> tuple[Sdk, list[Row], str]:
    try:
        return sdk, measure(sdk), ""
    except NotRunError as reason:
        return sdk, [], str(reason)


def main() -> int:
    """Measure, tell, and write or compare."""
    parser = argparse.ArgumentParser(description="Measure where real SDKs stop.")
    parser.add_argument("--check", action="store_true", help="compare with measured.json; write nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(sdk.name for sdk in SDKS)}")
    told = parser.parse_args()
    if unknown := set(told.names) - {sdk.name for sdk in SDKS}:
        parser.error(f"no such SDK: {', '.join(sorted(unknown))}")
    chosen = [sdk for sdk in SDKS if not told.names or sdk.name in told.names]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(_attempt, chosen))
    rows = [row for _, measured, _ in results for row in measured]
    say(table(rows))
    say(f"not run: {sdk.name}: {reason}" for sdk, _, reason in results if reason)
    ran = {sdk.name for sdk, _, reason in results if not reason}
    before = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else []
    if not told.check:
        kept = {sdk.name for sdk in SDKS} - ran
        write([*(row for row in before if row["sdk"] in kept), *rows])
        return 0
    found = differences(before, rows, ran)
    say(found or [f"{len(rows)} cases as in measured.json"])
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
