"""Addresses: parsing, and claiming them so that no two daemons ever share one.

Law: an address in use is refused with a clear message, never stolen; the socket file of a dead daemon is taken
over. Who owns a Unix socket is told by a lock on ``<path>.lock``, which the kernel frees when its owner dies.
"""

import errno
import fcntl
import ipaddress
import os
import socket
import stat
from pathlib import Path
from typing import IO, NamedTuple

SOCKET_PATH_BYTES = 107  # sun_path of Linux, less its closing zero
DIRECTORY_MODE = 0o750
SOCKET_UMASK = 0o117  # rw for owner and group


class AddressError(ValueError):
    """Text that is no address, or an address that may not be used."""


class AddressInUseError(RuntimeError):
    """Somebody else serves this address."""


class Address(NamedTuple):
    """``unix:///path`` (then ``path`` is set), or a host and port."""

    path: str
    host: str
    port: int

    def __str__(self) -> str:
        """Return the address as people type it."""
        if self.path:
            return f"unix://{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """Return the address as gRPC takes it."""
        return f"unix:{self.path}" if self.path else str(self)


def parse(text: str) -> Address:
    """Parse ``unix:///path``, ``127.0.0.1:7310`` or ``[::1]:7310``. Raises ``AddressError``."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix://") if text.startswith("unix://") else text.removeprefix("unix:")
        if not path.startswith("/"):
            msg = f"{text!r}: a socket needs an absolute path, as in unix:///run/turnkeeper/turnkeeper.sock"
            raise AddressError(msg)
        if not path.isprintable():
            msg = f"{text!a}: a path of printable text is needed"
            raise AddressError(msg)
        size = len(os.fsencode(path))
        if size > SOCKET_PATH_BYTES:
            msg = f"{text!r}: the path has {size} bytes, at most {SOCKET_PATH_BYTES} are allowed"
            raise AddressError(msg)
        return Address(path, "", 0)
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:  # noqa: PLR2004 - the TCP port range
        msg = f"{text!r}: not an address; allowed are unix:///path, HOST:PORT and [IPV6]:PORT, port 0 to 65535"
        raise AddressError(msg)
    return Address("", "127.0.0.1" if host == "localhost" else host, int(port))


def require_loopback(address: Address) -> None:
    """Refuse to listen beyond this machine. Raises ``AddressError``."""
    try:
        inside = ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        inside = False
    if not inside:
        msg = f"{address}: not a loopback address; without TLS the daemon listens on 127.0.0.1, [::1] or a socket"
        raise AddressError(msg)


def claim_socket(path: str, *, private: bool) -> IO[str]:
    """Make sure that this process alone will serve ``path``, and return the lock to hold while it does.

    ``private``: the directory is our own default, and must not belong to another user. Raises ``AddressError``
    and ``AddressInUseError``.
    """
    directory = Path(path).parent
    _directory(directory, private=private)
    try:
        lock = Path(f"{path}.lock").open("a+", encoding="ascii")  # noqa: SIM115 - held until the daemon stops
    except OSError as error:
        msg = f"unix://{path}: cannot make its lock file: {error.strerror}"
        raise AddressError(msg) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        owner = lock.read(20).strip() or "unknown"
        lock.close()
        msg = f"unix://{path}: another daemon serves it (pid {owner})"
        raise AddressInUseError(msg) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    try:
        _remove_stale(path)
    except AddressInUseError:
        lock.close()
        raise
    return lock


def _directory(directory: Path, *, private: bool) -> None:
    try:
        directory.mkdir(mode=0o700 if private else DIRECTORY_MODE, parents=True, exist_ok=True)
        owner = directory.stat().st_uid
    except OSError as error:
        msg = f"{directory}: cannot make the socket directory: {error.strerror}"
        raise AddressError(msg) from None
    if private and owner != os.getuid():
        msg = f"{directory}: the socket directory belongs to user {owner}, not to {os.getuid()}"
        raise AddressError(msg)


def _remove_stale(path: str) -> None:
    """Remove what a dead daemon left; refuse what somebody listens on, and what is no socket."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        msg = f"unix://{path}: a file that is not a socket is in the way"
        raise AddressInUseError(msg)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()
            return
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
    msg = f"unix://{path}: another program listens on it"
    raise AddressInUseError(msg)


def bind_admin(address: Address) -> socket.socket:
    """Bind and listen on the admin address. Raises ``AddressInUseError``."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((address.host, address.port))
        server.listen(128)
    except OSError as error:
        server.close()
        why = (error.strerror or "cannot listen").lower()
        msg = f"{address}: {why}; choose another address with --admin"
        raise AddressInUseError(msg) from None
    return server
