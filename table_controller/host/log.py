"""The log of the box: one JSON object a line on standard error, with the priority that the systemd journal reads."""

from __future__ import annotations

import logging
import os
import sys
import traceback

import msgspec

# Severities of RFC 5424.
_PRIORITIES = {
    logging.CRITICAL: 2,
    logging.ERROR: 3,
    logging.WARNING: 4,
    logging.INFO: 6,
    logging.DEBUG: 7,
}


class JsonLineFormatter(logging.Formatter):
    """Formats a record as one line. `with_priorities`: put `<N>` in front, which the systemd journal reads."""

    def __init__(self, table: str, *, with_priorities: bool) -> None:
        super().__init__()
        self._table = table
        self._priorities = with_priorities

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: level, table, logger, message and traceback."""
        fields = {
            "level": record.levelname.lower(),
            "table": self._table,
            "from": record.name,
            "message": record.getMessage(),
        }
        if not self._priorities:  # the systemd journal adds the time itself
            fields = {"at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"), **fields}
        if record.exc_info and record.exc_info[1] is not None:
            fields["error"] = "".join(traceback.format_exception(record.exc_info[1]))
        priority = next((number for level, number in _PRIORITIES.items() if record.levelno >= level), 7)
        prefix = f"<{priority}>" if self._priorities else ""
        return prefix + msgspec.json.encode(fields).decode()


def start_logging(table: str) -> logging.Handler:
    """Send every log record to standard error, one line each; return the handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLineFormatter(table, with_priorities="JOURNAL_STREAM" in os.environ))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    return handler
