# SPDX-License-Identifier: BSD-3-Clause
"""A smoother that reads its inputs on another scale."""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor, is_linear, light, weights_fitted_with
from skstruct.tolerances import CONSTANT_COLUMN

SCALES = ("standard", "rank")
RANKS = 1000  # quantiles that a column of many values is ranked by


def _has(name: str) -> Any:
    """A check that the smoother has a method."""
    return lambda self: hasattr(getattr(self, "smoother_", self.smoother), name)


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

    with_gaps = "scaled"

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

    @property
    def takes_gaps(self) -> bool:
        """Whether targets may be NaN where they are not known."""
        return bool(getattr(self.smoother, "takes_gaps", False))

    def _settle(self, X: Any, weight: np.ndarray) -> None:
        """The scale of the columns."""
        if self.scale == "rank" and not sparse.issparse(X):
            self.quantiles_ = [_quantiles(column[weight > 0]) for column in X.T]
        else:
            self.centre_, self.spread_ = _moments(X, weight)

    @available_if(_has("fit_source"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
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

    @property
    def is_linear(self) -> bool:
        """Whether the smoother within is linear."""
        return is_linear(getattr(self, "smoother_", self.smoother))

    @property
    def left_out_rows_(self) -> Any:
        """Rows that ``loo_path`` predicts; None for all."""
        return self.smoother_.left_out_rows_

    @left_out_rows_.setter
    def left_out_rows_(self, rows: Any) -> None:
        self.smoother_.left_out_rows_ = rows

    @property
    def alpha(self) -> Any:
        """The penalty of the smoother within."""
        return getattr(self, "smoother_", self.smoother).alpha

    @property
    def sample_weight_(self) -> Any:
        """The sample weights of the smoother within."""
        return weights_fitted_with(self.smoother_)

    @property
    def kernel(self) -> Any:
        """The kernel of the smoother within."""
        return getattr(self, "smoother_", self.smoother).kernel

    @property
    def kernel_(self) -> Any:
        """The kernel with its parameters settled."""
        return self.smoother_.kernel_

    @property
    def path_is_costly(self) -> bool:
        """Whether small penalties take long."""
        return getattr(self.smoother_, "path_is_costly", False)

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets) or (n,)."""
        return self.smoother_.predict(self._scaled(self._checked(X)))

    @available_if(_has("weights"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def weights(self, X: Any) -> Any:
        """Weights of the training rows for each row of ``X``; shape (n, n_fitted)."""
        return self.smoother_.weights(self._scaled(self._checked(X)))

    @available_if(_has("loo"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def loo(self, groups: Any = None) -> Any:
        """Predictions for the training rows, each (or its whole group) left out."""
        return self.smoother_.loo(groups)

    @available_if(_has("loo_rows"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def loo_rows(self, rows: np.ndarray, groups: Any = None) -> Any:
        """``loo`` of some rows."""
        return self.smoother_.loo_rows(rows, groups)

    @available_if(_has("loo_path"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def loo_path(self, alphas: Any, groups: Any = None) -> Iterator[Any]:
        """``loo`` for each alpha in turn."""
        return self.smoother_.loo_path(alphas, groups)

    @available_if(_has("penalty_range"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def penalty_range(self) -> tuple[float, float]:
        """The largest penalty worth trying, and what all of them are above."""
        return self.smoother_.penalty_range()

    @available_if(_has("with_targets"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def with_targets(self, targets: Any) -> Self:
        """The same smoother for other targets."""
        return self._around(self.smoother_.with_targets(targets))

    @available_if(_has("with_alpha"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def with_alpha(self, alpha: float) -> Self:
        """The same smoother with another alpha."""
        return self._around(self.smoother_.with_alpha(alpha))

    def light(self) -> Self:
        """The same predictions, without what only leaving out and other targets need."""
        return self._around(light(self.smoother_))

    def _around(self, smoother: Any) -> Self:
        other = copy.copy(self)
        other.smoother_ = smoother
        return other


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
