"""What a policy file means: names looked up, ``extends`` followed, rules built.

Law: a policy is its own keys over those of the policy it extends. Maps are joined key by key; anything else, the list
of limits too, is replaced whole. A name is looked up in the file first, then among the built-in policies.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, TypeGuard

from turnkeeper.core import bounds
from turnkeeper.core.model import Disposition, Enforcement, Unit, Verdict
from turnkeeper.core.policy import NS, Act, Budgets, Detector, ErrorStreak, Guards, Limit, Policy
from turnkeeper.policies.shape import meant, name_of, word, words
from turnkeeper.policies.yaml_nodes import Node, Path, Problem, find, quoted, shown

Raw = dict[str, Any]

_THEN = {
    "force_none": (Verdict.FORCE_NONE, False),
    "remove_tools": (Verdict.FORCE_NONE, True),
    "reject": (Verdict.REJECT, False),
}
_UNIT_NS = {"h": 3600 * NS, "m": 60 * NS, "s": NS, "ms": NS // 1000}
_DURATION = re.compile(r"([0-9]+)(h|ms|m|s)")
EXTENDS_MAX = 16  # a reader who follows more policies than this to know what holds has lost the way
IDLE_TTL_MAX_NS = 24 * 3600 * NS  # longer is another use of the id; its counters would meet the old ones
_PERIOD_MAX = 6
_VERSION_DIGITS = 12  # 48 bits: enough to tell versions of one name apart


def problems(root: Node, content: Raw, built_in: Mapping[str, Raw], file: str) -> Iterator[Problem]:
    """Yield names that lead nowhere, and circles of ``extends``. Passes over what has the wrong shape."""
    own = _maps(content.get("policies"))
    given = content["policies"] if isinstance(content.get("policies"), dict) else {}
    names = sorted({*(name for name in given if name.strip()), *built_in})
    for index, rule in enumerate(content["match"] if isinstance(content.get("match"), list) else ()):
        if isinstance(rule, dict) and "policy" in rule:
            yield from _unknown(root, ("match", index, "policy"), names, file)
    for name, policy in own.items():
        yield from _beyond(root, ("policies", name), policy, file)
        if "extends" in policy:
            path = ("policies", name, "extends")
            yield from _unknown(root, path, names, file)
            yield from _endless(root, path, _chain(name, own), own, file)


def merged(own: Mapping[str, Raw], built_in: Mapping[str, Raw]) -> dict[str, Raw]:
    """Return the policies of a file without problems, ``extends`` applied."""
    done: dict[str, Raw] = {}
    for name in own:
        chain = _chain(name, own)
        if chain[-1] not in own:
            done[chain[-1]] = built_in[chain[-1]]
        for step in reversed(chain):
            if step not in done:
                base = done[own[step]["extends"]] if "extends" in own[step] else {}
                done[step] = _over(base, {key: value for key, value in own[step].items() if key != "extends"})
    return {name: done[name] for name in own}


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
        cycle=_detector(raw.get("cycle", "off"), _PERIOD_MAX),
        error_streak=_error_streak(raw.get("error_streak", "off")),
        ignore_args={
            name: tuple(pointer(text) for text in tool["ignore_args"])
            for name, tool in raw.get("tools", {}).items()
            if "ignore_args" in tool
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


def _maps(value: object) -> dict[str, Raw]:
    """Return the entries of a map that are maps."""
    return {name: item for name, item in value.items() if isinstance(item, dict)} if isinstance(value, dict) else {}


def _unknown(root: Node, path: Path, names: list[str], file: str) -> Iterator[Problem]:
    node = find(root, path)
    if isinstance(node.value, str) and node.value.strip() and node.value not in names:
        text = f"{name_of(path)}: {quoted(node.value)}, allowed: {words(names)}{meant(node.value, names)}"
        yield Problem(file, *node.mark, text)


def _beyond(root: Node, path: Path, policy: Raw, file: str) -> Iterator[Problem]:
    """Yield what is right by itself and too much together."""
    for rule in ("repetition", "cycle", "error_streak"):
        held = policy.get(rule)
        if not isinstance(held, dict):
            continue
        at, warn, period = held.get("at"), held.get("warn"), held.get("max_period", _PERIOD_MAX)
        if _whole(at) and _whole(warn) and warn > at:
            yield _problem(root, (*path, rule, "warn"), f"allowed: at most at, which is {at}", file)
        if rule == "cycle" and _whole(at) and _whole(period) and 0 < at * period > bounds.TURNS_KEPT >= at:
            text = f"allowed: at times max_period at most {bounds.TURNS_KEPT}, it is {at * period}"
            yield _problem(root, (*path, rule, "at"), text, file)
    ttl = policy.get("idle_ttl")
    if isinstance(ttl, str) and duration_ns(ttl) > IDLE_TTL_MAX_NS:
        yield _problem(root, (*path, "idle_ttl"), "allowed: at most 24h", file)


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _problem(root: Node, path: Path, text: str, file: str) -> Problem:
    node = find(root, path)
    return Problem(file, *node.mark, f"{name_of(path)}: {shown(node)}, {text}")


def _endless(root: Node, path: Path, chain: list[str], own: Mapping[str, Raw], file: str) -> Iterator[Problem]:
    """Yield a circle, once, at its first policy in the file; and a chain that is too long."""
    if len(chain) > 1 and chain[0] == chain[-1] and chain[0] == next(name for name in own if name in chain):
        wrong = f"a circle: {' -> '.join(map(word, chain))}"
    elif len(set(chain)) > EXTENDS_MAX + 1:
        wrong = f"allowed: a chain of at most {EXTENDS_MAX} policies"
    else:
        return
    node = find(root, path)
    yield Problem(file, *node.mark, f"{name_of(path)}: {shown(node)}, {wrong}")


def _chain(name: str, own: Mapping[str, Raw]) -> list[str]:
    """Follow ``extends`` from a policy of the file to its end, until a name comes again, or until it is too long."""
    chain = [name]
    while isinstance(base := own.get(chain[-1], {}).get("extends"), str) and len(chain) <= EXTENDS_MAX + 1:
        again = base in chain
        chain.append(base)
        if again:
            break
    return chain


def _over(base: Raw, own: Raw) -> Raw:
    """Return a map laid over another, maps key by key."""
    joined = {key: _over(base[key], value) for key, value in own.items() if _both_maps(base.get(key), value)}
    return {**base, **own, **joined}


def _both_maps(base: object, own: object) -> bool:
    return isinstance(base, dict) and isinstance(own, dict)


def pointer(text: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def _exempt(raw: Raw, rule: str) -> frozenset[str]:
    return frozenset(name for name, tool in raw.get("tools", {}).items() if rule in tool)


def _budgets(raw: Raw) -> Budgets:
    tokens, cost, elapsed = (raw.get(key, "off") for key in ("tokens", "cost_usd", "elapsed"))
    return Budgets(
        tokens=None if tokens == "off" else int(tokens),
        cost_micro_usd=None if cost == "off" else round(Decimal(str(cost)) * 1_000_000),
        elapsed_ns=None if elapsed == "off" else duration_ns(elapsed),
        then=_THEN[raw.get("then", "force_none")][0],
        grace_calls=int(raw.get("grace_calls", 1)),
        disposition=_disposition(raw),
    )


def _detector(raw: Raw | str, max_period: int) -> Detector | None:
    if isinstance(raw, str):
        return None
    return Detector(
        at=int(raw["at"]),
        warn=int(raw["warn"]) if "warn" in raw else None,
        then=_THEN[raw.get("then", "force_none")][0],
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
        then=_THEN[raw.get("then", "force_none")][0],
        all_results=raw.get("errors", "all") == "all",
        same_error=raw.get("same_error", True),
        disposition=_disposition(raw),
    )


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
        zero_no_calls="zero" in raw,
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
