# SPDX-License-Identifier: BSD-3-Clause
"""When work ends before it is done: another thread asks for it, or a hard problem takes too long.

* :func:`check_cancelled` is called between the steps of all work, and by :class:`Limit`;
* :class:`Limit` is what one hard problem may take: its search ends there with its best answer so
  far, and a bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from skstruct._arrays.settings import current
from skstruct.exceptions import Cancelled

T = TypeVar("T")

FEWEST_NODES = 500  # of a compiled search, however short the time
MOST_NODES = 2**62  # where nobody counts; compiled loops add to it


def check_cancelled() -> None:
    """Raise :class:`Cancelled` where the event of the settings is set."""
    cancel = current().cancel
    if cancel is not None and cancel.is_set():
        raise Cancelled("The work was cancelled by another thread.")


def is_cancellable() -> bool:
    """Whether somebody could ask for it: then compiled loops are called in smaller parts."""
    return current().cancel is not None


def cancellable(steps: Iterable[T]) -> Iterable[T]:
    """The same steps; none begins once the work is cancelled.

    Steps that are taken by another thread, as joblib does, go on there: an error in its loop
    would be lost, and what is done in a step asks for itself.
    """
    return steps if current().cancel is None else _checked(steps, threading.get_ident())


def _checked(steps: Iterable[T], thread: int) -> Iterator[T]:
    for step in steps:
        if threading.get_ident() == thread:
            check_cancelled()
        yield step


class Limit:
    """What a search for the output of one row may take, beginning now.

    Parameters
    ----------
    seconds : float, default=None
        What the search allows itself; the ``time_limit`` of the settings may be less.

    Examples
    --------
    >>> limit = Limit()
    >>> limit.take(1000), limit.nodes(), limit.seconds
    (True, 4611686018427386904, inf)
    """

    def __init__(self, seconds: float | None = None) -> None:
        settings = current()
        given = [one for one in (seconds, settings.time_limit) if one is not None]
        self.is_set = settings.time_limit is not None or settings.node_limit is not None
        self._end = time.monotonic() + min(given) if given else np.inf
        self._nodes = MOST_NODES if settings.node_limit is None else settings.node_limit

    @property
    def seconds(self) -> float:
        """Those that are left; infinite where there is no limit."""
        return max(self._end - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self._nodes <= 0 or self.seconds <= 0

    def nodes(self, most: int = MOST_NODES, per_second: float | None = None) -> int:
        """Nodes that are left, of ``most``.

        Compiled loops have no clock: for them seconds are so many nodes ``per_second``, nominally,
        and some hundred at least, which take no time and most often find an answer.
        """
        most = min(most, self._nodes)
        if per_second is not None and np.isfinite(self._end):
            most = int(min(most, max(self.seconds * per_second, FEWEST_NODES)))
        return max(most, 0)

    def take(self, nodes: int = 1) -> bool:
        """Count nodes that were looked at; whether the search may go on."""
        check_cancelled()
        self._nodes -= nodes
        return not self.is_over

    def of_program(self) -> dict[str, Any]:
        """Options of ``scipy.optimize.milp``."""
        check_cancelled()
        options: dict[str, Any] = {"mip_rel_gap": 0.0}  # the default stops at a gap of 1e-4
        if np.isfinite(self._end):
            options["time_limit"] = max(self.seconds, 0.01)  # none at all is read as no limit
        if self._nodes < 2**31:  # what the solver counts with
            options["node_limit"] = max(self._nodes, 1)  # with none it would look at nothing
        return options
