"""What a policy file means: names looked up, ``extends`` followed, rules built.

Law: a policy is its own keys over those of the policy it extends. Maps are joined key by key; anything else, the list
of limits too, is replaced whole. A name is looked up in the file first, then among the built-in policies.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from turnkeeper.core.model import Disposition, Enforcement, Unit, Verdict
from turnkeeper.core.policy import NS, Act, Guards, Limit, Policy
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
        idle_ttl_ns=duration_ns(raw.get("idle_ttl", "1h")),
    )
    return dataclasses.replace(policy, version=version(policy))


def version(policy: Policy) -> str:
    """Return a hash of the content. Defaults are left out: a version stays when a later release adds a key."""
    content = _canonical(dataclasses.replace(policy, name="-", version=""))
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


def _limit(raw: Raw) -> Limit:
    return Limit(
        unit=Unit[raw["unit"].upper()],
        n=None if raw["n"] == "off" else int(raw["n"]),
        tool=raw.get("tool", ""),
        before=_act(raw.get("before", "off")),
        after=_act(raw.get("after", "off")),
        disposition=Disposition[raw.get("disposition", "raise").upper()],
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
    return value.name if isinstance(value, Enum) else value


def _default(field: dataclasses.Field[Any]) -> object:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
