# SPDX-License-Identifier: BSD-3-Clause
"""Where a fit is, level by level: training inside of a search inside of a fit.

A level is to a checkpoint what a frame is to the stack of calls. A function that takes long is
given a level. It looks into ``found`` for what was saved when an earlier process was stopped in
its place; it keeps in ``state`` what it would need to come back to the point where it is now;
and it opens a level below for the function that it calls. What is saved is the state of all open
levels, at moments that the innermost one chooses by ``reached``: between two of its steps.
"""

from __future__ import annotations

from typing import Any

from skstruct.learners.checkpoints.trees import plain


class Level:
    """One level of a fit that is being saved.

    Attributes
    ----------
    found : dict
        What this level had kept when the fit was stopped; empty where it had not come here.
    """

    def __init__(self, saver, found=None, lane=None):
        self._saver, self._lane = saver, self if lane is None else lane
        self.found: dict[str, Any] = {} if found is None else found["state"]
        self._found_below = {} if found is None else dict(found["below"])
        self._state: dict[str, Any] = {}
        self._open: dict[str, Level] = {}
        self._frozen = found if lane is None else None

    def keep(self, *over, **state) -> None:
        """Remember what is needed to come back here; levels beside that are ``over`` close."""
        with self._saver.lock:
            self._state = {**self._state, **state}
            for name in over:
                self._open.pop(name, None)

    def below(self, name: str) -> Level:
        """The level of a function that is called now, in place of the one called before."""
        level = Level(self._saver, self._found_below.pop(name, None), self._lane)
        self._open = {name: level}
        return level

    def beside(self, names) -> dict[str, Level]:
        """Levels below that are open at the same time, perhaps in threads of their own."""
        with self._saver.lock:
            self._open = {
                name: Level(self._saver, self._found_below.pop(name, None)) for name in names
            }
        return dict(self._open)

    def reached(self, **state) -> None:
        """Say where this level is, between two steps; all is saved if it is time to."""
        if self._saver.is_due():
            self._state = state
            self._saver.save(self._lane)

    def freeze(self) -> None:
        """Copy the state of this level and of those below, which other threads may save."""
        self._frozen = plain(self._tree(), copied=True)

    def tree(self, root=True) -> dict | None:
        """States of this level and of those below; of levels beside each other, frozen ones."""
        return self._tree() if root or self._lane is not self else self._frozen

    def _tree(self):
        below = {name: level.tree(root=False) for name, level in self._open.items()}
        return {"state": self._state, "below": {n: t for n, t in below.items() if t is not None}}


class Nowhere:
    """The level of a fit that is not saved."""

    found: dict[str, Any] = {}  # noqa: RUF012  (never written to)

    def keep(self, *over, **state) -> None:
        """Nothing."""

    def below(self, name: str) -> Nowhere:
        return self

    def beside(self, names) -> dict[str, Nowhere]:
        return dict.fromkeys(names, self)

    def reached(self, **state) -> None:
        """Nothing."""


NOWHERE = Nowhere()
