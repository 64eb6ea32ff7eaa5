# SPDX-License-Identifier: BSD-3-Clause
"""Where to draw the boxes of a graph and the nodes of a network."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

BETWEEN_COLUMNS = 0.72  # room for an edge with its weight
BETWEEN_BOXES = 0.13


@dataclass(frozen=True)
class Layout:
    """Centres of boxes, and the rectangle from (0, 0) that holds them all."""

    position: dict[Any, Any]  # node -> (x, y)
    width: float
    height: float
    depth: dict[Any, Any] = field(
        default_factory=dict
    )  # of nodes in a tree: how far from its middle
    middle: dict[Any, Any] = field(default_factory=dict)  # of nodes on a ring: where its middle is

    def moved(self, x: float, y: float) -> Layout:
        position, middle = (
            {node: (x + at[0], y + at[1]) for node, at in positions.items()}
            for positions in (self.position, self.middle)
        )
        return replace(self, position=position, middle=middle)


def graph_layout(
    nodes: list[Any], edges: list[Any], width: dict[Any, Any], height: float
) -> Layout:
    """Trees as trees, other pieces on rings, the largest first; lone nodes below them.

    Parameters
    ----------
    nodes, edges : of any graph, without loops
    width : dict
        Of the box of each node.
    height : float
        Of all boxes.
    """
    joined, alone = [], []
    for piece in pieces(nodes, edges):
        inside = set(piece)
        own = [edge for edge in edges if edge[0] in inside]
        if not own:
            box = {piece[0]: (width[piece[0]] / 2, height / 2)}
            alone.append(Layout(box, width[piece[0]], height))
        elif len(own) == len(piece) - 1:
            joined.append(tree_layout(piece, own, width, height))
        else:
            joined.append(ring_layout(piece, width, height))
    widest = max([6.0, *(part.width for part in joined)])
    blocks = [packed(joined, 0.5, widest)] if joined else []
    blocks += [packed(alone, 0.2, widest)] if alone else []
    return packed(blocks, 0.45, 0.0) if blocks else Layout({}, 2.0, 0.5)


def pieces(nodes: list[Any], edges: list[Any]) -> list[list[Any]]:
    """Connected pieces of a graph, the largest first, nodes in the order given."""
    beside = neighbours(nodes, edges)
    found, seen = [], set()
    for start in nodes:
        if start in seen:
            continue
        piece, waiting = {start}, [start]
        while waiting:
            new = [other for other in beside[waiting.pop()] if other not in piece]
            piece.update(new)
            waiting.extend(new)
        seen |= piece
        found.append([node for node in nodes if node in piece])
    return sorted(found, key=len, reverse=True)


def neighbours(nodes: list[Any], edges: list[Any]) -> dict[Any, Any]:
    """Nodes beside each node, in the order of the nodes."""
    beside: dict[Any, Any] = {node: [] for node in nodes}
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    rank = {node: i for i, node in enumerate(nodes)}
    return {node: sorted(others, key=rank.__getitem__) for node, others in beside.items()}


def tree_layout(nodes: list[Any], edges: list[Any], width: dict[Any, Any], height: float) -> Layout:
    """A tree grown to the left and to the right of its middle.

    Leaves lie below each other, every other node beside the middle of what hangs on it, and
    nodes at the same distance from the middle in one column, as wide as its widest box.

    Parameters
    ----------
    nodes, edges : of one tree
    width, height : of the boxes
    """
    beside = neighbours(nodes, edges)
    root = _middle(nodes, beside)
    position, depth, reach = {root: (0.0, 0.0)}, {root: 0}, []
    for sign, branches in zip((1.0, -1.0), _sides(root, beside)):
        heights, levels = _grown(branches, root, beside)
        edge = width[root] / 2
        for level in range(1, max(levels.values(), default=0) + 1):
            column = [node for node in levels if levels[node] == level]
            wide = max(width[node] for node in column)
            for node in column:  # flush on the side of the middle
                across = sign * (edge + BETWEEN_COLUMNS + width[node] / 2)
                position[node] = (across, heights[node] * (height + BETWEEN_BOXES))
            edge += BETWEEN_COLUMNS + wide
        depth.update(levels)
        reach.append(edge)
    low, high = (end(y for _, y in position.values()) for end in (min, max))
    whole = Layout(position, sum(reach), high - low + height, depth)
    return whole.moved(reach[1], height / 2 - low)


def _hung(root: str | int, above: str | int | None, beside: dict[Any, Any]) -> dict[Any, Any]:
    """The parent of every node at and below root, parents before children, depth first."""
    parent, waiting = {}, [(root, above)]
    while waiting:
        node, over = waiting.pop()
        parent[node] = over
        waiting.extend((child, node) for child in reversed(beside[node]) if child != over)
    return parent


def _middle(nodes: list[Any], beside: dict[Any, Any]) -> Any:
    """The node whose largest branch is smallest; the first of several."""
    parent = _hung(nodes[0], None, beside)
    size, largest = dict.fromkeys(nodes, 1), dict.fromkeys(nodes, 0)
    for node, above in reversed(parent.items()):
        largest[node] = max(largest[node], len(nodes) - size[node])
        if above is not None:
            size[above] += size[node]
            largest[above] = max(largest[above], size[node])
    return min(nodes, key=largest.__getitem__)


def _sides(root: str | int, beside: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """The branches at the root, to the right and to the left: about as many leaves on each."""
    leaves = {
        branch: sum(len(beside[node]) == 1 for node in _hung(branch, root, beside))
        for branch in beside[root]
    }
    sides: tuple[list[Any], list[Any]] = ([], [])
    filled = [0, 0]
    for branch in sorted(leaves, key=lambda branch: -leaves[branch]):
        side = int(filled[1] < filled[0])
        sides[side].append(branch)
        filled[side] += leaves[branch]
    return sides


def _grown(
    branches: list[Any], root: str | int, beside: dict[Any, Any]
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Height, in rows from the middle, and depth of all nodes of some branches."""
    heights: dict[Any, Any] = {}
    depth = {root: 0}
    n_leaves = 0
    for branch in branches:
        parent = _hung(branch, root, beside)
        for node, above in parent.items():
            depth[node] = depth[above] + 1
            if len(beside[node]) == 1:
                heights[node] = -float(n_leaves)
                n_leaves += 1
        for node, above in reversed(parent.items()):
            if node not in heights:
                below = [heights[child] for child in beside[node] if child != above]
                heights[node] = (below[0] + below[-1]) / 2
    del depth[root]
    middle = (heights[branches[0]] + heights[branches[-1]]) / 2 if branches else 0.0
    return {node: y - middle for node, y in heights.items()}, depth


