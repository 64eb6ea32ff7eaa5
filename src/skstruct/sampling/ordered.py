# SPDX-License-Identifier: BSD-3-Clause
"""Spaces of 0/1 vectors whose laws respect an order, written as such."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from skstruct.spaces.base import check_feasible
from skstruct.spaces.hierarchies import Hierarchy
from skstruct.spaces.label_sets import LabelSets
from skstruct.spaces.limits import check_n_rows
from skstruct.spaces.listed_laws import check_width
from skstruct.spaces.pairwise.labels import PairwiseLabels
from skstruct.walking.coupling import OrderedLaws

ORDERED = (LabelSets, Hierarchy, PairwiseLabels)


@dataclass(frozen=True, eq=False)
class Turned:
    """Laws in an order in which some labels count as in when they are out."""

    laws: OrderedLaws
    turned: np.ndarray  # bool, shape (n_rows, d)
    wrong: np.ndarray  # int64, shape (n_rows,): a pair that fits no order; -1 for none


def why_unordered(space) -> str:
    """Why draws of this space know no order that a heat bath respects; empty when they do."""
    name = type(space).__name__
    if not isinstance(space, ORDERED):
        return f"{name} is none of {', '.join(kind.__name__ for kind in ORDERED)}"
    limits = space.limits_
    if limits.is_sized or limits.groups or limits.one_path:
        return f"limits of {name} on sizes, groups or paths leave no order: {limits!r}"
    return ""


def ordered_laws(space, scores) -> Turned:
    r"""The laws :math:`\exp \langle u, \psi \rangle` of a space that is not unordered.

    Pairs of labels are attractive where their score is at least zero. Where scores of pairs
    are negative, labels are put on two sides, if that can be, so that pairs of negative score
    are of different sides and pairs of positive score of the same; with
    :math:`x_i = 1 - y_i` on one side, :math:`w y_i y_j = w x_j - w x_i x_j`, all are attractive.
    That can always be on forests, and on bipartite graphs with no positive pair.
    """
    name, dag, limits = type(space).__name__, space.dag_, space.limits_
    edges = getattr(space, "edges_", np.empty((0, 2), np.int64))
    d, n = len(space.labels_), len(scores)
    check_n_rows(limits, n, name)
    check_width(scores, d + len(edges), space)
    low, high = (np.broadcast_to(mask, (n, d)) for mask in space._close_masks(limits))
    check_feasible(np.all(low <= high, axis=1), space)
    node, pair = scores[:, :d], scores[:, d:]
    turned, wrong = _turned(pair, edges, d)
    if turned.any():
        node, pair = _turn(node, pair, edges, turned)
        low, high = np.where(turned, ~high, low), np.where(turned, ~low, high)
    laws = OrderedLaws(node, pair, edges, low, high, dag.parents, dag.children, dag.order)
    return Turned(laws, turned, wrong)


def _turned(pair, edges, d):
    """Labels to turn, and a pair that fits no order, of every row."""
    if not (pair < 0).any():
        return np.zeros((len(pair), d), bool), np.full(len(pair), -1)
    from skstruct.walking._compiled_coupling import sides

    return sides(np.ascontiguousarray(pair), edges, d)


def _turn(node, pair, edges, turned):
    """Scores of labels and of pairs for x = 1 - y where labels are turned."""
    (i, j), d = edges.T, node.shape[1]
    sign = np.where(turned, -1.0, 1.0)
    at_i, at_j = (
        sparse.csr_array((np.ones(len(end)), (np.arange(len(end)), end)), shape=(len(end), d))
        for end in (i, j)
    )
    taken = (pair * turned[:, i]) @ at_j + (pair * turned[:, j]) @ at_i
    return sign * (node + taken), pair * sign[:, i] * sign[:, j]
