"""The options of a client: one table. An argument comes before the environment, that before the default."""

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from turnkeeper_client.errors import OptionError

StrPath = str | os.PathLike[str]
_DEADLINE_MAX_MS = 60_000  # longer than any caller waits before a model call
_NAME_BYTES = 256
_TRUE = ("true", "1")
_PAIR = "tls_cert, tls_key"


class Given(TypedDict, total=False):
    """Options as arguments; None is the same as left out."""

    address: str | None
    deadline_ms: float | None
    fallback: str | None
    policy: str | None
    token_file: StrPath | None
    tls_ca: StrPath | None
    tls_cert: StrPath | None
    tls_key: StrPath | None
    disabled: bool | None


@dataclass(frozen=True)
class Options:
    """Checked options."""

    address: str
    deadline_ms: float
    fallback: str
    policy: str
    token_file: str
    tls_ca: str
    tls_cert: str
    tls_key: str
    disabled: bool

    @classmethod
    def of(cls, given: Given, env: Mapping[str, str] = os.environ) -> "Options":
        """Choose and check every option."""
        options = cls(**{name: row.choose(name, given.get(name), env) for name, row in _TABLE.items()})
        if bool(options.tls_cert) != bool(options.tls_key):
            given_files = (options.tls_cert, options.tls_key)
            raise OptionError(_PAIR, given_files, "both, or neither")
        return options


def default_address() -> str:
    """Return the daemon's own default: its socket if it is there and ours, else loopback."""
    directory = Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp")  # noqa: S108 - the directory is the daemon's, 0700
    name = "turnkeeper" if "XDG_RUNTIME_DIR" in os.environ else f"turnkeeper-{os.getuid()}"
    path = directory / name / "turnkeeper.sock"
    try:
        found = path.stat()
    except OSError:
        return "127.0.0.1:7310"
    ours = stat.S_ISSOCK(found.st_mode) and found.st_uid in (0, os.getuid())
    return f"unix://{path}" if ours else "127.0.0.1:7310"


class _Row(NamedTuple):
    pattern: str
    allowed: str
    default: object = ""
    read: Callable[[str], object] = str
    check: Callable[[Any], bool] = lambda _: True

    def choose(self, name: str, given: object, env: Mapping[str, str]) -> Any:  # noqa: ANN401 - each has its type
        variable = f"TURNKEEPER_{name.upper()}"
        source, value = (variable, env.get(variable) or None) if given is None else (name, given)
        if value is None:
            return self.default() if callable(self.default) else self.default
        text = str(value)
        read = self.read(text) if re.fullmatch(self.pattern, text) else None
        if read is None or not self.check(read):
            raise OptionError(source, value, self.allowed)
        return read


def _port_fits(address: str) -> bool:
    return address.startswith("unix:") or 0 < int(address.rpartition(":")[2]) <= 65535  # noqa: PLR2004 - the TCP port range


_FILE = _Row(r"[^\0]+", "a file that can be read", check=lambda path: os.access(path, os.R_OK) and Path(path).is_file())
_TABLE = {
    "address": _Row(
        r"unix:///[^\s\0]+|(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}",
        "unix:///path, host:port or [::1]:port",
        default_address,
        check=_port_fits,
    ),
    "deadline_ms": _Row(
        r"\d+(\.\d+)?",
        f"milliseconds, above 0 and at most {_DEADLINE_MAX_MS}",
        default=50.0,
        read=float,
        check=lambda deadline_ms: 0 < deadline_ms <= _DEADLINE_MAX_MS,
    ),
    "fallback": _Row("open|closed|local", "open, closed or local", "local"),
    "policy": _Row(r"(?s).*\S.*", "a name of 1 to 256 bytes", check=lambda name: len(name.encode()) <= _NAME_BYTES),
    "token_file": _FILE,
    "tls_ca": _FILE,
    "tls_cert": _FILE,
    "tls_key": _FILE,
    "disabled": _Row("(?i)true|false|1|0", "true or false", default=False, read=lambda text: text.lower() in _TRUE),
}
