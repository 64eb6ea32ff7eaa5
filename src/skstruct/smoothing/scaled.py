# SPDX-License-Identifier: BSD-3-Clause
"""A smoother that reads its inputs on another scale."""

import copy
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor
from skstruct.smoothing.facets import (
    Gaps,
    Learning,
    LeavingOut,
    LeavingSomeOut,
    Penalties,
    Weighing,
)
from skstruct.tolerances import CONSTANT_COLUMN

SCALES = ("standard", "rank")
RANKS = 1000  # quantiles that a column of many values is ranked by


@savable
class Scaled(SparseRegressor):
    r"""A smoother of inputs whose columns are brought to one scale first.

    .. math:: x_j \mapsto (x_j - m_j) / s_j \quad\text{or}\quad x_j \mapsto \hat F_j(x_j)

    with the means, standard deviations and distribution functions of the training rows. Columns
    that do not vary become zero, and zeros of sparse inputs stay zero: these are not centred, and
    not ranked.

    Parameters
    ----------
    smoother : smoother
        One of this module. What it can, this can: other targets, left-out means, weights.
    scale : "standard" or "rank", default="standard"

    Attributes
    ----------
    smoother_ : the fitted smoother
    centre_, spread_ : arrays of shape (n_features,)
        Of ``"standard"``.
    quantiles_ : list of arrays
        The values of each column in order, of ``"rank"``.

    Examples
    --------
    >>> from skstruct.smoothing import KernelRidge
    >>> X = np.array([[0.0, 0], [1, 1000], [0, 2000], [1, 3000]])
    >>> Scaled(KernelRidge(alpha=1e-6)).fit(X, X[:, :1]).predict(X).round(3).ravel()
    array([0., 1., 0., 1.])
    """

    smoother_: Any = None

    def __init__(self, smoother: Any, scale: str = "standard") -> None:
        self.smoother = smoother
        self.scale = scale

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,).

        ``groups`` of rows are left out together by a smoother that does so while it is fitted.
        """
        if self.scale not in SCALES:
            raise ValueError(f'scale is "standard" or "rank"; got {self.scale!r}.')
        X, y = self._read(X, y)
        weight = check_sample_weight(sample_weight, X)
        self._settle(X, weight)
        given = {} if sample_weight is None else {"sample_weight": weight}
        if groups is not None and has_fit_parameter(self.smoother, "groups"):
            given["groups"] = groups
        self.smoother_ = clone(self.smoother).fit(self._scaled(X), y, **given)
        return self

    def _settle(self, X: Any, weight: np.ndarray) -> None:
        """The scale of the columns."""
        if self.scale == "rank" and not sparse.issparse(X):
            self.quantiles_ = [_quantiles(column[weight > 0]) for column in X.T]
        else:
            self.centre_, self.spread_ = _moments(X, weight)

    def fit_source(self, source: Any, read: Any, *, sample: Any, **how: Any) -> Self:
        """Fit to the blocks of a source, on the scale of a sample of its rows.

        As :meth:`NystroemRidge.fit_source`.
        """
        X, _, weight = read(sample)
        self.n_features_in_ = X.shape[1]
        self._settle(X, np.ones(X.shape[0]) if weight is None else weight)
        scaled = _ScaledBlocks(copy.copy(self), read)
        self.smoother_ = clone(self.smoother).fit_source(source, scaled, sample=sample, **how)
        return self

    def _scaled(self, X: Any) -> Any:
        if hasattr(self, "quantiles_"):
            return np.column_stack([_ranks(x, q) for x, q in zip(X.T, self.quantiles_)])
        if sparse.issparse(X):
            return sparse.csr_array(X @ sparse.diags_array(1.0 / self.spread_))
        return (X - self.centre_) / self.spread_

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets) or (n,)."""
        return self.smoother_.predict(self._scaled(self._checked(X)))

    def weights(self, X: Any) -> Any:
        """Weights of the training rows for each row of ``X``; shape (n, n_fitted)."""
        return self.smoother_.weights(self._scaled(self._checked(X)))

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> Any:
        """Predictions for the training rows, or for some, each (or its whole group) left out."""
        return LeavingOut.of(self.smoother_).means(groups, rows)

    def with_targets(self, targets: Any) -> Self:
        """The same smoother for other targets."""
        return self.around(self.smoother_.with_targets(targets))

    def with_alpha(self, alpha: float) -> Self:
        """The same smoother with another alpha."""
        return self.around(self.smoother_.with_alpha(alpha))

    def around(self, smoother: Any) -> Self:
        """The same scale, with another fitted smoother."""
        other = copy.copy(self)
        other.smoother_ = smoother
        return other


