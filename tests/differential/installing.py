"""Installs SDKs by the ordinary package clients, each in a folder of its own, once for each pinned list."""

import hashlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from running import Program

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "differential"
INSTALL_MAX_S = 600
_ONE_AT_A_TIME = threading.Lock()


class NotRunError(Exception):
    """An SDK that cannot be installed here: why."""


def python(name: str, runner: str) -> Program:
    """Make the virtual environment of requirements/NAME.txt."""
    pinned, folder = HERE / "requirements" / f"{name}.txt", CACHE / name

    def install() -> None:
        _call([sys.executable, "-m", "venv", "--clear", str(folder)], CACHE)
        _call([str(folder / "bin" / "pip"), "install", "--quiet", "--no-deps", "-r", str(pinned)], CACHE)

    _once(folder, [pinned], install)
    return Program([str(folder / "bin" / "python"), str(HERE / "runners" / runner)], HERE)


def node(runner: str) -> Program:
    """Install node/package-lock.json; runners are copied beside the modules, where Node looks for them."""
    folder, pinned = CACHE / "node", [HERE / "node" / "package.json", HERE / "node" / "package-lock.json"]
    _need("node", "npm")

    def install() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for file in pinned:
            shutil.copy(file, folder)
        _call(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], folder)

    _once(folder, pinned, install)
    for file in (HERE / "node").glob("*.mjs"):
        shutil.copy(file, folder)
    return Program(["node", runner], folder)


def java(version: str) -> Program:
    """Build java/ with one version of the SDK."""
    folder, source = CACHE / f"java-{version}", HERE / "java"
    _need("java", "mvn")
    pinned = [source / "pom.xml", *sorted(source.rglob("*.java"))]

    def install() -> None:
        quietly = ["--quiet", "--batch-mode", "-Dstyle.color=never"]
        built = [f"-DbuildFolder={folder}", f"-Dgenai.version={version}"]
        _call(["mvn", *quietly, *built, "--file", str(source / "pom.xml"), "process-classes"], CACHE)

    _once(folder, pinned, install)
    return Program(["java", "-cp", f"{folder}/classes:{folder}/lib/*", "turnkeeper.Measured"], folder)


def _once(folder: Path, pinned: Sequence[Path], install: Callable[[], None]) -> None:
    """Install unless this very list was installed here before."""
    with _ONE_AT_A_TIME:
        _install_once(folder, pinned, install)


def _install_once(folder: Path, pinned: Sequence[Path], install: Callable[[], None]) -> None:
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in pinned)).hexdigest()
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text("utf-8") == digest:
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    install()
    stamp.write_text(digest, "utf-8")


def _need(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            message = f"{program} is not installed"
            raise NotRunError(message)


def _call(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=INSTALL_MAX_S)
    except subprocess.CalledProcessError as error:
        message = f"{Path(command[0]).name} failed: {(error.stdout + error.stderr).strip()[:300]}"
        raise NotRunError(message) from error
    except subprocess.TimeoutExpired as error:
        message = f"{Path(command[0]).name} took longer than {INSTALL_MAX_S} s"
        raise NotRunError(message) from error
