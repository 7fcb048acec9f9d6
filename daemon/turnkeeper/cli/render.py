"""Messages as people read them."""

import json
from typing import Any

from google.protobuf.message import Message
from rich.markup import escape

from turnkeeper.wire.plain import plain

COLOURS = {"allow": "green", "force_none": "yellow", "reject": "red"}


def as_dict(message: Message) -> dict[str, Any]:
    """Return a message as JSON values, with the contract's names and enum words in lower case."""
    short: dict[str, Any] = _short(plain(message))
    return short


def as_json(message: Message) -> str:
    """Return a message as one line of JSON."""
    return json.dumps(as_dict(message))


_PREFIXES = ("VERDICT_", "REASON_", "MODE_", "DISPOSITION_", "LIMIT_UNIT_", "OUTCOME_")


def _short(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    if isinstance(value, str):
        for prefix in _PREFIXES:
            if value.startswith(prefix):
                return value.removeprefix(prefix).lower()
    return value


def decision_line(record: dict[str, Any]) -> str:
    """Return one decision as one line of rich markup."""
    decision = record.get("decision", {})
    verdict = decision.get("verdict_if_enforced", "?")
    shadow = "" if decision.get("enforced") else " (observed)"
    counters = decision.get("counters", {})
    limit = "" if counters.get("limit_off") else f"/{counters.get('limit', 0)}"
    unit = "turns" if counters.get("limit_off", True) else counters["unit"]
    used = counters.get(unit, 0)
    caller = record.get("caller", {}).get("agent", "")
    clock = record.get("time", "")[11:23]
    colour = COLOURS.get(verdict, "white")
    where = f"{record.get('point', ''):<12} {decision.get('decision_id', '').split('.')[0]:>3}"
    text = f"{f'[dim]{clock}[/] ' if clock else ''}[{colour}]{verdict:<10}[/]{shadow} {where}  {used}{limit} {unit}"
    tail = decision.get("message", "")
    return f"{text}  {safe(caller)} {safe(record.get('request_id', ''))}" + (f"  [dim]{safe(tail)}[/]" if tail else "")


def safe(text: str) -> str:
    """Return text of a caller so that it is neither markup nor a command to the terminal."""
    return escape("".join(each if each.isprintable() else "·" for each in text))
