# SPDX-License-Identifier: BSD-3-Clause
r"""Subtour inequalities: what leaves a set of places where a cycle is inside and outside.

With x the arcs of a cycle and y its places, a set S with i in S and j outside obeys

.. math:: x(\delta^+(S)) = y(S) - x(E(S)) \ge [\text{visits } S] + [\text{visits the rest}] - 1
    \ge y_i + y_j - 1,

for edges without directions in the same form. Where every cycle has to visit S, because a
place there must be visited or too few places are left outside, 1 takes the place of y_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skstruct.decoding.tours.problems import Problem

VIOLATED = 1e-4  # by how much an inequality must be broken to be added
WITNESSES = 2  # places on either side for which the inequality of a set is tried
LEVELS = (0.25, 0.5, 0.75)  # sets joined by arcs above these are looked at too


class Cut(NamedTuple):
    """x(E(S)) - y(S) + y_i + y_j <= 1, with 1 in the stead of y_i or y_j where it is None."""

    members: tuple[int, ...]
    inside: int | None
    outside: int | None

    @property
    def right(self) -> float:
        return 1.0 - (self.inside is None) - (self.outside is None)


def cuts_of(problem: Problem, members: np.ndarray, y: np.ndarray) -> list[Cut]:
    """Inequalities of a set (N,) of places at the point y, the strongest first.

    With one witness the next point would visit another place of the set in its stead.
    """
    N = len(y)
    if 2 * members.sum() > N:  # the same inequality, of the smaller side
        members = ~members

    def witnesses(side):
        if (problem.low & side).any() or N - side.sum() < problem.smallest:
            return [None]
        order = np.argsort(np.where(side, -y, 1.0), kind="stable")
        return order[: min(WITNESSES, int(side.sum()))].tolist()

    inside, outside = witnesses(members), witnesses(~members)
    places = tuple(np.flatnonzero(members).tolist())
    cuts = [Cut(places, i, outside[0]) for i in inside]
    return cuts + [Cut(places, inside[0], j) for j in outside[1:]]


def violation(cut: Cut, weight: np.ndarray, y: np.ndarray) -> float:
    """By how much a cut is broken; ``weight`` (N, N) is x of both arcs between two places."""
    S = list(cut.members)
    left = weight[np.ix_(S, S)].sum() / 2 - y[S].sum()
    for place in (cut.inside, cut.outside):
        left += 0.0 if place is None else y[place]
    return float(left - cut.right)


def violated_cuts(problem: Problem, weight: np.ndarray, y: np.ndarray) -> list[Cut]:
    """Inequalities that the point breaks, from parts, from pairs and from smallest cuts.

    ``weight`` (N, N) is x of every arc, symmetric where there are no directions.
    """
    from skstruct.decoding.tours._compiled_cuts import small_cuts

    weight = weight + weight.T if problem.directed else weight
    sets = [*_parts(weight, 1e-6), *_pairs(weight, y)]
    for level in LEVELS:
        sets += _parts(weight, level)
    sink = int(np.where(problem.low, 2.0, y).argmax())
    sets += list(small_cuts(weight / 2, y, sink, VIOLATED))
    cuts = dict.fromkeys(cut for members in sets for cut in cuts_of(problem, members, y))
    return [cut for cut in cuts if violation(cut, weight, y) > VIOLATED]


def _parts(weight, level):
    """Sets of two or more places that arcs above a level join."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(weight > level, directed=False)
    large = np.flatnonzero(np.bincount(part, minlength=count) > 1)
    return [part == k for k in large] if len(large) > 1 or count > 1 else []


def _pairs(weight, y):
    """Two places with more between them than one of them has."""
    u, v = np.nonzero(np.triu(weight, 1) > np.minimum.outer(y, y) + VIOLATED)
    sets = np.zeros((len(u), len(y)), bool)
    sets[np.arange(len(u)), u] = sets[np.arange(len(u)), v] = True
    return list(sets)
