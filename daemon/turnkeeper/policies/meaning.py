"""What the schema cannot say of a policy file: names that must be there, and what holds once all is inherited.

Law: a name is looked up in the file first, then among the shipped policies. What is wrong is told where this file says
it: a policy is not blamed for what it inherits.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from turnkeeper.core import bounds
from turnkeeper.core.policy import NS
from turnkeeper.policies.building import PERIOD_MAX, duration_ns, micro
from turnkeeper.policies.extending import EXTENDS_MAX, Raw, chain, counted, extended
from turnkeeper.policies.policy_set import DEFAULT
from turnkeeper.policies.shape import described, meant, name_of, word, words
from turnkeeper.policies.yaml_nodes import Node, Path, Problem, find, quoted, shown

IDLE_TTL_MAX_NS = 24 * 3600 * NS  # longer is another use of the id; its counters would meet the old ones
LIMITS_MAX = 64
COST_MAX_USD = 1_000_000  # what the schema allows
_ACTS = ("before", "after", "zero")


def problems(root: Node, content: Raw, shipped: Mapping[str, Raw], file: str) -> Iterator[Problem]:
    """Yield everything that is wrong beyond the shape. Passes over what has the wrong shape."""
    own = _maps(content.get("policies"))
    given = content["policies"] if isinstance(content.get("policies"), dict) else {}
    first = sorted({DEFAULT, *(name for name in given if name.strip())})
    names = [*first, *sorted(set(shipped) - set(first))]
    for index, rule in enumerate(content["match"] if isinstance(content.get("match"), list) else ()):
        if isinstance(rule, dict) and "policy" in rule:
            yield from _unknown(root, ("match", index, "policy"), names, file)
    wholes = extended(own, shipped)
    for name, policy in own.items():
        path = ("policies", name)
        yield from _beyond(root, path, policy, wholes.get(name), file)
        if "extends" in policy:
            yield from _unknown(root, (*path, "extends"), names, file)
            yield from _endless(root, (*path, "extends"), chain(name, own), own, file)


def _maps(value: object) -> dict[str, Raw]:
    """Return the entries of a map that are maps."""
    return {name: item for name, item in value.items() if isinstance(item, dict)} if isinstance(value, dict) else {}


def _unknown(root: Node, path: Path, names: list[str], file: str) -> Iterator[Problem]:
    node = find(root, path)
    if isinstance(node.value, str) and node.value.strip() and node.value not in names:
        text = f"{name_of(path)}: {quoted(node.value)}, allowed: {words(names)}{meant(node.value, names)}"
        yield Problem(file, *node.mark, text)


def _endless(root: Node, path: Path, links: list[str], own: Mapping[str, Raw], file: str) -> Iterator[Problem]:
    """Yield a circle, once, at its first policy in the file; and a chain that is too long."""
    if len(links) > 1 and links[0] == links[-1] and links[0] == next(name for name in own if name in links):
        yield _problem(root, path, f"a circle: {' -> '.join(map(word, links))}", file)
    elif len(set(links)) > EXTENDS_MAX + 1:
        yield _problem(root, path, f"allowed: a chain of at most {EXTENDS_MAX} policies", file)


def _beyond(root: Node, path: Path, own: Raw, whole: Raw | None, file: str) -> Iterator[Problem]:
    """Yield what is missing although all is inherited, and what is too much together."""
    for rule in ("repetition", "cycle", "error_streak"):
        if isinstance(own.get(rule), dict):
            yield from _rule(root, (*path, rule), own[rule], None if whole is None else whole[rule], file)
    if isinstance(own.get("limits"), list):
        yield from _limits(root, (*path, "limits"), own["limits"], None if whole is None else whole["limits"], file)
    ttl = own.get("idle_ttl")
    if isinstance(ttl, str) and duration_ns(ttl) > IDLE_TTL_MAX_NS:
        yield _problem(root, (*path, "idle_ttl"), "allowed: at most 24h", file)
    cost = _maps(own).get("budgets", {}).get("cost_usd")
    if isinstance(cost, float) and math.isnan(cost):
        yield _problem(root, (*path, "budgets", "cost_usd"), f"allowed: {described('cost')}", file)
    elif isinstance(cost, float) and abs(cost) <= COST_MAX_USD and micro(cost) % 1:
        yield _problem(root, (*path, "budgets", "cost_usd"), "allowed: at most six decimals", file)


def _rule(root: Node, path: Path, own: Raw, whole: Raw | None, file: str) -> Iterator[Problem]:
    """Check a detector or an error streak: that it acts, and that it warns before."""
    held = own if whole is None else whole
    at, warn = held.get("at"), held.get("warn")
    if whole is not None and "at" not in whole:
        allowed = described("turns" if path[-1] == "error_streak" else "laps")
        yield Problem(file, *find(root, path).mark, f"{name_of((*path, 'at'))}: missing, allowed: {allowed}")
    if _number(at) and _number(warn) and warn > at:
        key, allowed = ("warn", f"most at, which is {at}") if "warn" in own else ("at", f"least warn, which is {warn}")
        yield _problem(root, (*path, key), f"allowed: at {allowed}", file)
    period = held.get("max_period", PERIOD_MAX)
    if path[-1] == "cycle" and _number(at) and _number(period) and 0 < at * period > bounds.TURNS_KEPT >= at:
        text = f"allowed: at times max_period at most {bounds.TURNS_KEPT}, it is {at * period}"
        yield _problem(root, (*path, "at" if "at" in own else "max_period"), text, file)


def _limits(root: Node, path: Path, own: list[object], whole: list[Raw] | None, file: str) -> Iterator[Problem]:
    """Check that each limit has a number and acts, with what it inherits."""
    mine, found = Counter(map(counted, own)), Counter(map(counted, whole or ()))
    for index, limit in enumerate(own):
        key = counted(limit)
        if key is None or key not in found or not isinstance(limit, dict):
            continue
        alone = mine[key] == found[key] == 1
        held = next(each for each in whole or () if counted(each) == key) if alone else limit
        yield from _limit(root, (*path, index), held, file)
    if whole is not None and len(own) <= LIMITS_MAX < len(whole):
        text = f"allowed: at most {LIMITS_MAX} with those that are inherited, it is {len(whole)}"
        yield _problem(root, path, text, file)


def _limit(root: Node, path: Path, whole: Raw, file: str) -> Iterator[Problem]:
    if "n" not in whole:
        text = f"{name_of((*path, 'n'))}: missing, allowed: {described('count')}"
        yield Problem(file, *find(root, path).mark, text)
    elif _number(whole["n"]) and all(whole.get(act, "off") == "off" for act in _ACTS):
        yield _problem(root, path, "allowed: a limit that acts: before, after or zero (or n: off)", file)


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _problem(root: Node, path: Path, text: str, file: str) -> Problem:
    node = find(root, path)
    return Problem(file, *node.mark, f"{name_of(path)}: {shown(node)}, {text}")
