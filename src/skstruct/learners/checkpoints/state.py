# SPDX-License-Identifier: BSD-3-Clause
"""The state of a fit as JSON and arrays, level by level: training inside of a search in a fit."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(value, copied: bool = False) -> Any:
    """Dictionaries, lists, numbers and arrays alone: objects give their ``state()``.

    Random generators say where they are.

    With ``copied``, arrays are those of this moment, whatever happens to the originals.
    """
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return plain(_stream_state(value), copied)
    if hasattr(value, "state"):
        return plain(value.state(), copied)
    if isinstance(value, np.ndarray):
        return value.copy(order="K") if copied else value
    if isinstance(value, dict):
        return {name: plain(part, copied) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part, copied) for part in value]
    return value


def packed(value, arrays: dict[str, np.ndarray]) -> Any:
    """JSON for a plain value; arrays are put aside under names of their own.

    >>> packed({"weights": np.zeros(3), "gap": 0.5, "n": 7}, arrays := {})
    {'dict': {'weights': {'array': 'a0'}, 'gap': {'float': '0x1.0000000000000p-1'}, 'n': 7}}
    >>> arrays
    {'a0': array([0., 0., 0.])}
    """
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, float):  # infinite ones too
        return {"float": float(value).hex()}
    if isinstance(value, dict):
        return {"dict": {name: packed(part, arrays) for name, part in value.items()}}
    if isinstance(value, list):
        return [packed(part, arrays) for part in value]
    if isinstance(value, np.generic):
        return packed(value.item(), arrays)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"{type(value).__name__} cannot be saved.")


def unpacked(value, arrays) -> Any:
    """The plain value that was packed."""
    if isinstance(value, list):
        return [unpacked(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, part),) = value.items()
    if kind == "array":
        return arrays[part]
    if kind == "float":
        return float.fromhex(part)
    return {name: unpacked(inner, arrays) for name, inner in part.items()}


def _stream_state(rng) -> dict:
    if isinstance(rng, np.random.RandomState):
        return rng.get_state(legacy=False)
    return rng.bit_generator.state


def set_stream(rng, state) -> None:
    """Put a random generator where another one was."""
    if isinstance(rng, np.random.RandomState):
        rng.set_state(state)
    else:
        rng.bit_generator.state = state


# Where a fit is, level by level: training inside of a search inside of a fit.
#
# A level is to a checkpoint what a frame is to the stack of calls. A function that takes long is
# given a level. It looks into ``found`` for what was saved when an earlier process was stopped in
# its place; it keeps in ``state`` what it would need to come back to the point where it is now;
# and it opens a level below for the function that it calls. What is saved is the state of all open
# levels, at moments that the innermost one chooses by ``reached``: between two of its steps.


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
