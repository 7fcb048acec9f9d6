"""YAML 1.2 core, with places, bounded."""

import pytest

from turnkeeper.policies.yaml_nodes import (
    BYTES_MAX,
    DEPTH_MAX,
    LINE_MAX,
    VALUES_MAX,
    YamlError,
    compose,
    find,
    plain,
    position,
    resolve,
    shown,
)

INF = float("inf")
MANY = f"too many values, allowed: {VALUES_MAX}, an alias counts as what it stands for"
TAB = "not YAML: while scanning for the next token, found character '\\t' that cannot start any token"


def problems_of(text: str | bytes) -> list[str]:
    with pytest.raises(YamlError) as caught:
        compose(text, "f")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, word) for word in ("yes", "no", "on", "off", "y", "n", "Yes", "OFF", "tRUE", "nULL", "None")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-7", -7),
        ("+7", 7),
        ("-0o7", "-0o7"),
        ("0o8", "0o8"),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("190:20:30", "190:20:30"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-1", -0.15),
        (".inf", INF),
        ("-.INF", -INF),
        ("+.Inf", INF),
        (".", "."),
        ("1e", "1e"),
        ("2026-12-01", "2026-12-01"),
        ("=", "="),
        ("<<", "<<"),
        ("1٣", "1٣"),
        ("9" * 400, int("9" * 400)),
        ("9" * 5000, INF),
    ],
)
def test_plain_scalars(text: str, value: object) -> None:
    found = resolve(text)
    assert (found, type(found)) == (value, type(value))


def test_nan() -> None:
    assert str(resolve(".nan")) == str(resolve(".NaN")) == str(resolve(".NAN")) == "nan"


def test_quotes_and_blocks_are_text() -> None:
    text = "a: '010'\nb: \"off\"\nc: |\n  1\nd: !!str 5\ne: ! 5\nf: >-\n  null\n"
    assert plain(compose(text, "f")) == {"a": "010", "b": "off", "c": "1\n", "d": "5", "e": "5", "f": "null"}


def test_places() -> None:
    root = compose("a:\n  b: [x, {c: 1}]\n  ? d\n  : &n\n    e: 2\n  f: *n\n  g:\nh: 1\n", "f")
    assert position(root, ()) == (1, 1)
    assert position(root, ("a",)) == (1, 1)
    assert position(root, ("a", "b")) == (2, 3)
    assert position(root, ("a", "b", 1)) == (2, 10)
    assert position(root, ("a", "b", 1, "c")) == (2, 11)
    assert find(root, ("a", "b", 1, "c")).mark == (2, 14)
    assert position(root, ("a", "d")) == (3, 5)
    assert find(root, ("a", "d", "e")).mark == find(root, ("a", "f", "e")).mark == (5, 8)
    assert find(root, ("a", "g")).mark == (7, 3)


def test_a_byte_order_mark_and_line_ends_do_not_move_places() -> None:
    root = compose("\ufeffa: 1\r\nb: 2\r\n".encode(), "f")
    assert (position(root, ("a",)), position(root, ("b",))) == ((1, 1), (2, 1))


def test_nothing_is_null() -> None:
    assert plain(compose("", "f")) is plain(compose("# a comment", "f")) is plain(compose("---\n...\n", "f")) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("%YAML 1.2\n---\na: 1\n", {"a": 1}), ("--- {a: 1}\n...\n# end\n", {"a": 1}), ("[]", []), ("{a: {}}", {"a": {}})],
)
def test_documents(text: str, value: object) -> None:
    assert plain(compose(text, "f")) == value


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "a: 1\na: 2\n'a': 3\n",
            ["2:1: key 'a', given twice: first in line 1", "3:1: key 'a', given twice: first in line 1"],
        ),
        (
            "x: {10: 1, a: {a: 1, a: 2}}",
            [
                "1:5: key 10, allowed: a text (in quotes, if it looks like something else)",
                "1:22: key 'a', given twice: first in line 1",
            ],
        ),
        ("a: !x 1", ["1:4: tag '!x', allowed: none"]),
        ("a: !!int 1", ["1:4: tag 'tag:yaml.org,2002:int', allowed: none"]),
        ("!!set {a}", ["1:1: tag 'tag:yaml.org,2002:set', allowed: none"]),
        ("a: 1\n---\nb: 1\n", ["2:1: a second document, allowed: one document in a file"]),
        ("%YAML 1.1\n---\na: 1\n", ["1:1: %YAML 1.1, allowed: 1.2"]),
        ("a: *b", ["1:4: *b, allowed: an alias of an anchor (&name) above"]),
        ("a: *b\u202e", ["1:4: *b\\u202e, allowed: an alias of an anchor (&name) above"]),
        ("a: &b [*b]", ["1:8: *b, stands inside of what it stands for"]),
        ('a: "\\ud800"', ["1:4: '\\ud800', allowed: whole characters, no halves of a surrogate pair"]),
        ("a: [", ["1:5: not YAML: while parsing a flow node, expected the node content, but found '<stream end>'"]),
        ("a: b: c", ["1:5: not YAML: mapping values are not allowed here"]),
        ("a:\n\tb: 1", [f"2:1: {TAB}"]),
        ("a: 1\nb: \x00", ["2:4: character '\\x00', allowed: printable text"]),
        ("a: \ud800", ["1:4: byte 0xed, allowed: UTF-8 text"]),
        (b"a: 1\nb: \xc3\xa9 \xff", ["2:6: byte 0xff, allowed: UTF-8 text"]),
        ("a: 1".encode("utf-16"), ["1:1: byte 0xff, allowed: UTF-8 text"]),
        (b"#" * (BYTES_MAX + 1), [f"1:1: too large, allowed: {BYTES_MAX} bytes"]),
        ("\n" + "#" * (LINE_MAX + 1), [f"2:1: a line of {LINE_MAX + 1} characters, allowed: {LINE_MAX}"]),
        ("[" * (DEPTH_MAX + 2), [f"1:{DEPTH_MAX + 2}: nested too deep, allowed: {DEPTH_MAX} levels"]),
        ("- a\n" * VALUES_MAX, [f"{VALUES_MAX}:3: {MANY}"]),
    ],
)
def test_problems(text: str | bytes, problems: list[str]) -> None:
    assert problems_of(text) == [f"f:{problem}" for problem in problems]


def test_a_billion_laughs_are_refused_before_they_are_written_out() -> None:
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    assert problems_of("\n".join(lines)) == [f"f:5:15: {MANY}"]


def test_what_is_deep_but_allowed() -> None:
    assert compose("[" * DEPTH_MAX + "]" * DEPTH_MAX, "f").size == DEPTH_MAX


def test_what_could_be_read_is_kept_for_the_other_checks() -> None:
    with pytest.raises(YamlError) as caught:
        compose("a: 1\na: 2\n3: x\nb: !t y", "f")
    assert caught.value.root is not None
    assert plain(caught.value.root) == {"a": 1, "b": "y"}
    with pytest.raises(YamlError) as caught:
        compose("a: [", "f")
    assert caught.value.root is None


def test_values_are_shown_short_and_on_one_line() -> None:
    root = compose('{a: "x\\ny", b: [1, 2], c: {d: 1, "e\\n": 2}, f: , g: 0x10, h: %s, i: true}' % ("x" * 99), "f")
    told = {name: shown(find(root, (name,))) for name in "abcfghi"}
    assert told == {
        "a": r"'x\ny'",
        "b": "a list of 2",
        "c": r"{d, e\n}",
        "f": "nothing",
        "g": "0x10",
        "h": f"'{'x' * 59}…'",
        "i": "true",
    }
