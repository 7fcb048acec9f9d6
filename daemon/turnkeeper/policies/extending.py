"""``extends``: a policy with all that it inherits.

Law: a policy is its own keys over those of the policy it extends. Maps are joined key by key. Limits are joined entry
by entry, by unit and tool: an entry lies over the inherited one, another is added; several of one unit and tool take
the place of the inherited ones. Everything else is replaced whole: what a limit does at one point, a list, a text.
Notes (``source``, ``ends``) are about the policy that has them, and are never inherited.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

Raw = dict[str, Any]

EXTENDS_MAX = 16  # a reader who follows more policies than this to know what holds has lost the way
_NOTES = ("source", "ends")


def extended(own: Mapping[str, Raw], shipped: Mapping[str, Raw]) -> dict[str, Raw]:
    """Return the policies of a file with all they inherit; those left out inherit from nowhere."""
    done: dict[str, Raw] = {}
    for name in own:
        links = chain(name, own)
        if not _ends_somewhere(links, own, shipped):
            continue
        if links[-1] not in own:
            done[links[-1]] = shipped[links[-1]]
        for link in reversed(links):
            if link not in done:
                base = done[own[link]["extends"]] if "extends" in own[link] else {}
                done[link] = _over(base, {key: value for key, value in own[link].items() if key != "extends"})
    return {name: done[name] for name in own if name in done}


def chain(name: str, own: Mapping[str, Raw]) -> list[str]:
    """Follow ``extends`` from a policy of the file to its end, until a name comes again, or until it is too long."""
    links = [name]
    while isinstance(base := own.get(links[-1], {}).get("extends"), str) and len(links) <= EXTENDS_MAX + 1:
        again = base in links
        links.append(base)
        if again:
            break
    return links


def is_endless(links: list[str]) -> bool:
    """Tell whether a chain is a circle, or too long."""
    return len(set(links)) < len(links) or len(links) > EXTENDS_MAX + 1


def counted(limit: object) -> tuple[str, str] | None:
    """Return what a limit counts, its unit and tool; None for what has the wrong shape."""
    if not isinstance(limit, dict):
        return None
    unit, tool = limit.get("unit"), limit.get("tool", "")
    return (unit, tool) if isinstance(unit, str) and isinstance(tool, str) else None


def _ends_somewhere(links: list[str], own: Mapping[str, Raw], shipped: Mapping[str, Raw]) -> bool:
    last = own.get(links[-1])
    return not is_endless(links) and (links[-1] in shipped if last is None else "extends" not in last)


def _over(base: Raw, own: Raw) -> Raw:
    """Return a policy laid over the one it extends."""
    inherited = {key: value for key, value in base.items() if key not in _NOTES}
    whole = _joined(inherited, own)
    if isinstance(inherited.get("limits"), list) and isinstance(own.get("limits"), list):
        whole["limits"] = _limits(inherited["limits"], own["limits"])
    return whole


def _joined(base: Raw, own: Raw) -> Raw:
    """Return a map laid over another, maps key by key."""
    maps = {key: value for key, value in own.items() if isinstance(value, dict) and isinstance(base.get(key), dict)}
    return {**base, **own, **{key: _joined(base[key], value) for key, value in maps.items()}}


def _limits(base: list[Any], own: list[Any]) -> list[Any]:
    """Return limits laid over others: joined where both are the only ones of what they count, else put in place."""
    mine, theirs = Counter(map(counted, own)), Counter(map(counted, base))
    joined = {counted(limit): limit for limit in own if mine[counted(limit)] == theirs[counted(limit)] == 1}
    placed = {key for key in mine if key not in joined}
    kept = [{**limit, **joined.get(counted(limit), {})} for limit in base if counted(limit) not in placed]
    return [*kept, *(limit for limit in own if counted(limit) and counted(limit) in placed)]
