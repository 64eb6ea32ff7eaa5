# SPDX-License-Identifier: BSD-3-Clause
"""Mistake bounds of online label rankers, against weights that know all rows in advance.

Every step raises the dual of :math:`D(w) + C \\sum_t \\ell_t(w)`, which stays below the value of
the problem at any weights u. A row with k wrong subgraphs raises it by
:math:`k (a \\gamma - \\kappa a^2 / 2)` at least, for every a up to C / S: the pairs that are moved
make a graph of d items, whose Laplacian has no eigenvalue above d.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr
from sklearn.utils.extmath import safe_sparse_dot


class MistakeBound(NamedTuple):
    """What an online ranker does not exceed on a sequence of rows.

    Attributes
    ----------
    mistakes : float, rows with a pair in the wrong order when they come
    loss : float, sum over rows of the share of their subgraphs that are wrong
    """

    mistakes: float
    loss: float


def bound_mistakes(
    graphs: Any,
    rival: np.ndarray,
    method: str,
    alpha: float | None,
    radius: float,
    decomposition: str,
    n_passes: int = 1,
) -> MistakeBound:
    """The bounds of :meth:`OnlineLabelRanker.mistake_bound`.

    Parameters
    ----------
    graphs : Subgraphs
    rival : array of shape (p, d)
    """
    n_graphs = np.diff(graphs.first_subgraphs)
    n_graphs = n_graphs[n_graphs > 0]
    if not len(n_graphs):
        return MistakeBound(0.0, 0.0)
    least, most, d = int(n_graphs.min()), int(n_graphs.max()), graphs.n_items
    hinges = graphs.hinges(safe_sparse_dot(graphs.X, rival, dense_output=True))
    if method == "perceptron":
        curvature = (2.0 if decomposition == "whole" else d) * longest_row(graphs.X) ** 2
        reach = np.sqrt(curvature) * float(np.linalg.norm(rival))
        total = n_passes * float(hinges.sum())
        n_wrong = ((reach + np.sqrt(reach**2 + 4.0 * total)) / 2.0) ** 2
        return MistakeBound(n_wrong, n_wrong / least)
    C = 1.0 / alpha if alpha is not None else 1.0
    of_row = graphs.rows[graphs.begins]
    shares = 1.0 / np.bincount(of_row, minlength=graphs.X.shape[0])[of_row]
    if method == "multiplicative":
        start, single, factor = entropy_of(rival, radius), radius * widest(graphs.X) ** 2, d - 1.0
    else:
        square = longest_row(graphs.X) ** 2
        start, single, factor = 0.5 * float((rival**2).sum()), 2.0 * square, d / 2.0
    value = start + C * n_passes * float(shares @ hinges)
    several = single if decomposition == "whole" else factor * single
    gamma = float(graphs.margin.min())
    loss = value / (least * gain(C / least, several, gamma))
    mistakes = min(value / gain(C / most, single, gamma), most * loss)
    return MistakeBound(mistakes, loss)


def gain(cap: float, curvature: float, gamma: float) -> float:
    """The most of a gamma - curvature a^2 / 2 for a up to ``cap``.

    >>> gain(1.0, 4.0, 2.0), gain(0.25, 4.0, 2.0)
    (0.5, 0.375)
    """
    a = cap if curvature * cap <= gamma else gamma / curvature
    return a * gamma - curvature * a**2 / 2.0


def entropy_of(rival: np.ndarray, radius: float) -> float:
    """Of weights (p, d), relative to those of a multiplicative ranker that has seen nothing.

    What they leave of the radius is given to all parts alike.
    """
    left = radius - float(np.abs(rival).sum())
    if left < -np.finfo(float).eps * rival.size * radius:
        raise ValueError(
            f"Absolute weights of a rival sum to the radius {radius:g} at most; got "
            f"{radius - left:.6g}. A multiplicative ranker with a larger radius has a bound."
        )
    parts = np.stack([np.maximum(rival, 0.0), np.maximum(-rival, 0.0)])
    parts += max(left, 0.0) / parts.size
    return float(rel_entr(parts, radius / parts.size).sum())


def longest_row(X: Any) -> float:
    """The largest Euclidean norm."""
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else (X**2).sum(axis=1)
    return float(np.sqrt(np.max(squares)))


def widest(X: Any) -> float:
    """The largest absolute entry."""
    return float(np.abs(X).max())
