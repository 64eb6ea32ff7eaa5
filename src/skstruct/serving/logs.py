# SPDX-License-Identifier: BSD-3-Clause
"""Lines of JSON on stderr: what was asked and how it went, without any data of the users."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

LEVELS = ("info", "warning", "error")


class Log:
    """Writes one line for every event of at least a level.

    Parameters
    ----------
    level : {"info", "warning", "error"}
    file : file, default=None
        stderr when None.
    """

    def __init__(self, level: str = "info", file: Any = None) -> None:
        if level not in LEVELS:
            raise ValueError(f"log_level is one of {', '.join(LEVELS)}; got {level!r}.")
        self.least, self.file = LEVELS.index(level), file

    def write(self, level: str, event: str, **fields: Any) -> None:
        """One line; fields that are None are left out."""
        if LEVELS.index(level) < self.least:
            return
        record = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level}
        record |= {"event": event}
        record |= {name: value for name, value in fields.items() if value is not None}
        file = self.file or sys.stderr
        try:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            file.flush()
        except (OSError, ValueError):  # nobody reads it: no reason to answer nobody
            pass

    def request(
        self, route: str, status: int, seconds: float, request_id: str, model: Any, rows: Any
    ) -> None:
        """A request that was answered."""
        level = "error" if status == 500 else "warning" if status == 503 else "info"
        self.write(
            level, "request", route=route, model=model, rows=rows, status=status,
            ms=round(1000 * seconds, 2), request=request_id,
        )  # fmt: skip

    def failure(self, told: Mapping[str, Any], request_id: str) -> None:
        """An error that should not be, as :func:`~skstruct.serving.messages.failure_of` tells."""
        self.write("error", "failure", **told, request=request_id)
