# SPDX-License-Identifier: BSD-3-Clause
"""The bars of all stages of one piece of work, in one display: two would overwrite each other."""

from typing import Any

from rich import progress
from rich.console import Console


class Bars:
    """One bar for each stage, on stderr; what is printed to stdout meanwhile stays there."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._display = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[steps]}"),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=self.console,
            redirect_stdout=False,
        )
        self._tasks: dict[Any, Any] = {}
        self._display.start()

    def show(self, stage: Any) -> None:
        """Move the bar of a stage to where it is."""
        if stage not in self._tasks:
            self._tasks[stage] = self._display.add_task(stage.description, total=None, steps="")
        steps = f"{stage.done:,.0f}{stage.unit}" if stage.unit else ""
        total = stage.total or None
        self._display.update(self._tasks[stage], total=total, completed=stage.done, steps=steps)

    def finish(self, stage: Any, kept: bool) -> None:
        """Fill the bar of a stage that is over, or take it away where it was a part of another."""
        if stage not in self._tasks:
            return
        task, done = self._tasks.pop(stage), stage.done or 1
        if kept:
            self._display.update(task, total=done, completed=done)
        else:
            self._display.remove_task(task)

    def stop(self) -> None:
        """Leave the bars as they are."""
        self._display.stop()
