# SPDX-License-Identifier: BSD-3-Clause
"""Several smoothers together, by weights that their left-out means are given."""

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from skstruct._arrays.rows import dense
from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor, group_numbers
from skstruct.smoothing.facets import Gaps, LeavingOut, LeavingSomeOut, Weighing, WeighingOfRows
from skstruct.smoothing.folds import folds_of, rank_by_content
from skstruct.smoothing.penalties import fit_and_leave_out
from skstruct.smoothing.stack_weights import (
    blocks_pay,
    mean_target,
    mean_without,
    nonnegative_weights,
    products,
    squared_error_of,
)


@savable
class Stacked(SparseRegressor):
    r"""A weighted sum of smoothers; the weights make the least of the left-out squared error.

    .. math::
        \hat f(x) = \bar t + \sum_k c_k (\hat f_k(x) - \bar t), \qquad
        c = \arg\min_{c \ge 0} \sum_i s_i \Big\| t_i - \bar t^{-i}
            - \sum_k c_k \big(\hat f_k^{-i}(x_i) - \bar t^{-i}\big) \Big\|^2

    with :math:`\hat f_k^{-i}` and :math:`\bar t^{-i}` the smoother and the mean target without
    row i: in closed form for ridge regressions, out of bag for forests, by folds for others [1]_.
    A row's own target has no part in what it is weighed by. With linear smoothers it is one.

    Parameters
    ----------
    smoothers : list of smoothers, or of pairs (name, smoother)
        Smoothers of this module; any regressor or classifier of scikit-learn is taken as
        :class:`CrossFitted`. Penalties ``alpha="auto"`` are chosen by their left-out squared error.
    cv : int, default=5
        Folds for those that have no other way.

    Attributes
    ----------
    names_ : list of str
    parts_ : list of fitted smoothers, all of positive weight
    coef_ : array of shape (n_parts,)
        Their weights c, in the order of ``parts_``.
    all_coef_ : array of shape (n_smoothers,)
        The same for all smoothers, in the order they were given.
    blocks_, block_coef_ : arrays of shapes (n_targets,) and (n_blocks, n_parts), or None
        Weights of targets that have their own; the sum is then no linear smoother, and ``linear_``
        has one set of weights.
    errors_ : array of shape (n_smoothers + 1,)
        Left-out mean squared errors of every smoother, and of all together.
    centre_ : array of shape (n_targets,), the mean target
    linear_ : Stacked or None
        Where some parts are no linear smoothers, the others, weighed without them: what has
        weights of training rows, and takes other targets without fitting again.

    References
    ----------
    .. [1] L. Breiman, "Stacked regressions", 1996.

    Examples
    --------
    >>> from skstruct.smoothing import KernelRidge, Neighbors
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> stack = Stacked([KernelRidge("rbf", "auto"), Neighbors(5)]).fit(X, np.sin(X))
    >>> bool(abs(stack.predict([[1.5]])[0, 0] - np.sin(1.5)) < 1e-2)
    True
    >>> bool(stack.errors_[-1] <= stack.errors_.min() + 1e-12)
    True
    """

    blocks_ = block_coef_ = linear_ = None
    parts_: Any = None

    def __init__(self, smoothers: Sequence[Any], *, cv: int = 5) -> None:
        self.smoothers = smoothers
        self.cv = cv

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, blocks: Any = None
    ) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,).

        Parameters
        ----------
        groups : array of shape (n,), default=None
            Rows of the same group are left out together.
        blocks : int array of shape (n_targets,), default=None
            Targets that get weights of their own, if these predict rows better that had no part
            in them.
        """
        X, y = self._read(X, y)
        weight = check_sample_weight(sample_weight, X)
        fitted = []
        for name, smoother in self.named():
            part, left = fit_and_leave_out(
                smoother, X, y, None if sample_weight is None else weight, groups, self.cv
            )
            fitted.append((name, part, left))
        return self.combine(fitted, X, y, weight, groups, blocks=blocks)

    def combine(
        self,
        fitted: list[Any],
        X: Any,
        y: Any,
        weight: np.ndarray,
        groups: Any = None,
        rows: np.ndarray | None = None,
        blocks: np.ndarray | None = None,
    ) -> Self:
        """Weigh smoothers that are fitted: triples of name, smoother and left-out means.

        Parameters
        ----------
        fitted : list of (name, smoother, means)
            Means of all rows, or of ``rows``, each left out; of shape of y.
        X : array or CSR of shape (n, n_features)
        y : array of shape (n, n_targets) or (n,)
        weight : array of shape (n,)
        rows : array of row numbers, default=None
            Which rows the weights are fitted to; all when None.
        blocks : int array of shape (n_targets,), default=None
            Targets that get weights of their own: depths of a hierarchy, say. One set of weights
            serves all when None, and where several predict no better; see :func:`blocks_pay`.
        """
        if not fitted:
            raise ValueError("Stacked needs one smoother at least.")
        self.X_fit_, self.n_features_in_ = X, X.shape[1]
        self.targets_, self.sample_weight_ = np.asarray(y, dtype=np.float64), weight
        self.centre_ = mean_target(self.targets_, weight)
        names, parts, means = zip(*fitted)
        judged = slice(None) if rows is None else rows
        base = mean_without(self.targets_, weight, groups)[judged]
        sums = products(means, self.targets_[judged], base, weight[judged])
        self.all_coef_ = nonnegative_weights(*sums[:2])
        together = squared_error_of(self.all_coef_, *sums)
        self.blocks_ = all_block_coef = None
        if blocks is not None and self._blocks_pay(means, judged, base, blocks, groups):
            self.blocks_ = np.asarray(blocks)
            all_block_coef, together = self._by_block(means, judged, base, self.blocks_)
        alone = [squared_error_of(unit, *sums) for unit in np.eye(len(parts))]
        self.errors_ = np.append(alone, together) / weight[judged].sum()
        used = self.all_coef_ if all_block_coef is None else all_block_coef.sum(axis=0)
        kept = np.flatnonzero(used > 0)
        self.names_, self.parts_ = [names[k] for k in kept], [parts[k] for k in kept]
        self.coef_ = self.all_coef_[kept]
        self.block_coef_ = None if all_block_coef is None else all_block_coef[:, kept]
        whole = Weighing.of(self).is_linear
        self.linear_ = None if whole else self._of_linear_parts(fitted, groups, rows)
        return self

    def _blocks_pay(
        self, means: Any, judged: Any, base: np.ndarray, blocks: Any, groups: Any
    ) -> bool:
        n, T = len(self.targets_), self.targets_[judged]
        number = group_numbers(groups, n)[judged]
        number = np.unique(number, return_inverse=True)[1].reshape(-1)
        fold = folds_of(number, self.cv, rank_by_content(self.X_fit_[judged], T))
        weight = self.sample_weight_[judged]
        return blocks_pay(means, T, base, weight, np.asarray(blocks), fold)

    def _by_block(
        self, means: Any, judged: Any, base: np.ndarray, blocks: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Weights of shape (n_blocks, n_smoothers), and the squared error that they have."""
        coef, error = np.zeros((blocks.max() + 1, len(means))), 0.0
        T, weight = self.targets_[judged], self.sample_weight_[judged]
        for block in range(len(coef)):
            inside = blocks == block
            steps = [np.asarray(mean)[:, inside] for mean in means]
            sums = products(steps, T[:, inside], base[:, inside], weight)
            coef[block] = nonnegative_weights(*sums[:2])
            error += squared_error_of(coef[block], *sums)
        return coef, error

    def _of_linear_parts(self, fitted: list[Any], groups: Any, rows: Any) -> Any:
        """The stack of the linear smoothers alone, by weights of their own; None for none."""
        linear = [(name, part, left) for name, part, left in fitted if Weighing.of(part).is_linear]
        if not linear:
            return None
        alone = Stacked([], cv=self.cv)
        weight = self.sample_weight_
        return alone.combine(linear, self.X_fit_, self.targets_, weight, groups, rows)

    def named(self) -> list[tuple[str, Any]]:
        """Copies of the smoothers, with names."""
        found = []
        for number, given in enumerate(self.smoothers):
            name, smoother = given if isinstance(given, tuple) else (f"{number}", given)
            found.append((name, clone(smoother)))
        return found

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        X = self._checked(X)
        return self._sum([part.predict(X) for part in self.parts_], self.centre_, X.shape[0])

    def disagreement(self, X: Any, first: int | None = None) -> np.ndarray:
        r"""How far the parts are from each other; shape (n,).

        .. math:: \sum_t \sum_k c_k \big(\hat f_{kt}(x) - \hat f_t(x)\big)^2 / \sum_k c_k

        over the ``first`` targets t, all when None, with weights of their own where targets have
        these.
        """
        X = self._checked(X)
        means = [np.asarray(part.predict(X)).reshape(X.shape[0], -1) for part in self.parts_]
        around = self._sum(means, self.centre_, X.shape[0]).reshape(X.shape[0], -1)
        coef = self.coef_[:, None] if self.block_coef_ is None else self.block_coef_[self.blocks_].T
        share = coef / np.maximum(coef.sum(axis=0), np.finfo(np.float64).tiny)
        spread = np.zeros(X.shape[0])
        for c, mean in zip(share, means):
            spread += (c * (mean - around) ** 2)[:, :first].sum(axis=1)
        return spread

    def _sum(self, means: list[Any], centre: np.ndarray, n: int) -> np.ndarray:
        """The centre, and from it the weighted steps to the means of the parts."""
        coef = self.coef_ if self.block_coef_ is None else self.block_coef_[self.blocks_].T
        rest = 1.0 - coef.sum(axis=0)
        shape = (n, *self.targets_.shape[1:])
        total = np.array(np.broadcast_to(rest * centre, shape), dtype=np.float64)
        for c, mean in zip(coef, means):
            total += c * np.asarray(mean).reshape(shape)
        return total

    def weights(self, X: Any) -> Any:
        """Weights of the training rows for each row of ``X``; shape (n, n_fitted)."""
        X = self._checked(X)
        share = self.sample_weight_ / self.sample_weight_.sum()
        total = np.tile((1.0 - self.coef_.sum()) * share, (X.shape[0], 1))
        for c, part in zip(self.coef_, self.parts_):
            total += c * part.weights(X)
        return total

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Predictions for the training rows, or for some, each (or its whole group) left out.

        By the weights of all rows: that a row had a part in these is not undone.
        """
        means = [LeavingOut.of(part).means(groups, rows) for part in self.parts_]
        return self.summed(means, groups, rows)

    def summed(
        self, means: list[Any], groups: Any = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """The left-out means of all, given those of the parts."""
        base = mean_without(self.targets_, self.sample_weight_, groups)
        base = base if rows is None else base[rows]
        return self._sum(means, base, len(base))

    def with_targets(self, targets: Any) -> Self:
        """The same weights of the same parts, for other targets."""
        other = copy.copy(self)
        other.targets_ = dense(targets, np.float64)
        if other.targets_.shape != self.targets_.shape:
            other.blocks_ = other.block_coef_ = None  # of other targets nobody knows the blocks
        other.centre_ = mean_target(other.targets_, self.sample_weight_)
        other.parts_ = [part.with_targets(targets) for part in self.parts_]
        return other


class WeighingOfStack(WeighingOfRows):
    """As far as its parts have weights."""

    __slots__ = ()

    @property
    def is_linear(self) -> bool:
        """Whether all parts are linear smoothers, or none has any weight."""
        stack = self.smoother
        parts = stack.parts_
        if parts is None:
            parts = [given[1] if isinstance(given, tuple) else given for given in stack.smoothers]
        return stack.block_coef_ is None and all(Weighing.of(part).is_linear for part in parts)

    @property
    def linear_part(self) -> Any:
        return self.smoother if self.is_linear else self.smoother.linear_

    @property
    def weighing_part(self) -> Any:
        if self.linear_part is not None:
            return self.linear_part
        parts = map(Weighing.of, self.smoother.parts_)
        return self.smoother if all(part.weighing_part is not None for part in parts) else None


class LeavingOutOfStack(LeavingSomeOut):
    """Left-out means of the parts, summed."""

    __slots__ = ()

    def light(self) -> Any:
        other = copy.copy(self.smoother)
        other.parts_ = [LeavingOut.of(part).light() for part in other.parts_]
        if other.linear_ is not None:
            other.linear_ = LeavingOut.of(other.linear_).light()
        return other


class GapsOfStack(Gaps):
    """As far as all smoothers take them."""

    __slots__ = ()

    @property
    def taken(self) -> bool:
        return all(Gaps.of(part).taken for _, part in self.smoother.named())

    def taking(self, targets: np.ndarray | None = None) -> Any:
        return self.smoother if self.taken else super().taking(targets)


Gaps.at(Stacked, GapsOfStack)
LeavingOut.at(Stacked, LeavingOutOfStack)
Weighing.at(Stacked, WeighingOfStack)
