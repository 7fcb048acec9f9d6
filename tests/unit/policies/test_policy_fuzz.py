"""Invariant: whatever the input, a set of valid policies or a ``PolicyError`` with sorted, one-line problems."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from turnkeeper import policies
from turnkeeper.core.events import Caller
from turnkeeper.policies import PolicyError

LIMIT_KEYS = ("unit", "n", "tool", "before", "after", "disposition", "zero", "x")
POLICY_KEYS = (
    "extends",
    "enforcement",
    "limits",
    "guards",
    "deny",
    "idle_ttl",
    "budgets",
    "repetition",
    "cycle",
    "error_streak",
    "tools",
    "source",
)
RULE_KEYS = ("at", "warn", "max_period", "tokens", "cost_usd", "elapsed", "errors", "same_result", "ignore_args")
WORDS = (
    "policies",
    "match",
    "when",
    "agent",
    "then",
    "offset",
    "off",
    "turns",
    "reject",
    "default",
    "a",
    "b",
    "1h",
    "0s",
)
MARKS = (
    ": ",
    "\n",
    "\n  ",
    " ",
    ", ",
    "- ",
    "? ",
    "&a ",
    "*a",
    "! ",
    "!!str ",
    "| ",
    "> ",
    "'",
    '"',
    "%",
    "@",
    "[",
    "]",
    "{",
    "}",
)
ODD = ("# ", "~", "<<", "---", "...", "5", "010", ".inf", "\t", "\\u", "\ufeff")

leaf = st.one_of(st.sampled_from(WORDS), st.text(max_size=5), st.integers(), st.floats(), st.booleans(), st.none())
anything = st.recursive(
    leaf,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner),
    max_leaves=8,
)
act = st.fixed_dictionaries(
    {"then": st.sampled_from(["force_none", "remove_tools", "reject"])}, optional={"offset": st.integers(-3, 3)}
)
limit = st.fixed_dictionaries(
    {"unit": st.sampled_from(["turns", "model_calls", "function_calls"]), "n": st.integers(0, 99) | st.just("off")},
    optional={
        "before": act | st.just("off"),
        "after": act,
        "tool": st.sampled_from(["a", " "]),
        "zero": st.just("no_calls"),
    },
)
near_limit = limit | st.dictionaries(st.sampled_from(LIMIT_KEYS), anything, max_size=4)
near_rule = st.dictionaries(st.sampled_from(RULE_KEYS), st.integers(-1, 40) | leaf, max_size=3)
near_policy = st.dictionaries(
    st.sampled_from(POLICY_KEYS), anything | near_rule | st.lists(near_limit, max_size=3), max_size=4
)
rule = st.fixed_dictionaries({"when": st.dictionaries(st.sampled_from(["agent", "model"]), leaf), "policy": leaf})
document = st.fixed_dictionaries(
    {},
    optional={
        "policies": st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), near_policy),
        "match": st.lists(rule | anything, max_size=3),
    },
)
yaml_text = st.lists(st.sampled_from([*WORDS, *MARKS, *ODD]), max_size=40).map("".join)


def holds(text: str | bytes) -> None:
    try:
        found = policies.parse(text, "f")
    except PolicyError as error:
        problems = error.problems
    else:
        assert found.choose("", Caller()).name in found.policies
        assert all(policy.name == name and len(policy.version) == 12 for name, policy in found.policies.items())
        return
    assert problems
    assert list(problems) == sorted(set(problems))
    for problem in problems:
        assert str(problem).isprintable(), problem
        assert min(problem.line, problem.column) >= 1


@given(st.binary() | st.text() | yaml_text)
@example('"\\UFFFFFFFF"')
@example("%YAML 1.3\n---\n1")
@example("%YAML " + "1" * 5000)
@example("!<tag:%zz> a")
@example("&a : *a")
@example(": ?\n0")
@settings(max_examples=500, deadline=None)
def test_any_text(text: str | bytes) -> None:
    holds(text)


@given(document | anything)
@settings(max_examples=300, deadline=None)
def test_any_document(content: Any) -> None:
    holds(json.dumps(content))


@pytest.mark.parametrize(
    "unit",
    ["!", "[", "{a: ", "- ", "? ", "&a ", "x\n", "a: {b: c}\n", "<<: *a\n", "'", "\\", ": ", "%A b\n", "\n", "\ufeff"],
)
@pytest.mark.parametrize("size", [60_000, 1_000_000])
def test_much_of_the_same(unit: str, size: int) -> None:
    holds(unit * (size // len(unit.encode())))
