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
from sklearn.utils.validation import check_is_fitted


class MistakeBound(NamedTuple):
    """What an online ranker does not exceed on a sequence of rows.

    Attributes
    ----------
    mistakes : float, rows with a pair in the wrong order when they come
    loss : float, sum over rows of the share of their subgraphs that are wrong
    """

    mistakes: float
    loss: float


class BoundedMistakes:
    """Online rankers that tell how many mistakes they make at most."""

    def mistake_bound(
        self: Any, X: Any, y: Any, coef: Any, intercept: Any = None, *, n_passes: int = 1
    ) -> MistakeBound:
        r"""How many mistakes are made at most on a sequence of rows, from zero weights on.

        The bound is told by other weights u, those of a comparator who knows all rows in advance,
        and by their hinges on the rows. It holds for every order of the rows, whatever they are:
        nothing is random. With :math:`L = \sum_t \frac1S \sum_s h_s(u)`, C = 1 / alpha and the
        least margin :math:`\gamma`,

        .. math:: \sum_t (\text{share of wrong subgraphs}) \le \frac{D(u) + C L}{\min S\,
                  \nu_\kappa(C / \min S)}, \quad \#(\text{rows with a mistake}) \le
                  \frac{D(u) + C L}{\nu_{\kappa_1}(C / \max S)}

        with :math:`\nu_\kappa(c) = \max_{a \le c} a \gamma - \kappa a^2 / 2`. For weights that
        are added to, :math:`D = \tfrac12 \|u\|^2`, :math:`\kappa_1 = 2 R^2` and :math:`\kappa = d
        R^2`, R the largest norm of a row. For weights that are multiplied D is the entropy,
        :math:`\kappa_1 = r R^2` and :math:`\kappa = (d - 1) r R^2`, R the largest entry of a row
        and r the radius. With "whole", :math:`\kappa = \kappa_1`. For a perceptron the number N of
        wrong subgraphs obeys :math:`N \le L + \sqrt{\kappa N} \|u\|`, where L sums hinges over all
        subgraphs.

        Parameters
        ----------
        X, y : rows, each of weight one
        coef : array of shape (d, p)
        intercept : array of shape (d,), default=None
            Zero when None.
        n_passes : int, default=1
            How often the rows are visited.

        Returns
        -------
        MistakeBound
            ``mistakes`` bounds ``n_mistakes_``, and ``loss`` bounds ``cumulative_loss_``.

        Examples
        --------
        >>> from skstruct.learners import OnlineLabelRanker
        >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 20, [[1, 2], [2, 1]] * 20
        >>> model = OnlineLabelRanker(method="primal-dual", alpha=1.0).partial_fit(X, y)
        >>> bound = model.mistake_bound(X, y, [[0.5, -0.5], [-0.5, 0.5]])
        >>> model.n_mistakes_, round(bound.mistakes, 6)
        (2, 4.0)
        """
        check_is_fitted(self, "n_seen_")
        X, y = self._read(X, y, reset=False)
        X = self._inputs(X)
        comparator = _rival(
            coef, intercept, (len(self.space_.items_), X.shape[1]), self.fit_intercept
        )
        reduced = self.reduction_.apply(X, self.space_.validate(y))
        return bound_mistakes(
            reduced, comparator.T, self.method, self.alpha_, self.radius,
            self.reduction_.decomposition, n_passes,
        )  # fmt: skip


def _rival(coef: Any, intercept: Any, shape: tuple[int, int], constant: bool) -> np.ndarray:
    """Weights (d, p) with the intercepts last, where there are any."""
    d, p = shape
    comparator, coef = np.zeros(shape), np.asarray(coef, dtype=np.float64)
    if coef.shape != (d, p - constant):
        raise ValueError(
            f"coef has shape {(d, p - constant)}, items by features; got {coef.shape}."
        )
    comparator[:, : coef.shape[1]] = coef
    if intercept is not None:
        if not constant:
            raise ValueError("This ranker has no intercepts: leave intercept at None.")
        comparator[:, -1] = intercept
    return comparator


def bound_mistakes(
    graphs: Any,
    comparator: np.ndarray,
    method: str,
    alpha: float | None,
    radius: float,
    decomposition: str,
    n_passes: int = 1,
) -> MistakeBound:
    """The bounds of :meth:`BoundedMistakes.mistake_bound`.

    Parameters
    ----------
    graphs : Subgraphs
    comparator : array of shape (p, d)
    """
    n_graphs = np.diff(graphs.first_subgraphs)
    n_graphs = n_graphs[n_graphs > 0]
    if not len(n_graphs):
        return MistakeBound(0.0, 0.0)
    least, most, d = int(n_graphs.min()), int(n_graphs.max()), graphs.n_items
    hinges = graphs.hinges(safe_sparse_dot(graphs.X, comparator, dense_output=True))
    if method == "perceptron":
        curvature = (2.0 if decomposition == "whole" else d) * longest_row(graphs.X) ** 2
        reach = np.sqrt(curvature) * float(np.linalg.norm(comparator))
        total = n_passes * float(hinges.sum())
        n_wrong = ((reach + np.sqrt(reach**2 + 4.0 * total)) / 2.0) ** 2
        return MistakeBound(n_wrong, n_wrong / least)
    assert alpha is not None  # of all but the perceptron
    C = 1.0 / alpha
    of_row = graphs.rows[graphs.begins]
    shares = 1.0 / np.bincount(of_row, minlength=graphs.X.shape[0])[of_row]
    if method == "multiplicative":
        start, single, factor = (
            entropy_of(comparator, radius),
            radius * widest(graphs.X) ** 2,
            d - 1.0,
        )
    else:
        square = longest_row(graphs.X) ** 2
        start, single, factor = 0.5 * float((comparator**2).sum()), 2.0 * square, d / 2.0
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


def entropy_of(comparator: np.ndarray, radius: float) -> float:
    """Of weights (p, d), relative to those of a multiplicative ranker that has seen nothing.

    What they leave of the radius is given to all parts alike.
    """
    left = radius - float(np.abs(comparator).sum())
    if left < -np.finfo(float).eps * comparator.size * radius:
        raise ValueError(
            f"Absolute weights of a comparator sum to the radius {radius:g} at most; got "
            f"{radius - left:.6g}. A multiplicative ranker with a larger radius has a bound."
        )
    parts = np.stack([np.maximum(comparator, 0.0), np.maximum(-comparator, 0.0)])
    parts += max(left, 0.0) / parts.size
    return float(rel_entr(parts, radius / parts.size).sum())


def longest_row(X: Any) -> float:
    """The largest Euclidean norm."""
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else (X**2).sum(axis=1)
    return float(np.sqrt(np.max(squares)))


def widest(X: Any) -> float:
    """The largest absolute entry."""
    return float(np.abs(X).max())
