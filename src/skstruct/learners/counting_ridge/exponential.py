# SPDX-License-Identifier: BSD-3-Clause
r"""The exponential loss, of which structured ridge regression is the second order.

For a row with correct outputs :math:`Y_i`, of n, and scores f, the loss divided by the number of
outputs is

.. math:: l(f) = \frac{1}{|\mathcal Y|} \sum_{y \in Y_i} \sum_{z \notin Y_i} e^{f(z) - f(y)}
          = P - R, \qquad \ln P = L + \ln Z - \ln |\mathcal Y|,\quad \ln R = L + B - \ln|\mathcal Y|

with :math:`L = \ln \sum_y e^{-f(y)}`, :math:`B = \ln \sum_y e^{f(y)}` over the correct outputs and
Z the sum of :math:`e^{f(z)}` over all, which the distribution of an exponential family knows. Its
gradient is :math:`P\, \mathbf E \psi - R\, \mathbf E_B \psi - (P - R)\, \mathbf E_L \psi`, with
means under weights proportional to the terms of each sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from skstruct._arrays.memory import row_blocks
from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.counting_ridge.objective import CountingExamples, Minimum
from skstruct.saving import savable
from skstruct.spaces import Inference, Uniform


@savable
class ExponentialLoss(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""The exponential loss itself, for ``solver`` of :class:`~skstruct.CountingRidge`.

    .. math:: \min_f \alpha \|f\|^2 + \frac{1}{|\mathcal Y|} \sum_i \sum_{z \ne y_i}
              e^{f(x_i, z) - f(x_i, y_i)}

    It bounds the number of outputs that are ranked above the truth, the AUC loss (5.3) of [1]_;
    with :math:`e^a \approx 1 + a + a^2 / 2` it becomes the objective of structured ridge
    regression, less one half for every pair. The constant 1 in the exponent of (5.4) multiplies
    the loss by e, which is the same as ``alpha / e``. Over one correct output the loss is
    :math:`(1 / p(y \mid x) - 1) / |\mathcal Y|` for p of an exponential family with these scores
    [2]_: rows that are hard weigh more than in the likelihood, whose logarithm it lacks.

    It is convex, and minimized by L-BFGS. Sums of exponentials must be known exactly: of spaces
    with exact distributions (chains, trees, label sets, short lists), not only countable ones. An
    ``alpha`` that is searched for is chosen by the ridge regression.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when no entry of the gradient exceeds this share of the largest one at zero.
    max_iter : int, default=1000

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       section 5.2.
    .. [2] Y. Altun, M. Johnson, T. Hofmann, "Investigating loss functions and optimization methods
       for discriminative learning of label sequences", EMNLP 2003.

    Examples
    --------
    >>> from skstruct import CountingRidge
    >>> X, Y = [[0.0], [0.1], [0.9], [1.0]], [["a"], ["a"], ["b"], ["b"]]
    >>> model = CountingRidge(alpha=0.01, solver=ExponentialLoss()).fit(X, Y)
    >>> [sorted(labels) for labels in model.predict([[0.0], [1.0]])]
    [['a'], ['b']]
    """

    is_ridge = False  # whether the objective is that of ridge regression

    def __init__(self, tol: float = 1e-6, max_iter: int = 1000) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def minimum(
        self,
        space: Any,
        examples: CountingExamples,
        solutions: Any,
        lam: float,
        *,
        memory: Any,
        verbose: int = 0,
        level: Any = NOWHERE,
    ) -> Minimum:
        """Weights of least objective; ``solutions`` are the closed forms of ridge regression."""
        from skstruct.learners.exponential_family.optimization import lbfgs

        loss = ExponentialObjective(space, examples, solutions.factor, lam, memory)
        start = np.zeros(loss.size)
        first = float(np.abs(loss.value_and_gradient(start)[1]).max(initial=0.0))
        tol, max_iter = self.tol * first, self.max_iter
        found = lbfgs(loss, start, tol=tol, max_iter=max_iter, verbose=verbose, level=level)
        return Minimum(
            loss.weights(found.theta, solutions.gram), None, found.objective, found.n_iter
        )


class ExponentialObjective:
    """The objective and its gradient, in an orthonormal basis of the score functions.

    Parameters
    ----------
    space : fitted space
        With exact distributions; what the truth is contrasted with.
    examples : CountingExamples
    factor : Factor
        Of the kernel of the training rows, scaled as the examples are.
    lam : float
    memory : str or int
        Budget for the scores of a block of rows.
    """

    def __init__(
        self, space: Any, examples: CountingExamples, factor: Any, lam: float, memory: Any
    ) -> None:
        self.space, self.examples, self.factor, self.lam = space, examples, factor, lam
        uniform = Uniform.of(space)
        self.mean, self.log_size = np.asarray(uniform.mean_embedding()), uniform.log_size()
        self.features = factor.Q * np.sqrt(factor.k) / examples.root[:, None]  # of plain scores
        self.shape = self.features.shape[1], examples.U.shape[1]
        self.blocks = list(row_blocks(len(examples.counts), 8 * 8 * self.shape[1], memory))
        if Inference.of(space).distribution(np.zeros((1, self.shape[1]))) is None:
            raise ValueError(
                f"The exponential loss needs sums over all outputs of {type(space).__name__}, "
                "which are not known exactly: use solver='closed-form', or a smaller space."
            )

    @property
    def size(self) -> Any:
        return self.shape[0] * self.shape[1]

    def weights(self, theta: np.ndarray, gram: Any) -> Any:
        """Coefficients of unscaled rows, or weights of features."""
        rotated = theta.reshape(self.shape) / np.sqrt(self.factor.k)[:, None]
        if self.factor.right is not None:
            return self.factor.right @ rotated
        return gram.coefficients(self.factor.Q @ rotated)

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        W = theta.reshape(self.shape)
        value, gradient = self.lam * float(np.vdot(W, W)), 2.0 * self.lam * W
        for rows in self.blocks:
            losses, slopes = self.losses(self.features[rows] @ W, rows)
            weight = self.examples.weight[rows]
            with np.errstate(over="ignore", invalid="ignore"):  # such a step is taken back
                value += float(weight @ losses)
                gradient = gradient + self.features[rows].T @ (weight[:, None] * slopes)
        return value, gradient.ravel()

    def losses(self, f: np.ndarray, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Losses (b,) of some rows and their gradients (b, d) at plain scores f (b, d)."""
        part = self.examples.batch(rows.start, rows.stop)
        distribution = Inference.of(self.space).exact(np.ascontiguousarray(f))
        root = np.sqrt(part.counts)
        v = part.margins(f) * root[part.row]
        starts = np.flatnonzero(np.diff(part.row, prepend=-1))
        L, B = np.logaddexp.reduceat(-v, starts), np.logaddexp.reduceat(v, starts)
        log_Z = distribution.log_partition - f @ self.mean
        low, high = (
            part.gathered(np.exp(sign * v - total[part.row]) * root[part.row])
            for sign, total in ((-1.0, L), (1.0, B))
        )
        with np.errstate(over="ignore", invalid="ignore"):
            P, R = np.exp(L + log_Z - self.log_size), np.exp(L + B - self.log_size)
            slopes = P[:, None] * (distribution.marginals() - self.mean - low)
            return P - R, slopes - R[:, None] * (high - low)