def ring_layout(nodes: list[Any], width: dict[Any, Any], height: float) -> Layout:
    """Nodes on a circle, the smallest on which no two boxes touch."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(nodes)) / len(nodes)
    wide = np.array([width[node] for node in nodes])
    apart = BETWEEN_BOXES + (wide[:, None] + wide) / 2, BETWEEN_BOXES + height
    dx = np.abs(np.subtract.outer(np.cos(angle), np.cos(angle)))
    dy = np.abs(np.subtract.outer(np.sin(angle), np.sin(angle)))
    with np.errstate(divide="ignore"):
        needed = np.minimum(apart[0] / dx, apart[1] / dy)  # the radius that parts two boxes
    needed[np.diag_indices(len(nodes))] = 0.0
    radius = max(min(0.5 + 0.25 * len(nodes), 3.0), float(needed.max()))
    half = radius + wide.max() / 2, radius + height / 2
    position = {
        node: (half[0] + radius * float(np.cos(a)), half[1] + radius * float(np.sin(a)))
        for node, a in zip(nodes, angle)
    }
    return Layout(position, 2 * half[0], 2 * half[1], middle=dict.fromkeys(nodes, half))


def packed(parts: list[Layout], gap: float, widest: float) -> Layout:
    """Several drawings in rows from left to right and from top to bottom, rows centred."""
    rows: list[list[Layout]] = []
    for part in parts:
        used = sum(other.width + gap for other in rows[-1]) if rows else np.inf
        if used + part.width > widest:
            rows.append([])
        rows[-1].append(part)
    width = max(sum(part.width + gap for part in row) - gap for row in rows)
    height = sum(max(part.height for part in row) + gap for row in rows) - gap
    whole = Layout({}, width, height)
    top = height
    for row in rows:
        tall = max(part.height for part in row)
        left = (width - sum(part.width + gap for part in row) + gap) / 2
        for part in row:
            part = part.moved(left, top - (tall + part.height) / 2)
            whole.position.update(part.position)
            whole.depth.update(part.depth)
            whole.middle.update(part.middle)
            left += part.width + gap
        top -= tall + gap
    return whole


# Where to draw the nodes of a network: along its arcs from left to right.


SWEEPS = 8  # passes that put nodes beside their neighbours


def network_layout(network: Any) -> np.ndarray:
    """Positions of nodes, about one unit apart; shape (n_nodes, 2).

    A network without a cycle is drawn in columns: a node is one column behind the last node
    with an arc into it, and within its column near the mean height of its neighbours. Any
    other is drawn as if its arcs were springs.
    """
    import networkx as nx

    n = len(network.nodes)
    arcs = list(zip(network.tails.tolist(), network.heads.tolist()))
    graph = nx.DiGraph(arcs)
    graph.add_nodes_from(range(n))
    if not nx.is_directed_acyclic_graph(graph):
        positions = nx.kamada_kawai_layout(nx.Graph(arcs)) if n > 2 else nx.circular_layout(graph)
        at = np.array([positions[node] for node in range(n)], dtype=float)
        return (at - at.min(axis=0)) * np.sqrt(n) * 0.6
    columns = [sorted(column) for column in nx.topological_generations(graph)]
    beside = [sorted(set(graph.pred[node]) | set(graph.succ[node])) for node in range(n)]
    height = np.zeros(n)
    _spread(columns, height)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            wish = {v: np.mean(height[beside[v]]) if beside[v] else height[v] for v in column}
            column.sort(key=lambda v: (wish[v], v))
        _spread(columns, height)
    across = np.empty(n)
    for position, column in enumerate(columns):
        across[column] = position
    return np.column_stack([1.25 * across, -height])


def _spread(columns: list[list[int]], height: np.ndarray) -> None:
    """Nodes of a column one below the other, around the same middle."""
    for column in columns:
        height[column] = np.arange(len(column)) - (len(column) - 1) / 2
