# SPDX-License-Identifier: BSD-3-Clause
"""Where the nodes of a graph are drawn, and on which side of them their names stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstruct.drawings.parts import label_text
from skstruct.drawings.sheets import WIDTH
from skstruct.drawings.svg import element, escaped, fitting, text, width_of
from skstruct.inspection.layout import network_layout

SIDE = 92.0  # for names on both sides of a circle
MOST_NAMES = 30  # nodes that all have their names; of more, those that an output touches
HIGHEST = 420.0


@dataclass
class Places:
    """Positions of nodes, and for each name where it begins: -1 left of it, 0 above, 1 right."""

    nodes: Sequence[Any]
    xy: list[tuple[float, float]]
    side: list[int]
    height: float
    below: set[int] = field(default_factory=set)  # of names in the middle, those below their nodes

    @classmethod
    def scaled(cls, nodes: Sequence[Any], at: Any) -> "Places":
        """Coordinates, with y downwards, on the sheet: names to the side where there is room."""
        at = np.asarray(at, dtype=np.float64)
        low, size = at.min(axis=0), np.ptp(at, axis=0)
        names = len(nodes) <= MOST_NAMES
        margin = np.array([56.0 if names else 16.0, 26.0])
        room = np.array([WIDTH, HIGHEST]) - 2 * margin
        factor = min([room[k] / size[k] for k in (0, 1) if size[k] > 0], default=1.0)
        if size[1] == 0:
            factor = room[0] / size[0] if size[0] > 0 else 1.0
        left = (WIDTH - factor * size[0]) / 2
        xy = np.column_stack([left + factor * (at[:, 0] - low[0]),
                              margin[1] + factor * (at[:, 1] - low[1])])  # fmt: skip
        places = [(float(x), float(y)) for x, y in xy]
        return cls(nodes, places, [0] * len(nodes), float(factor * size[1] + 2 * margin[1]))

    def clear_of(self, edges: Any) -> "Places":
        """The same, each name on the side where it meets fewest nodes, edges and names."""
        if len(self.nodes) > MOST_NAMES:
            return self
        taken = [np.array(self.xy)]
        for a, b in edges:
            t = np.linspace(0.1, 0.9, 12)[:, None]
            taken.append((1 - t) * np.array(self.xy[a]) + t * np.array(self.xy[b]))
        points = np.vstack(taken)
        for v, (x, y) in enumerate(self.xy):
            wide = min(width_of(label_text(self.nodes[v], 60, ", ")), 110.0)
            found = []
            for side, below in ((0, False), (1, False), (-1, False), (0, True)):
                middle = (x + side * (wide / 2 + 10.0), y + (0 if side else 16 if below else -16))
                inside = np.abs(points - middle) < [wide / 2 + 3.0, 11.0]
                out = max(0.0, wide / 2 - middle[0], middle[0] + wide / 2 - WIDTH)
                found.append(
                    (int(inside.all(axis=1).sum()) + 10.0 * (out > 0), side, below, middle)
                )
            _, self.side[v], below, middle = min(found, key=lambda choice: choice[0])
            self.below |= {v} if below else set()
            across = middle[0] + np.linspace(-wide / 2, wide / 2, 5)
            points = np.vstack([points, np.column_stack([across, np.full(5, middle[1])])])
        return self

    def name(self, v: int, away: float = 9.0) -> str:
        """The name of a node beside it."""
        (x, y), side = self.xy[v], self.side[v]
        node = label_text(self.nodes[v], 60, ", ")
        if side == 0:
            down = away + 12.0 if v in self.below else -away - 2.0
            room = 2 * min(x, WIDTH - x) if len(self.nodes) < 8 else 110.0
            return text(x, y + down, fitting(node, max(room, 40.0)), anchor="middle")
        room = WIDTH - x - away if side > 0 else x - away
        said = fitting(node, room)
        return text(x + side * away, y + 5.0, said, anchor="start" if side > 0 else "end")

    def dots(self, touched: set[int]) -> list[str]:
        """All nodes as dots, with names where there is room; those of the output are full."""
        drawn = []
        for v, (x, y) in enumerate(self.xy):
            kind = "node on" if v in touched else "node"
            few = len(self.nodes) <= MOST_NAMES
            said = self.name(v) if few or (v in touched and len(touched) <= MOST_NAMES // 2) else ""
            hint = element("title", escaped(label_text(self.nodes[v], 300, ", ")))
            dot = element("circle", cx=x, cy=y, r=5.0 if few else 2.5, class_=kind)
            drawn.append(element("g", hint, dot, said, class_="place"))
        return drawn


def placed(coordinates: Any, nodes: Sequence[Any]) -> Places | None:
    """Nodes at given coordinates; those that are named by two numbers are where these say."""
    if coordinates is None:
        pairs = all(isinstance(node, tuple) and len(node) == 2 for node in nodes)
        if not pairs or not all(isinstance(x, (int, float)) for node in nodes for x in node):
            return None
        return Places.scaled(nodes, [(node[1], node[0]) for node in nodes])  # (row, column)
    if isinstance(coordinates, Mapping):
        missing = [node for node in nodes if node not in coordinates]
        if missing:
            raise ValueError(f"draw: there are no coordinates of {missing[0]!r}.")
        coordinates = [coordinates[node] for node in nodes]
    at = np.asarray(coordinates, dtype=np.float64)
    if at.shape != (len(nodes), 2) or not np.isfinite(at).all():
        raise ValueError(
            f"draw: {len(nodes)} nodes need two finite coordinates each; got shape {at.shape}."
        )
    return Places.scaled(nodes, at * [1.0, -1.0])  # the second one points up


def in_columns(network: Any) -> Places:
    """The nodes of a network from left to right along its arcs."""
    at = network_layout(network) * [1.0, -1.0]
    if len(at) > 2 and np.ptp(at[:, 1]) == 0:  # one line would hide the arcs that skip a node
        inner = np.argsort(at[:, 0], kind="stable")[1:-1]
        at[inner, 1] = np.where(np.arange(len(inner)) % 2, 0.6, -0.6)
    return Places.scaled(network.nodes, at)


def on_a_circle(nodes: Sequence[Any], edges: np.ndarray) -> Places:
    """Nodes on a circle, those that are joined beside each other as far as this goes."""
    order = _along(len(nodes), edges)
    n = len(order)
    radius = min(WIDTH / 2 - SIDE, 60.0 + 9.0 * n)
    middle = WIDTH / 2, radius + 30.0
    angle = {v: 2 * np.pi * i / n for i, v in enumerate(order)}
    xy = [(middle[0] + radius * float(np.sin(angle[v])), middle[1] - radius *
           float(np.cos(angle[v]))) for v in range(n)]  # fmt: skip
    side = [0 if abs(np.sin(angle[v])) < 0.3 else int(np.sign(np.sin(angle[v]))) for v in range(n)]
    below = {v for v in range(n) if np.cos(angle[v]) < 0}
    return Places(nodes, xy, side, 2 * radius + 60.0, below)


def _along(n: int, edges: np.ndarray) -> list[int]:
    """All nodes, each followed by one it is joined with where there is one left."""
    beside: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges.tolist():
        beside[a].append(b)
        beside[b].append(a)
    seen, order = set(), []
    # From ends first: a path is then walked as a whole.
    for start in sorted(range(n), key=lambda v: (len(beside[v]) == 0, len(beside[v]), v)):
        waiting = [start]
        while waiting:
            v = waiting.pop()
            if v not in seen:
                seen.add(v)
                order.append(v)
                waiting += [u for u in reversed(beside[v]) if u not in seen]
    return order
