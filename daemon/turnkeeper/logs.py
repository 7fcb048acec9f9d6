"""Log lines on stderr: for a terminal, or one JSON object a line.

Law: a log line holds no prompt, argument, result or secret. Structured fields go in ``extra={"fields": {...}}``.
"""

import json
import logging
import sys
from datetime import UTC, datetime

FORMATS = ("console", "json")
LEVELS = ("debug", "info", "warning", "error")


class _Formatter(logging.Formatter):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields: dict[str, object] = getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            fields = {**fields, "error": f"{type(error).__name__}: {error}"}
        if self._as_json:
            line = {"time": time, "level": record.levelname.lower(), "logger": record.name}
            return json.dumps({**line, "message": record.getMessage(), **fields}, default=str)
        tail = "".join(f" {key}={json.dumps(value, default=str)}" for key, value in fields.items())
        return f"{time} {record.levelname:<7} {record.getMessage()}{tail}"


def configure(log_format: str, level: str) -> None:
    """Send all log lines of this process to stderr. ``log_format`` is one of FORMATS, ``level`` of LEVELS."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(as_json=log_format == "json"))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
