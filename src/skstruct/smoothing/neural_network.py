# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means by a small neural network."""

from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import require, savable
from skstruct.smoothing.base import SparseRegressor
from skstruct.smoothing.folds import rank_by_content

SEEN, PASSES = 2_000_000, (20, 200)  # rows that training looks at, again and again; its bounds
BATCH = 200  # rows of a step
CACHE = "16MB"  # of hidden values at a time


@savable
class NeuralNetwork(SparseRegressor):
    r"""A network of rectified layers for all targets together.

    .. math:: h_0 = x, \quad h_k = \max(0, W_k' h_{k-1} + b_k), \quad
              \hat f(x) = m + s \odot (W' h_K + b)

    with m and s the means and deviations of the targets. Training is that of
    :class:`sklearn.neural_network.MLPRegressor`: Adam in steps of 200 rows, stopped when a tenth
    of the rows, which it does not learn from, is predicted no better for ten passes.
    Give columns of one scale: a learner begins with ``Scaled(CrossFitted(NeuralNetwork()))``.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int, default=(128, 128)
    max_iter : int or "auto", default="auto"
        Passes over the rows at most; "auto" looks at two million rows, in 20 to 200 passes.
    random_state : int or RandomState, default=None

    Attributes
    ----------
    weights_ : list of arrays of shape (n_inputs, n_outputs), one for each layer
    biases_ : list of arrays of shape (n_outputs,)
    center_, scale_ : arrays of shape (n_targets,)
        Means and deviations of the targets.
    n_iter_ : int
        Passes that were made.

    Notes
    -----
    Numbers are single precision, in which training takes half of the time. The order of the rows
    does not matter: they are sorted by what they hold.

    Examples
    --------
    >>> X = np.linspace(-1.0, 1.0, 400)[:, None]
    >>> model = NeuralNetwork((20,), random_state=0).fit(X, np.hstack([abs(X), 3 + X]))
    >>> bool(abs(model.predict([[-0.5]]) - [[0.5, 2.5]]).max() < 0.1)
    True
    """

    def __init__(
        self,
        hidden_layer_sizes: tuple[int, ...] = (128, 128),
        *,
        max_iter: str | int = "auto",
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,)."""
        from sklearn.neural_network import MLPRegressor

        X, y = self._read(X, y)
        weight = check_sample_weight(sample_weight, X)
        targets = y.reshape(len(y), -1)
        self.shape_ = y.shape[1:]
        self.center_ = np.average(targets, axis=0, weights=weight)
        self.scale_ = np.sqrt(np.average((targets - self.center_) ** 2, axis=0, weights=weight))
        order = np.argsort(rank_by_content(X, targets))
        divisor = np.where(self.scale_ > 0, self.scale_, 1.0)
        T = ((targets - self.center_) / divisor)[order].astype(np.float32)
        network = MLPRegressor(
            hidden_layer_sizes=self.hidden_layer_sizes,
            batch_size=min(BATCH, len(y)),
            max_iter=passes_over(len(y)) if self.max_iter == "auto" else self.max_iter,
            early_stopping=len(y) >= 10,  # of fewer, none can be spared
            random_state=check_random_state(self.random_state).randint(2**31 - 1),
        )
        given = {} if sample_weight is None else {"sample_weight": weight[order]}
        network.fit(X[order].astype(np.float32), T[:, 0] if T.shape[1] == 1 else T, **given)
        self.weights_, self.biases_ = network.coefs_, network.intercepts_
        self.n_iter_ = int(network.n_iter_)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets) or (n,)."""
        X = self._checked(X)
        means = np.empty((X.shape[0], len(self.scale_)))
        widest = max(len(bias) for bias in self.biases_)
        for rows in row_blocks(X.shape[0], 8 * (X.shape[1] + 2 * widest), CACHE):
            values = X[rows].astype(np.float32)
            for weight, bias in zip(self.weights_[:-1], self.biases_[:-1]):
                values = np.maximum(values @ weight + bias, 0.0)
            means[rows] = values @ self.weights_[-1] + self.biases_[-1]
        means *= self.scale_
        means += self.center_
        return means.reshape(X.shape[0], *self.shape_)

    def _check_saved(self) -> None:
        """Layers fit together, and to the inputs and targets."""
        if not hasattr(self, "weights_"):
            return
        sizes = [self.n_features_in_, *(len(bias) for bias in self.biases_)]
        shapes = [weight.shape for weight in self.weights_]
        require(shapes == list(pairwise(sizes)), "layers of a network that do not fit together")
        targets = len(self.scale_) == len(self.center_) == sizes[-1]
        require(targets, "a network of other targets")


def passes_over(n_rows: int) -> int:
    """Passes that look at two million rows, within bounds.

    >>> passes_over(1_000), passes_over(40_000), passes_over(10**6)
    (200, 50, 20)
    """
    return int(np.clip(SEEN / n_rows, *PASSES))
