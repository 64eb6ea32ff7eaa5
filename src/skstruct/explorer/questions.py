# SPDX-License-Identifier: BSD-3-Clause
"""What the page asks of one row, read from JSON, and the constraints that it comes to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skstruct.explorer.state import Explored
from skstruct.spaces import Description

MOST_NEXT = 10  # best outputs that may be asked for
NAMES = ("row", "values", "loss", "restrict", "fixed", "k")


@dataclass(frozen=True)
class Question:
    """What is asked of one row.

    Attributes
    ----------
    row : int
    loss : str
    values : mapping
        Cells of the input that are changed, by column.
    restrict : mapping
        Arguments of the space's ``restrict``.
    fixed : mapping
        Parts that are "in" or "out", by the keys of drawings.
    k : int
        How many next best outputs are wanted.
    """

    row: int
    loss: str
    values: Mapping[str, Any] = field(default_factory=dict)
    restrict: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    k: int = 3

    @classmethod
    def from_json(cls, asked: Any, explored: Explored) -> Question:
        """Read what the page sends; raises a ValueError with the remedy."""
        if not isinstance(asked, Mapping):
            raise ValueError(f"Expected an object with a row; got {asked!r:.80}.")
        unknown = [name for name in asked if name not in NAMES]
        if unknown:
            raise ValueError(f"There is no {unknown[0]!r:.80}; known are {', '.join(NAMES)}.")
        parts = {name: asked.get(name) or {} for name in ("values", "restrict", "fixed")}
        for name, part in parts.items():
            if not isinstance(part, Mapping):
                raise ValueError(f"{name} is an object by name; got {part!r:.80}.")
        for key, state in parts["fixed"].items():
            if state not in ("in", "out"):
                raise ValueError(f"fixed: {key!r:.80} is 'in' or 'out'; got {state!r:.80}.")
        row = whole_number("row", asked.get("row"), 0, len(explored) - 1)
        k = whole_number("k", asked.get("k", 3), 0, MOST_NEXT)
        return cls(row, explored.check_loss(asked.get("loss")), **parts, k=k)

    @property
    def inputs(self) -> tuple[int, str]:
        """What inputs are known by: the row, and the cells that are changed."""
        return self.row, json.dumps(self.values, sort_keys=True)

    def constraints(self, space: Any) -> dict[str, Any]:
        """Arguments of the space's ``restrict`` for limits and parts that are fixed."""
        included, excluded = (self._parts(state) for state in ("in", "out"))
        if not included and not excluded:
            return dict(self.restrict)
        return merged(dict(self.restrict), Description.of(space).fixing(included, excluded))

    def _parts(self, state: str) -> list[Any]:
        return [_named(key) for key, asked in self.fixed.items() if asked == state]


def _named(key: str) -> Any:
    try:
        return json.loads(key)
    except ValueError:
        raise ValueError(f"fixed: {key!r:.80} is no part: a part is its name as JSON.") from None


def merged(limits: dict[str, Any], fixed: dict[str, Any]) -> dict[str, Any]:
    """Limits of the user with those that fixed parts need.

    >>> merged({"include": ["a"], "max_size": 2}, {"include": ["b"], "exclude": ["c"]})
    {'include': ['a', 'b'], 'max_size': 2, 'exclude': ['c']}
    """
    together = dict(limits)
    for name, value in fixed.items():
        given = limits.get(name)
        if given is None:
            together[name] = value
        elif isinstance(given, list) and isinstance(value, list):
            together[name] = given + [item for item in value if item not in given]
        elif isinstance(given, Mapping) and isinstance(value, Mapping):
            together[name] = {**given, **value}
        else:
            raise ValueError(f"{name} is limited already: release it, or the parts that are fixed.")
    return together


def whole_number(name: str, value: Any, low: int, high: int) -> int:
    """A number that the page sends, within its limits."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} is a whole number from {low} to {high:,}; got {value!r:.80}.")
    return value
