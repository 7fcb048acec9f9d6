"""A policy without problems to ``core.policy``, with the version of its content."""

import dataclasses
import hashlib
import json
import re
from decimal import Decimal
from enum import Enum
from typing import Any

from turnkeeper.core.model import Disposition, Enforcement, Unit, Verdict
from turnkeeper.core.policy import NS, Act, Budgets, Detector, ErrorStreak, Guards, Limit, Policy
from turnkeeper.policies.extending import Raw

PERIOD_MAX = 6
_THEN = {
    "force_none": (Verdict.FORCE_NONE, False),
    "remove_tools": (Verdict.FORCE_NONE, True),
    "reject": (Verdict.REJECT, False),
}
_UNIT_NS = {"h": 3600 * NS, "m": 60 * NS, "s": NS, "ms": NS // 1000}
_DURATION = re.compile(r"([0-9]+)(h|ms|m|s)")
_MICRO = 1_000_000
_VERSION_DIGITS = 12  # 48 bits: enough to tell versions of one name apart


def build(name: str, raw: Raw) -> Policy:
    """Return the policy, with the version of its content."""
    policy = Policy(
        name,
        enforcement=Enforcement(raw.get("enforcement", "enforce")),
        limits=tuple(_limit(limit) for limit in raw.get("limits", ())),
        guards=Guards(**{guard: does == "reject" for guard, does in raw.get("guards", {}).items()}),
        deny=raw.get("deny", ""),
        budgets=_budgets(raw["budgets"]) if "budgets" in raw else None,
        repetition=_detector(raw.get("repetition", "off"), 1),
        cycle=_detector(raw.get("cycle", "off"), PERIOD_MAX),
        error_streak=_error_streak(raw.get("error_streak", "off")),
        ignore_args={
            tool: tuple(_pointer(text) for text in held["ignore_args"])
            for tool, held in raw.get("tools", {}).items()
            if "ignore_args" in held
        },
        may_repeat=_exempt(raw, "repetition"),
        may_cycle=_exempt(raw, "cycle"),
        may_fail=_exempt(raw, "error_streak"),
        idle_ttl_ns=duration_ns(raw.get("idle_ttl", "1h")),
        source=raw.get("source", ""),
        ends=raw.get("ends", ""),
    )
    return dataclasses.replace(policy, version=version(policy))


def version(policy: Policy) -> str:
    """Return a hash of the content. Defaults are left out: a version stays when a later release adds a key."""
    content = _canonical(dataclasses.replace(policy, name="-", version="", source="", ends=""))
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_VERSION_DIGITS]


def duration_ns(text: str) -> int:
    """Return a duration such as ``1h30m`` or ``500ms`` in nanoseconds."""
    return sum(int(number) * _UNIT_NS[unit] for number, unit in _DURATION.findall(text))


def micro(dollars: float) -> Decimal:
    """Return an amount as it was written, in millionths."""
    return Decimal(str(dollars)) * _MICRO


def _pointer(text: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def _exempt(raw: Raw, rule: str) -> frozenset[str]:
    return frozenset(name for name, tool in raw.get("tools", {}).items() if rule in tool)


def _budgets(raw: Raw) -> Budgets:
    tokens, cost, elapsed = (raw.get(key, "off") for key in ("tokens", "cost_usd", "elapsed"))
    return Budgets(
        tokens=None if tokens == "off" else int(tokens),
        cost_micro_usd=None if cost == "off" else int(micro(cost)),
        elapsed_ns=None if elapsed == "off" else duration_ns(elapsed),
        then=_then(raw),
        grace_calls=int(raw.get("grace_calls", 1)),
        disposition=_disposition(raw),
    )


def _detector(raw: Raw | str, max_period: int) -> Detector | None:
    if isinstance(raw, str):
        return None
    return Detector(
        at=int(raw["at"]),
        warn=int(raw["warn"]) if "warn" in raw else None,
        then=_then(raw),
        same_result=raw.get("same_result", "required") == "required",
        max_period=int(raw.get("max_period", max_period)),
        disposition=_disposition(raw),
    )


def _error_streak(raw: Raw | str) -> ErrorStreak | None:
    if isinstance(raw, str):
        return None
    return ErrorStreak(
        at=int(raw["at"]),
        warn=int(raw["warn"]) if "warn" in raw else None,
        then=_then(raw),
        all_results=raw.get("errors", "all") == "all",
        same_error=raw.get("same_error", True),
        disposition=_disposition(raw),
    )


def _then(raw: Raw) -> Verdict:
    return _THEN[raw.get("then", "force_none")][0]


def _disposition(raw: Raw) -> Disposition:
    return Disposition[raw.get("disposition", "raise").upper()]


def _limit(raw: Raw) -> Limit:
    return Limit(
        unit=Unit[raw["unit"].upper()],
        n=None if raw["n"] == "off" else int(raw["n"]),
        tool=raw.get("tool", ""),
        before=_act(raw.get("before", "off")),
        after=_act(raw.get("after", "off")),
        disposition=_disposition(raw),
        zero_no_calls=raw.get("zero") == "no_calls",
    )


def _act(raw: Raw | str) -> Act | None:
    if isinstance(raw, str):
        return None
    then, remove_tools = _THEN[raw["then"]]
    return Act(then, int(raw.get("offset", 0)), remove_tools)


def _canonical(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        held = {field: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        return {field.name: _canonical(each) for field, each in held.items() if each != _default(field)}
    if isinstance(value, tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    return value.name if isinstance(value, Enum) else value


def _default(field: dataclasses.Field[Any]) -> object:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
