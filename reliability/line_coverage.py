# SPDX-License-Identifier: BSD-3-Clause
"""Which lines of some modules have ever run: what tells a new kind of input from an old one.

From Python 3.12 on lines report themselves once and are silent from then on, which costs next to
nothing. Before, a trace function looks at all functions of these modules that still have lines
nobody has seen, which takes a few times as long; a share of the inputs is traced then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import CodeType

_TOOL = 4  # which nobody else claims
TRACED = 1 if sys.version_info >= (3, 12) else 16  # one input of so many is traced


class LineCoverage:
    """Lines of files that ran while it was on.

    Parameters
    ----------
    files : iterable of path
        Of modules.

    Attributes
    ----------
    seen : set of (file name, line)
    """

    _last: LineCoverage | None = None

    def __init__(self, files: Iterable[str | Path]) -> None:
        self._files = {str(file) for file in files}
        self.seen: set[tuple[str, int]] = set()
        self._unseen: dict[CodeType, set[int]] = {}
        self._new = 0
        self._before = None

    def __enter__(self) -> LineCoverage:
        self._new = len(self.seen)
        if sys.version_info >= (3, 12):
            self._start_monitoring()
        else:
            self._before = sys.gettrace()
            sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.version_info < (3, 12):  # lines that report once may stay on: putting them off costs
            sys.settrace(self._before)

    @property
    def grew(self) -> bool:
        """Whether lines ran that never ran before, since it was last put on."""
        return len(self.seen) > self._new

    # ------------------------------------------------------------------ Python 3.12 and later
    def _start_monitoring(self) -> None:
        monitoring = sys.monitoring
        tool, lines = _TOOL, monitoring.events.LINE
        if LineCoverage._last is not self:  # lines that were silent for another speak again
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "skstruct reliability")
            monitoring.register_callback(tool, lines, self._line)
            monitoring.restart_events()
            LineCoverage._last = self
            monitoring.set_events(tool, lines)

    def _line(self, code: CodeType, line: int) -> object:
        if code.co_filename in self._files:
            self.seen.add((code.co_filename, line))
        return sys.monitoring.DISABLE  # this line has told what it can tell

    # ------------------------------------------------------------------ Python 3.11
    def _called(self, frame, event, value):
        code = frame.f_code
        unseen = self._unseen.get(code)
        if unseen is None:
            inside = code.co_filename in self._files
            lines = {line for *_, line in code.co_lines() if line is not None} if inside else set()
            unseen = self._unseen[code] = lines - {code.co_firstlineno}
        if not unseen:
            return None
        frame.f_trace_opcodes = False
        return self._traced

    def _traced(self, frame, event, value):
        if event == "line":
            code = frame.f_code
            unseen = self._unseen[code]
            if frame.f_lineno in unseen:
                unseen.discard(frame.f_lineno)
                self.seen.add((code.co_filename, frame.f_lineno))
                if not unseen:
                    return None
        return self._traced
