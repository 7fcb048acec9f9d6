"""What an operator is told of a bad file: all of it, in the order of the file, one line each."""

import json
from pathlib import Path

import jsonschema
import pytest

from turnkeeper import policies
from turnkeeper.policies import PolicyError, Problem, loader
from turnkeeper.policies.extending import Raw

DATA = Path(__file__).parents[2] / "data" / "policies"
BAD = sorted((DATA / "bad").glob("*.yaml"))


def problems_of(text: str | bytes, file: str = "p.yaml") -> list[str]:
    with pytest.raises(PolicyError) as caught:
        policies.parse(text, file)
    assert list(caught.value.problems) == sorted(caught.value.problems)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    assert problems_of(path.read_bytes(), path.name) == path.with_suffix(".problems").read_text("utf-8").splitlines()


EMPTY = "an empty file, allowed: policies, match (without --policies the built-in policy holds)"
POLICIES = 'a map of names to policies; "default" is built in, and can be given here'
RULES = 'a list of rules; the first that fits chooses the policy, where the event names none and before "default"'
KEYS = "extends, enforcement, limits, guards, deny, budgets, repetition, cycle, error_streak, tools, source, ends, idle_ttl"
SHIPPED = sorted(set(policies.load(None).policies) - {"default"})
NAME = "a name of 1 to 64 characters, with no space at its ends and no control characters"
DURATION = "a duration over zero, such as 500ms, 30s, 15m or 1h30m"
COUNT = "a whole number from 0 (none) to 4294967295, or off (no limit)"
LIMIT = "policies: {a: {limits: [{unit: turns, after: {then: reject}, n: %s}]}}"
TTL = "policies: {a: {idle_ttl: %s}}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", f"1:1: {EMPTY}"),
        ("# only words\n", f"1:1: {EMPTY}"),
        ("{}", "1:1: {}, allowed: a map with policies, match, or both"),
        ("- a", "1:1: a list of 1, allowed: a map with policies, match, or both"),
        ("ten turns", "1:1: 'ten turns', allowed: a map with policies, match, or both"),
        ("policies:", f"1:1: policies: nothing, allowed: {POLICIES}"),
        ("match: {}", f"1:8: match: {{}}, allowed: {RULES}"),
        (LIMIT % "-0.5", f"1:65: policies.a.limits[0].n: -0.5, allowed: {COUNT}"),
        (LIMIT % "1_000", f"1:65: policies.a.limits[0].n: '1_000', allowed: {COUNT}"),
        (LIMIT % "Off", f"1:65: policies.a.limits[0].n: 'Off', allowed: {COUNT}"),
        (LIMIT % ".inf", f"1:65: policies.a.limits[0].n: .inf, allowed: {COUNT}"),
        (LIMIT % ".nan", f"1:65: policies.a.limits[0].n: .nan, allowed: {COUNT}"),
        (LIMIT % "true", f"1:65: policies.a.limits[0].n: true, allowed: {COUNT}"),
        (LIMIT % "null", f"1:65: policies.a.limits[0].n: nothing, allowed: {COUNT}"),
        (LIMIT % ("9" * 5000), f"1:65: policies.a.limits[0].n: {'9' * 59}…, allowed: {COUNT}"),
        (TTL % "off", f"1:26: policies.a.idle_ttl: 'off', allowed: {DURATION}"),
        (TTL % "1h 30m", f"1:26: policies.a.idle_ttl: '1h 30m', allowed: {DURATION}"),
        (TTL % "30m1h", f"1:26: policies.a.idle_ttl: '30m1h', allowed: {DURATION}"),
        (TTL % "-1h", f"1:26: policies.a.idle_ttl: '-1h', allowed: {DURATION}"),
        (TTL % "1d", f"1:26: policies.a.idle_ttl: '1d', allowed: {DURATION}"),
        (TTL % '""', f"1:26: policies.a.idle_ttl: '', allowed: {DURATION}"),
        ("policies: {%s: {}}" % ("x" * 65), f"1:12: policies: key '{'x' * 59}…', allowed: {NAME}"),
        (
            "policies: {a: {extends: defaults}}",
            f"1:25: policies.a.extends: 'defaults', allowed: a, default, {', '.join(SHIPPED)}; did you mean default?",
        ),
        (
            "policies: {a: {Extends: default}}",
            f"1:16: policies.a.Extends: unknown key, allowed: {KEYS}; did you mean extends?",
        ),
        ('policies: {a: {"x\\ny": 1}}', f"1:16: policies.a.'x\\ny': unknown key, allowed: {KEYS}"),
    ],
)
def test_one_problem(text: str, line: str) -> None:
    assert problems_of(text) == [f"p.yaml:{line}"]