def _within(scaled: Scaled) -> Any:
    """The fitted smoother within, or the one that was given."""
    return scaled.smoother if scaled.smoother_ is None else scaled.smoother_


class WeighingOfScaled(Weighing):
    """Those of the smoother within, whose rows are of another scale."""

    __slots__ = ()

    @property
    def is_linear(self) -> bool:
        return Weighing.of(_within(self.smoother)).is_linear

    @property
    def weighing_part(self) -> Any:
        return None if Weighing.of(_within(self.smoother)).weighing_part is None else self.smoother

    @property
    def sample_weight(self) -> Any:
        return Weighing.of(_within(self.smoother)).sample_weight


class LeavingOutOfScaled(LeavingSomeOut):
    """As far as the smoother within does it."""

    __slots__ = ()

    @property
    def known(self) -> bool:
        return LeavingOut.of(_within(self.smoother)).known

    def light(self) -> Any:
        return self.smoother.around(LeavingOut.of(_within(self.smoother)).light())


class GapsOfScaled(Gaps):
    """As far as the smoother within takes them."""

    __slots__ = ()

    @property
    def taken(self) -> bool:
        return Gaps.of(_within(self.smoother)).taken

    def taking(self, targets: np.ndarray | None = None) -> Any:
        if self.taken:
            return self.smoother
        inner = Gaps.of(self.smoother.smoother).taking(targets)
        return clone(self.smoother).set_params(smoother=inner)


class LearningOfScaled(Learning):
    """By the kernel of the smoother within."""

    __slots__ = ()

    @property
    def within(self) -> Any:
        return _within(self.smoother)

    @property
    def takes_blocks(self) -> bool:
        return Learning.of(_within(self.smoother)).takes_blocks

    @property
    def kernel(self) -> Any:
        return Learning.of(_within(self.smoother)).kernel

    @property
    def gamma(self) -> Any:
        return Learning.of(_within(self.smoother)).gamma


Gaps.at(Scaled, GapsOfScaled)
Learning.at(Scaled, LearningOfScaled)
LeavingOut.at(Scaled, LeavingOutOfScaled)
Penalties.at(Scaled, lambda scaled: Penalties.of(_within(scaled)))
Weighing.at(Scaled, WeighingOfScaled)


class _ScaledBlocks:
    """Reads blocks as another reader does, and scales the inputs; it can be pickled."""

    def __init__(self, scaled: Scaled, read: Any) -> None:
        self.scaled, self.read = scaled, read

    def __call__(self, block: Any) -> tuple[Any, Any, Any]:
        X, targets, weight = self.read(block)
        return self.scaled._scaled(X), targets, weight


def _moments(X: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of the columns; one where a column does not vary."""
    share = weight / weight.sum()
    mean = np.asarray(share @ X).ravel()
    if sparse.issparse(X):
        variance = np.asarray(share @ X.multiply(X)).ravel() - mean**2
    else:
        variance = share @ (X - mean) ** 2
    size = np.abs(mean) + np.sqrt(variance.clip(min=0.0))
    varies = variance > (CONSTANT_COLUMN * size) ** 2
    return mean, np.where(varies, np.sqrt(np.where(varies, variance, 1.0)), 1.0)


def _quantiles(column: np.ndarray) -> np.ndarray:
    values = np.unique(column)
    if len(values) <= RANKS:
        return values
    return np.unique(np.quantile(column, np.linspace(0.0, 1.0, RANKS)))


def _ranks(column: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Where values lie among the quantiles, from -1 to 1."""
    if len(quantiles) < 2:
        return np.zeros(len(column))
    return np.interp(column, quantiles, np.linspace(-1.0, 1.0, len(quantiles)))
