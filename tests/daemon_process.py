"""A real daemon as a child process, for tests.

``Daemon.start(tmp_path)`` returns when the daemon has written its ready line. Whatever it logs is in a file, so
that a full pipe never stops it. ``stop`` asks it to end (SIGTERM) and returns its exit code; ``kill`` does not ask.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

READY_S = 20.0
EXIT_S = 15.0


class NotReadyError(AssertionError):
    """The daemon ended, or said nothing, before it was ready."""


class Daemon:
    """One daemon process; ``restart`` starts another one on the same addresses."""

    def __init__(
        self, process: subprocess.Popen[str], ready: Mapping[str, Any], log: Path, again: Callable[..., "Daemon"]
    ) -> None:
        self.process = process
        self.ready = dict(ready)
        self._log = log
        self._again = again

    @classmethod
    def start(
        cls,
        tmp_path: Path,
        *args: str,
        env: Mapping[str, str] | None = None,
        listen: tuple[str, ...] | None = None,
        admin: str = "127.0.0.1:0",
    ) -> "Daemon":
        """Start ``turnkeeper serve``: on a socket in ``tmp_path`` and a free port unless ``listen`` says otherwise."""
        socket_dir = tmp_path / "run"
        socket_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        addresses = listen if listen is not None else (f"unix://{socket_dir}/tk.sock", "127.0.0.1:0")
        command = [sys.executable, "-m", "turnkeeper", "serve"]
        for address in addresses:
            command += ["--listen", address]
        command += ["--admin", admin, *args]
        log = tmp_path / f"daemon-{time.monotonic_ns()}.log"
        with log.open("w") as stderr:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=_environment(env), start_new_session=True
            )
        ready = _read_ready(process, log)

        def again(*more: str) -> "Daemon":
            return cls.start(tmp_path, *args, *more, env=env, listen=tuple(ready["listen"]), admin=ready["admin"])

        return cls(process, ready, log, again)

    @classmethod
    @contextlib.contextmanager
    def running(cls, tmp_path: Path, *args: str, env: Mapping[str, str] | None = None) -> Iterator["Daemon"]:
        """Start one, and end it in any case."""
        daemon = cls.start(tmp_path, *args, env=env)
        try:
            yield daemon
        finally:
            daemon.stop()

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    @property
    def listen(self) -> list[str]:
        """Every address, as the ready line tells it."""
        return list(self.ready["listen"])

    @property
    def address_unix(self) -> str:
        """``unix:///path`` of the socket."""
        return next(address for address in self.listen if address.startswith("unix:"))

    @property
    def address_tcp(self) -> str:
        """``host:port`` of the TCP listener."""
        return next(address for address in self.listen if not address.startswith("unix:"))

    @property
    def admin(self) -> str:
        """``host:port`` of the admin HTTP listener."""
        return str(self.ready["admin"])

    def stderr(self) -> str:
        """Everything logged so far."""
        return self._log.read_text(errors="replace")

    def stop(self, timeout_s: float = EXIT_S) -> int:
        """SIGTERM, and the exit code; a daemon that does not end is killed and is a failure."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            message = f"the daemon did not end within {timeout_s} s of SIGTERM:\n{self.stderr()}"
            raise AssertionError(message) from None
        self._close()
        return code

    def kill(self) -> None:
        """SIGKILL to the daemon and to the children it has in its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(EXIT_S)
        self._close()

    def restart(self, *args: str) -> "Daemon":
        """Start another daemon with the same arguments on the same addresses; end this one first."""
        return self._again(*args)

    def _close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()


def until(condition: Callable[[], object], timeout_s: float = 10.0, what: str = "the condition") -> None:
    """Wait until a condition holds; fail when it does not in time."""
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            message = f"{what} did not hold within {timeout_s} s"
            raise AssertionError(message)
        time.sleep(0.01)


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """Keep what a process needs, and nothing that configures Turnkeeper or OpenTelemetry."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TURNKEEPER_", "OTEL_"))}
    return {**kept, "PYTHONUNBUFFERED": "1", **(extra or {})}


def _read_ready(process: subprocess.Popen[str], log: Path) -> dict[str, Any]:
    assert process.stdout is not None
    end = time.monotonic() + READY_S
    while time.monotonic() < end:
        readable, _, _ = select.select([process.stdout], [], [], 0.1)
        if readable:
            line = process.stdout.readline()
            if line.startswith("{"):
                return dict(json.loads(line))
        if process.poll() is not None:
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    code = process.wait(EXIT_S)
    process.stdout.close()
    message = f"the daemon was not ready (exit code {code}):\n{log.read_text(errors='replace')}"
    raise NotReadyError(message)
