# SPDX-License-Identifier: BSD-3-Clause
r"""Principal components of the outputs in the feature space of their kernel.

Features :math:`\Phi(y)` of the outputs are centred by their mean :math:`\bar\Phi`; of the centred
Gram matrix the components of the largest eigenvalues are kept. A sum of features, projected, is
such a sum again: with weights :math:`c_g` of the distinct outputs, :math:`D = \mathrm{diag}(c)` and
:math:`D^{1/2} K_c D^{1/2} = U \Lambda U'`, the weights b of the distinct outputs become
:math:`(c 1' + D^{1/2} U_r U_r' D^{-1/2})\, b`.
"""

import copy
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import BaseEstimator

from skstruct._arrays.checks import is_count
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.learners.output_kernel.folds import fold_losses, fold_part, splitter
from skstruct.saving import savable
from skstruct.tolerances import GRAM_EIGENVALUE_ZERO, SAME_EIGENVALUE


@savable
class PrincipalComponents(BaseEstimator):  # type: ignore[misc]
    r"""Kernel dependency estimation, as a ``method`` of :class:`~skstruct.OutputKernelRegressor`.

    Answers of ridge regression are projected on principal components of the outputs in the feature
    space of their kernel, :math:`s \bar\Phi + U_r U_r' (\hat\Phi(x) - s \bar\Phi)` with the sum
    s of the weights :math:`b(x)`, which leaves out what is noise there.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many, at most all that are not zero: all is ridge regression itself. ``"auto"`` chooses
        by the loss on held-out rows, among 1, 2, 4, ... and all. Components of one variance are
        kept or left out together.

    References
    ----------
    J. Weston, O. Chapelle, A. Elisseeff, B. Schölkopf and V. Vapnik, "Kernel dependency
    estimation", Advances in Neural Information Processing Systems 15, 2002.

    Examples
    --------
    >>> from skstruct import OutputKernelRegressor
    >>> X, words = [[0.0], [0.2], [1.0], [1.1], [2.0]], ["cat", "cat", "dog", "dig", "bird"]
    >>> method = PrincipalComponents(2)
    >>> model = OutputKernelRegressor(output_kernel="hamming", method=method, alpha=0.1)
    >>> model = model.fit(X, words)
    >>> model.output_variances_.round(2), model.n_components_
    (array([1.18, 0.88, 0.18]), 2)
    """

    def __init__(self, n_components: int | str = "auto") -> None:
        self.n_components = n_components

    def check(self) -> None:
        """Raise where there is no such number of components."""
        n = self.n_components
        if not (isinstance(n, str) and n == "auto") and not is_count(n):
            raise ValueError(f'n_components is a whole number from 1 or "auto"; got {n!r}.')


