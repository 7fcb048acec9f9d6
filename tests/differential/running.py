"""One runner program: a process that takes a case a line and answers a line."""

import json
import os
import selectors
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

CASE_MAX_S = 120.0
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class RunnerError(Exception):
    """A runner that broke: what it was asked, and the end of what it said."""


@dataclass(frozen=True)
class Program:
    """A command, and where it runs."""

    command: Sequence[str]
    folder: Path


class Runner:
    """Runs cases, one after the other, in one process."""

    def __init__(self, program: Program) -> None:
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        kept = {key: value for key, value in os.environ.items() if key.lower() not in _PROXIES}
        self._process = subprocess.Popen(
            program.command,
            cwd=program.folder,
            env=kept,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._stdout, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._ready.close()
        self._stdout.close()
        self._stdin.close()
        self._complaints.close()

    def run(self, case: dict[str, Any]) -> dict[str, Any]:
        """Run one case; a runner that says nothing in time, or ends, is an error of the measurement."""
        self._stdin.write(json.dumps(case) + "\n")
        self._stdin.flush()
        line = self._stdout.readline() if self._ready.select(CASE_MAX_S) else ""
        if not line:
            self._complaints.seek(0)
            message = f"{case}: no answer in {CASE_MAX_S:.0f} s\n{self._complaints.read()[-2000:]}"
            raise RunnerError(message)
        answer: dict[str, Any] = json.loads(line)
        return answer
