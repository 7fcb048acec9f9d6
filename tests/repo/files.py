"""The files of the repository: those that git knows, or would know."""

import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def git(*args: str) -> list[str]:
    """Return the paths that a git command lists; the clone may belong to another user."""
    command = ["git", "-c", "safe.directory=*", *args, "-z"]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in out.split("\0") if path]


@functools.cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Return what is, or is to be, in the repository, by the ends of names."""
    listed = (ROOT / path for path in git("ls-files", "--cached", "--others", "--exclude-standard"))
    return tuple(sorted(path for path in listed if path.is_file() and path.name.endswith(suffixes)))


def python(*folders: str) -> list[Path]:
    """Return the Python files below the folders, without generated ones."""
    roots = [ROOT / folder for folder in folders]
    return [p for p in files(".py") if any(p.is_relative_to(r) for r in roots) and not p.name.endswith("_pb2.py")]


def name(path: Path) -> str:
    """Return a path as it is written in the repository."""
    return path.relative_to(ROOT).as_posix()