@savable
class OutputComponents:
    """Directions in which outputs differ most, and projections on these.

    Parameters
    ----------
    gram : array (u, u)
        Kernel between the distinct outputs.
    number : int array (m,)
        Which of them each training row has.
    sample_weight : array (m,), default=None

    Attributes
    ----------
    variances : array (r,), of all components that are not zero, the largest first
    n_kept : int
        Components that projections keep; all at first.
    """

    def __init__(
        self, gram: np.ndarray, number: np.ndarray, sample_weight: np.ndarray | None = None
    ) -> None:
        self.number = np.asarray(number)
        weight = np.ones(len(number)) if sample_weight is None else np.asarray(sample_weight)
        share = np.bincount(self.number, weight, len(gram)) / weight.sum()
        self.count = np.bincount(self.number, minlength=len(gram)).astype(float)
        root = np.sqrt(share)
        seen = np.flatnonzero(root)  # outputs of rows that do not count have no direction
        K = gram[np.ix_(seen, seen)]
        mean = K @ share[seen]
        K = K - mean[:, None] - mean + share[seen] @ mean
        values, U = eigh(root[seen, None] * K * root[seen])
        values, U = values[::-1], U[:, ::-1]
        kept = values > GRAM_EIGENVALUE_ZERO * float(np.abs(gram).max(initial=0.0))
        self.share, self.variances = share, values[kept]
        self.to = np.zeros((len(gram), int(kept.sum())))
        self.back = np.zeros_like(self.to)
        self.to[seen] = root[seen, None] * U[:, kept]
        self.back[seen] = U[:, kept] / root[seen, None]
        self.n_kept = len(self.variances)

    def first(self, n: int) -> "OutputComponents":
        """The same with the first n components, or all where there are fewer.

        Of components of one variance any others would do as well: these are kept together.
        """
        other = copy.copy(self)
        least = self.variances[min(int(n), len(self.variances)) - 1 :][:1]
        same = self.variances >= least - SAME_EIGENVALUE * self.variances[:1]
        other.n_kept = int(same.sum())
        return other

    @property
    def explained(self) -> float:
        """Share of the variance of the outputs that the components kept have."""
        total = float(self.variances.sum())
        return float(self.variances[: self.n_kept].sum()) / total if total > 0 else 1.0

    def projected(self, weights: Any) -> np.ndarray:
        """Weights of training rows (n, m), as those of the projected sums; shape (n, m)."""
        m = len(self.number)
        gather = sparse.csr_array((np.ones(m), (np.arange(m), self.number)), (m, len(self.count)))
        b = np.asarray(weights @ gather)
        to, back = self.to[:, : self.n_kept], self.back[:, : self.n_kept]
        turned = b.sum(axis=1, keepdims=True) * self.share + (b @ back) @ to.T
        return (turned / self.count)[:, self.number]  # alike for rows of one output

    def targets(self, targets: np.ndarray) -> np.ndarray:
        """Targets (m, q) whose weighted sums are those of the projected weights."""
        mean = np.zeros((len(self.count), targets.shape[1]))
        np.add.at(mean, self.number, targets)
        mean /= self.count[:, None]  # rows of one output have one target
        to, back = self.to[:, : self.n_kept], self.back[:, : self.n_kept]
        turned = self.share @ mean + back @ (to.T @ mean)
        return turned[self.number]


def choose_components(
    make: Any,
    problem: Any,
    X: Any,
    groups: Any,
    sample_weight: np.ndarray | None,
    *,
    cv: int,
    memory: Any,
    random_state: Any,
) -> tuple[int, LeaveOutSearch]:
    """The number of components of least loss on held-out rows; the fewer of equal ones.

    1, 2, 4, ... and all are tried. Of every fold the components are those of its training rows: no
    output that is held out has a part in them.

    Parameters
    ----------
    make : callable () -> unfitted smoother
    problem : KernelProblem
        Without components.
    """
    gram, number = problem.output_gram()
    m, top = len(number), len(OutputComponents(gram, number, sample_weight).variances)
    tried = sorted({min(2**k, max(top, 1)) for k in range(max(top, 1).bit_length() + 1)})
    losses = np.zeros((len(tried), m))
    for train, test in splitter(cv, groups, m, random_state).split(np.zeros((m, 1)), None, groups):
        smoother = make()
        weight = None if sample_weight is None else sample_weight[train]
        smoother.fit(fold_part(X, train, train, smoother), np.ones((len(train), 1)), weight)
        b = np.zeros((len(test), m))
        raw = np.asarray(smoother.weights(fold_part(X, test, train, smoother)))
        seen, own = np.unique(number[train], return_inverse=True)
        parts = OutputComponents(gram[np.ix_(seen, seen)], own, weight)
        for n, row in zip(tried, losses):
            b[:, train] = parts.first(n).projected(raw)
            means = b if problem.by_weights else b @ problem.targets()
            row[test] = fold_losses(problem, means, test, memory)
    search = LeaveOutSearch()
    counted = np.ones(m) if sample_weight is None else sample_weight
    for n, row in zip(tried, losses):
        search.add({"n_components": n, "risk": float(np.average(row, weights=counted))})
    assert search.best is not None
    return int(search.best["n_components"]), search