RULE = "policies: {a: {%s}}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("error_streak: {at: 0}", "policies.a.error_streak.at: 0, allowed: a whole number of turns from 1 to 36"),
        ("repetition: {at: 1}", "policies.a.repetition.at: 1, allowed: a whole number of laps from 2 to 36"),
        ("repetition: {at: 3.0, warn: 4}", "policies.a.repetition.warn: 4, allowed: at most at, which is 3.0"),
        ("cycle: {at: 37}", "policies.a.cycle.at: 37, allowed: a whole number of laps from 2 to 36"),
        ("cycle: {at: 7}", "policies.a.cycle.at: 7, allowed: at times max_period at most 36, it is 42"),
        (
            "cycle: {max_period: 1, at: 2}",
            "policies.a.cycle.max_period: 1, allowed: a whole number of turns from 2 to 6; at times max_period is at most 36",
        ),
        (
            "extends: strict, repetition: {warn: 3}",
            "policies.a.repetition.warn: 3, allowed: at most at, which is 2",
        ),
        (
            "extends: strict, limits: {unit: turns}",
            "policies.a.limits: {unit}, allowed: a list of at most 64 limits, one for each unit and tool",
        ),
    ],
)
def test_one_problem_of_a_rule(body: str, text: str) -> None:
    (told,) = problems_of(RULE % body)
    assert told.split(": ", 1)[1] == text


def test_names_there_are_many_of_are_not_all_told() -> None:
    text = "policies:\n" + "".join(f"  p{number:02}: {{}}\n" for number in range(30)) + "  z: {extends: base}\n"
    first = ", ".join(["default", *(f"p{number:02}" for number in range(30)), "z", *SHIPPED[:8]])
    assert problems_of(text) == [f"p.yaml:32:16: policies.z.extends: 'base', allowed: {first} and 15 more"]


def test_an_alias_is_told_where_its_value_stands() -> None:
    text = "policies:\n  a: &a {idle_ttl: 0s}\n  b: *a\n"
    assert problems_of(text) == [
        f"p.yaml:2:20: policies.a.idle_ttl: '0s', allowed: {DURATION}",
        f"p.yaml:2:20: policies.b.idle_ttl: '0s', allowed: {DURATION}",
    ]


def test_what_the_core_refuses_is_a_problem_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, raw: Raw) -> None:
        del raw
        msg = f"{name}: refused"
        raise ValueError(msg)

    policies.load(None)
    monkeypatch.setattr(loader, "build", refuse)
    assert problems_of("policies: {a: {}}") == ["p.yaml:1:1: a: refused"]


def test_a_problem_reads_like_a_compilers() -> None:
    assert str(Problem("p.yaml", 3, 7, "n: -1")) == "p.yaml:3:7: n: -1"


def test_unreadable_files(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none", "No such file or directory"), (tmp_path, "not a regular file")):
        with pytest.raises(PolicyError) as caught:
            policies.load(path)
        assert str(caught.value) == f"{path}:1:1: cannot be read: {why}"


def test_the_schema_is_one_and_describes_every_key() -> None:
    schema = policies.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(described(schema)) == []
    assert json.loads(json.dumps(schema)) == schema


def described(node: object, path: str = "") -> list[str]:
    """Return the keys that have no description, of their own or by reference."""
    missing = []
    if isinstance(node, dict):
        for name, each in node.get("properties", {}).items() if isinstance(node.get("properties"), dict) else ():
            if isinstance(each, dict) and not {"description", "$ref"} & each.keys():
                missing.append(f"{path}.{name}")
        for key, each in node.items():
            missing += described(each, f"{path}.{key}")
    if isinstance(node, list):
        for each in node:
            missing += described(each, path)
    return missing
