# SPDX-License-Identifier: BSD-3-Clause
"""Parts of an output that are said to be in or out, as arguments of ``restrict``."""

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError


def json_name(name: Any) -> Any:
    """A name as JSON gives it back, lists as tuples: what names are found again by.

    >>> json_name(("a", np.int64(2))), json_name(["a", 2]), json_name(np.float64(0.5))
    (('a', 2), ('a', 2), 0.5)
    """
    if isinstance(name, (np.generic, np.ndarray)):
        name = name.item() if np.ndim(name) == 0 else name.tolist()
    if isinstance(name, (list, tuple)):
        return tuple(json_name(part) for part in name)
    if isinstance(name, float) and not np.isfinite(name):
        return str(name)
    return name if name is None or isinstance(name, (bool, int, float, str)) else str(name)


def finder(names: Iterable[Any], what: str) -> Callable[[Any], Any]:
    """A function that finds one of these names by what JSON has made of it."""
    table = {json_name(name): name for name in names}

    def found(given: Any) -> Any:
        try:
            return table[json_name(given)]
        except (KeyError, TypeError):
            raise ValueError(f"There is no {what} {given!r:.80}.") from None

    return found


def pair_of(part: Any, what: str) -> tuple[Any, Any]:
    """A part that is named by two things."""
    if not isinstance(part, (list, tuple)) or len(part) != 2:
        raise ValueError(f"A part is a pair of {what}; got {part!r:.80}.")
    return part[0], part[1]


def only_one(named: dict[Any, Any], name: Any, value: Any, what: str) -> None:
    """Enter a value by name; no output has two of them."""
    if named.setdefault(name, value) != value:
        raise InfeasibleError(f"{what} {name!r} cannot be both {named[name]!r} and {value!r}.")


Named = tuple[Iterable[Any], tuple[str, str]]  # names, and what has them in and out


def fixed_nodes_and_edges(
    nodes: Named, edges: Named, asked: tuple[Sequence[Any], Sequence[Any]]
) -> dict[str, Any]:
    """Constraints on nodes and on edges, each by its own arguments of ``restrict``."""
    is_node = {json_name(name) for name in nodes[0]}
    named = finder(nodes[0], "node"), finder(edges[0], "edge")
    found: dict[str, Any] = {}
    for side, parts in enumerate(asked):
        for part in parts:
            kind = 0 if json_name(part) in is_node else 1
            found.setdefault((nodes, edges)[kind][1][side], []).append(named[kind](part))
    return found


class FixableParts:
    """What is asked of single parts: in by ``include``, out by ``exclude``, unless a child knows
    better.
    """

    @property
    def fixable(self: Any) -> tuple[str, ...]:
        """What can be asked of a part, "in" and "out", one of them, or nothing."""
        if not hasattr(self, "restrict") or self.part_names() is None:
            return ()
        known = signature(self.restrict).parameters
        asked = (("in", "include"), ("out", "exclude"))
        return tuple(state for state, keyword in asked if keyword in known)

    def fixing(self: Any, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """Arguments of ``restrict`` for outputs that have these parts, and do not have those.

        Parameters
        ----------
        included, excluded : names of parts, as of drawings: that of a label, or (a, b) of an edge
            As JSON has them: lists for tuples.

        Examples
        --------
        >>> from skstruct.spaces import LabelSets, Sequences
        >>> LabelSets(["sun", "rain"]).fixing(["sun"], ["rain"])
        {'include': ['sun'], 'exclude': ['rain']}
        >>> Sequences(["A", "B"], 4).fixing([[2, "B"]], [])
        {'known': {2: 'B'}}
        """
        self._check_fixable(included, excluded)
        named = finder(self._fixable_names(), self.part_words[0])
        asked = (("include", included), ("exclude", excluded))
        return {key: [named(part) for part in parts] for key, parts in asked if parts}

    def _fixable_names(self: Any) -> Iterable[Any]:
        """Names by which ``restrict`` knows the parts that drawings show."""
        return self.part_names()

    def _check_fixable(self: Any, included: Sequence[Any], excluded: Sequence[Any]) -> None:
        """Raise where parts cannot be held in, or not out."""
        name, word = type(self).__name__, self.part_words[0]
        for state, parts in (("in", included), ("out", excluded)):
            if parts and state not in self.fixable:
                other = f"; what can be said is {self.fixable[0]!r}" if self.fixable else ""
                raise ValueError(f"{name}: a {word} cannot be fixed {state}{other}.")
