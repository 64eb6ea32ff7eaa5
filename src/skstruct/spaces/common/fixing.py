# SPDX-License-Identifier: BSD-3-Clause
"""Parts of an output that are said to be in or out, as arguments of ``restrict``."""

from collections.abc import Callable, Iterable, Sequence
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
