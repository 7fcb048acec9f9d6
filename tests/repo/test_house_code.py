"""House rules on code that no linter has. Their numbers may go down, never up."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from files import name, python

MODULE_LINES = 400
FUNCTION_LINES = 60
CORE_CODE_LINES = 1450  # daemon/decisions/0017
PRODUCT = ("daemon", "clients/python")

SUPPRESSION = re.compile(r"#\s*(?:noqa:\s*([A-Z]+[0-9]+(?:, [A-Z]+[0-9]+)*)|type: ignore\[([a-z, -]+)\])")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def comments(path: Path) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def code_lines(path: Path) -> int:
    """Count lines that hold code: no blank line, comment or docstring."""
    text = path.read_text("utf-8")
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in ignored:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            held.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


@pytest.mark.parametrize("path", python(*PRODUCT), ids=name)
def test_a_module_is_split_at_400_lines(path: Path) -> None:
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= MODULE_LINES, f"{name(path)} has {lines} lines: split it by subject"


def test_functions_are_split_at_60_lines() -> None:
    long = [
        f"{name(path)}:{node.lineno} {node.name}"
        for path in python("daemon", "clients", "tests", "tools")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_LINES
    ]
    assert not long, f"longer than {FUNCTION_LINES} lines: {long}"


def test_the_core_is_read_in_half_an_hour() -> None:
    lines = sum(code_lines(path) for path in python("daemon/turnkeeper/core"))
    assert lines <= CORE_CODE_LINES


def test_a_module_opens_with_what_it_is() -> None:
    silent = [name(path) for path in python(*PRODUCT, "tools") if not ast.get_docstring(tree(path))]
    assert not silent, f"without a docstring: {silent}"


def test_a_suppressed_finding_says_why_once_a_file() -> None:
    silent = {}
    for path in python(*PRODUCT, "tools"):
        rules: dict[str, bool] = {}
        for comment in comments(path):
            for found in SUPPRESSION.finditer(comment):
                why = SUPPRESSION.sub("", comment).strip(" #-")
                rule = found[1] or found[2]
                rules[rule] = rules.get(rule, False) or bool(why)
        if bare := sorted(rule for rule, why in rules.items() if not why):
            silent[name(path)] = bare
    assert not silent, f"`# noqa: RULE - why`, `# type: ignore[rule]  # why`; without a reason: {silent}"


def test_tests_wait_for_conditions() -> None:
    blind = []
    for path in python("tests"):
        module = tree(path)
        polls = {
            id(inner) for loop in ast.walk(module) if isinstance(loop, ast.While | ast.For) for inner in ast.walk(loop)
        }
        blind += [
            f"{name(path)}:{node.lineno}"
            for node in ast.walk(module)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sleep"
            if id(node) not in polls
        ]
    assert not blind, f"sleeps outside a loop that ends by a condition (use `until`): {blind}"


def test_test_modules_have_names_of_their_own() -> None:
    names = Counter(path.name for path in python("tests") if path.name not in ("conftest.py", "__init__.py"))
    assert not [file for file, times in names.items() if times > 1]
