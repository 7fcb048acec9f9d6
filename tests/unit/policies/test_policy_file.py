"""The policy file of a running daemon: every way a file changes, and the last good set."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from turnkeeper.policies import PolicyError, PolicyFile

GOOD = "policies: {a: {deny: one}}\n"
BETTER = "policies: {a: {deny: two}}\n"
DENY = (
    "the stop switch, a text of at most 1024 characters: every model call under this policy is rejected with it; "
    '"" denies nothing'
)
BAD = "policies: {a: {deny: 3, enforcement: on}}\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "policies.yaml"
    path.write_text(GOOD)
    return path


def deny(file: PolicyFile) -> str:
    return file.current.policies["a"].deny


def in_place(path: Path) -> None:
    path.write_text(BETTER)


def same_size_and_times(path: Path) -> None:
    before = path.stat()
    path.write_text(BETTER)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def renamed(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_text(BETTER)
    other.replace(path)


@pytest.mark.parametrize("change", [in_place, same_size_and_times, renamed])
def test_a_change_is_seen_once(path: Path, change: Callable[[Path], None]) -> None:
    file = PolicyFile(path)
    assert (deny(file), file.changed(), file.loaded_at_ns) == ("one", False, 0)
    change(path)
    assert file.changed()
    assert file.reload(5)
    assert (deny(file), file.changed(), file.loaded_at_ns, file.error) == ("two", False, 5, "")


def test_the_links_of_a_config_map_are_swapped(tmp_path: Path) -> None:
    for name, text in (("..1", GOOD), ("..2", BETTER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policies.yaml").write_text(text)
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "policies.yaml").symlink_to("..data/policies.yaml")
    file = PolicyFile(tmp_path / "policies.yaml")
    (tmp_path / "..tmp").symlink_to("..2")
    (tmp_path / "..tmp").replace(tmp_path / "..data")
    assert file.changed()
    assert file.reload(1)
    assert deny(file) == "two"


def test_touching_is_no_change(path: Path) -> None:
    file = PolicyFile(path)
    os.utime(path, ns=(1, 1))
    path.write_text(GOOD)
    assert not file.changed()


def test_a_bad_file_leaves_the_last_good_set(path: Path) -> None:
    file = PolicyFile(path)
    path.write_text(BAD)
    assert file.changed()
    assert not file.reload(7)
    assert file.error.splitlines() == [
        f"{path}:1:22: policies.a.deny: 3, allowed: {DENY}",
        f"{path}:1:38: policies.a.enforcement: 'on', allowed: enforce, observe",
    ]
    assert (deny(file), file.error_since_ns, file.loaded_at_ns, file.changed()) == ("one", 7, 0, False)
    assert not file.reload(9)
    assert file.error_since_ns == 7
    path.write_text(BETTER)
    assert file.changed()
    assert file.reload(11)
    assert (deny(file), file.error, file.error_since_ns, file.loaded_at_ns) == ("two", "", 0, 11)


def test_a_file_that_vanishes_and_comes_back(path: Path) -> None:
    file = PolicyFile(path)
    path.unlink()
    assert file.changed()
    assert not file.reload(1)
    assert file.error == f"{path}:1:1: cannot be read: No such file or directory"
    assert (deny(file), file.changed()) == ("one", False)
    path.write_text(GOOD)
    assert file.changed()
    assert file.reload(2)
    assert file.error == ""


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_does_not_hold_the_daemon(path: Path, make: Callable[[Path], None]) -> None:
    file = PolicyFile(path)
    path.unlink()
    make(path)
    assert file.changed()
    assert not file.reload(1)
    assert file.error == f"{path}:1:1: cannot be read: not a regular file"


def test_bytes_that_are_no_text(path: Path) -> None:
    file = PolicyFile(path)
    path.write_bytes(b"\xff\x00")
    assert not file.reload(1)
    assert file.error == f"{path}:1:1: byte 0xff, allowed: UTF-8 text"


def test_very_many_problems_are_not_all_told(path: Path) -> None:
    file = PolicyFile(path)
    path.write_text("".join(f"k{number}: 1\n" for number in range(150)))
    assert not file.reload(1)
    assert len(file.error.splitlines()) == 101
    assert file.error.endswith("and 50 more problems")


def test_at_the_start_a_bad_file_is_an_error(tmp_path: Path, path: Path) -> None:
    path.write_text(BAD)
    for each in (path, tmp_path / "none"):
        with pytest.raises(PolicyError):
            PolicyFile(each)


def test_without_a_file_the_built_in_policies_stay() -> None:
    file = PolicyFile(None)
    assert not file.changed()
    assert file.reload(3)
    assert (file.current.own, file.current.source) == (("default",), "built-in")
    assert (file.error, file.loaded_at_ns) == ("", 3)
