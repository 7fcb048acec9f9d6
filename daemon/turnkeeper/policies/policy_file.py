"""The policy file of a running daemon: the good set, and its reload.

Law: what is in force is the last good content. Content decides, not times or links: a rename, a write in place and
the swap of a ConfigMap's link are all seen, touching the file is not. Nothing here raises once it is built.
"""

import hashlib
from pathlib import Path

from turnkeeper.policies.loader import PolicyError, load, read

PROBLEMS_TOLD_MAX = 100  # what is told of a bad reload goes into a log line and into GetStatus


class PolicyFile:
    """The policies of a file, or the built-in ones when ``path`` is None. Raises ``PolicyError`` when it is bad.

    ``error`` holds the problems of the last reload, empty when it was good; ``error_since_ns`` the time of the first
    bad reload since the last good one; ``loaded_at_ns`` the time of the last good reload, 0 before the first.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._seen = self._look()
        self.current = load(path)
        self.loaded_at_ns = 0
        self.error = ""
        self.error_since_ns = 0

    def changed(self) -> bool:
        """Tell whether the content differs from the one last loaded or refused."""
        return self._look() != self._seen

    def reload(self, now_ns: int) -> bool:
        """Load the file again. False: it was refused, and the last good set stays."""
        self._seen = self._look()
        try:
            self.current = load(self._path)
        except PolicyError as error:
            self.error = _told(error)
            self.error_since_ns = self.error_since_ns or now_ns
            return False
        self.loaded_at_ns = now_ns
        self.error = ""
        self.error_since_ns = 0
        return True

    def _look(self) -> bytes:
        """Return a digest of the content; empty when there is none to read."""
        if self._path is None:
            return b""
        try:
            return hashlib.sha256(read(self._path)).digest()
        except OSError:
            return b""


def _told(error: PolicyError) -> str:
    lines = [str(problem) for problem in error.problems[:PROBLEMS_TOLD_MAX]]
    if len(error.problems) > PROBLEMS_TOLD_MAX:
        lines.append(f"and {len(error.problems) - PROBLEMS_TOLD_MAX} more problems")
    return "\n".join(lines)
