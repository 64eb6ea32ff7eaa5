# SPDX-License-Identifier: BSD-3-Clause
"""The largest value that a loss can take on a space."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from skstruct._arrays.distinct import distinct
from skstruct.bounds.certificate import check_positive

SEEN = 200  # training outputs that a largest loss is compared with


def largest_loss(loss, space) -> float | None:
    """An upper bound on ``loss(z, y)`` over all outputs of ``space``; None where none is known.

    A loss that brings ``largest_loss(space)`` of its own is asked first.

    Parameters
    ----------
    loss : loss bound to the space
    space : fitted space

    Examples
    --------
    >>> from skstruct.losses import Hamming
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets(range(5))
    >>> largest_loss(Hamming().bind(space), space)
    5.0
    """
    own = getattr(loss, "largest_loss", None)
    if own is not None:
        return own(space)
    for kind in type(loss).__mro__:  # a child of a loss is bounded like the loss
        if kind.__name__ in _KNOWN:
            value = _KNOWN[kind.__name__](loss, space)
            return None if value is None else float(value)
    return None


def largest_of_problem(problem, loss_bound, used_by: str) -> float:
    """The largest loss: given, if it holds for the training outputs, or known."""
    if loss_bound is not None:
        loss_bound = check_positive(loss_bound, "loss_bound", used_by)
        first, _ = distinct(problem.outputs)  # files may be sorted by output
        some = problem.outputs[first[:SEEN]]
        seen = float(problem.loss.pairwise(some, some).max())
        if seen > loss_bound * (1 + 1e-9):
            raise ValueError(
                f"{used_by}: loss_bound is {loss_bound:g}, but a training output costs "
                f"{seen:g} against another."
            )
        return loss_bound
    known = largest_loss(problem.loss, problem.space)
    if known is None or not known > 0:
        raise ValueError(
            f"{used_by}: the largest value of {type(problem.loss).__name__} on "
            f"{type(problem.space).__name__} is not known; give loss_bound."
        )
    return known


def _hierarchical(loss, space) -> float:
    """First mistakes are never one below the other, as in a tree of the heaviest choices."""
    graph, weights = loss.graph_, loss.weights_
    if not graph.is_forest:
        return weights.sum()
    heaviest = np.array(weights, dtype=np.float64)
    below = np.zeros(graph.n_nodes)
    for j in reversed(list(graph.order)):  # children before their parents
        heaviest[j] = max(weights[j], below[j])
        for p in graph.parents_of[j]:
            below[p] += heaviest[j]
    return heaviest[graph.roots].sum()


def _pairs(loss, space) -> float:
    d = len(space.labels_)
    return 1.0 if loss.normalize else d * (d - 1) / 2


def _sequences(loss, space) -> float:
    return loss.length_ + loss.bigrams * max(loss.length_ - 1, 0)


def _places(loss, space) -> float:
    """Items of equal weight at the dearest places, all different; else each at its dearest."""
    d = len(space.labels_)
    matrix, weights = loss._matrix(d), loss._weights(d)
    if not (weights == weights[0]).all():
        return weights.sum() * matrix.max()
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    return weights[0] * matrix[rows, columns].sum()


def _listed(loss, space) -> float | None:
    """The inner loss's own bound, or the largest entry of the table of candidates."""
    inner = None if not hasattr(loss.loss, "embedding") else largest_loss(loss.loss, space)
    if inner is not None:
        return inner
    matrix = getattr(loss, "matrix_", None)
    return None if matrix is None else matrix.max()


_KNOWN = {
    "ZeroOne": lambda loss, space: 1.0,
    "FBeta": lambda loss, space: 1.0,
    "Hamming": lambda loss, space: loss._weights(len(space.labels_)).sum(),
    "HierarchicalLoss": _hierarchical,
    "Kendall": _pairs,
    "RankLoss": lambda loss, space: 1.0 if loss.normalize else None,
    "PositionLoss": _places,
    "SequenceHamming": _sequences,
    "Listed": _listed,
}
