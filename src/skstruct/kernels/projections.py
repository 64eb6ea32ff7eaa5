# SPDX-License-Identifier: BSD-3-Clause
"""Random projections of the feature space of a kernel."""

import math
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from skstruct._arrays.checks import is_count, is_number
from skstruct.kernels.inputs import resolve_kernel
from skstruct.saving import savable
from skstruct.tolerances import EIGENVALUE_ZERO


def projection_dimension(n_rows: int, eps: float, delta: float = 0.05) -> int:
    r"""Random directions after which all distances of so many rows are right up to eps.

    For one pair, squared distances are off by a factor outside :math:`1 \pm \epsilon` with
    probability :math:`2 e^{-n (\epsilon^2 / 4 - \epsilon^3 / 6)}` at most (Dasgupta and Gupta), so
    that :math:`n = \lceil \ln(m (m - 1) / \delta) / (\epsilon^2 / 4 - \epsilon^3 / 6) \rceil` is
    enough for all pairs of m rows with probability :math:`1 - \delta`, whatever the kernel.

    >>> projection_dimension(1000, eps=0.5, delta=0.05)
    404
    """
    if not is_count(n_rows):
        raise ValueError(f"n_rows is a whole number from 1; got {n_rows!r}.")
    for name, value in (("eps", eps), ("delta", delta)):
        if not (is_number(value) and 0 < value < 1):
            raise ValueError(f"{name} is above 0 and below 1; got {value!r}.")
    pairs = max(n_rows * (n_rows - 1), 2)
    return math.ceil(math.log(pairs / delta) / (eps**2 / 4 - eps**3 / 6))


@savable
class KernelProjection(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    r"""Features :math:`G\, \Phi(x) / \sqrt n` for n random directions G in the space of a kernel.

    With :math:`k(L, L) = V e V'` for rows L of training, :math:`e^{-1/2} V' k(L, x)` are the
    coordinates of x in the span of these rows, exactly so for the rows themselves; G is standard
    normal. Squared distances between rows of L keep to a factor :math:`1 \pm \epsilon`, all of
    them together, with the probability that :func:`projection_dimension` is for, and a margin
    between classes survives with it [1]_. Any linear learner takes these features: put this before
    it, with ``kernel="linear"``.

    Landmarks (``n_landmarks`` of most learners) give better features for the same number of them,
    as they follow the data; random directions come with a promise that does not depend on these.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        As in :class:`~skstruct.ConditionalRiskMinimizer`, but for ``"precomputed"``.
    n_components : int or "auto", default="auto"
        Directions n; ``"auto"`` is ``projection_dimension(n_rows, eps, delta)``.
    eps, delta : float, default=0.5 and 0.05
        Of ``"auto"``.
    n_rows : int, default=None
        Rows L, drawn at random; None for all. Fewer than all rows take less time, and the promise
        is then for distances within their span.
    random_state : int or RandomState, default=None

    Attributes
    ----------
    rows_ : array (m, p), L
    directions_ : array (m, n), what kernel values with L are multiplied with
    n_components_ : int
    kernel_ : the fitted kernel

    References
    ----------
    .. [1] R. Arriaga and S. Vempala, "An algorithmic theory of learning: robust concepts and random
       projection", 1999; M.-F. Balcan, A. Blum, S. Vempala, "Kernels as features", 2006; appendix A
       of S. Vembu, "Learning to predict combinatorial structures", 2010. S. Dasgupta, A. Gupta, "An
       elementary proof of a theorem of Johnson and Lindenstrauss", 2003.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> features = KernelProjection("rbf", n_components=300, random_state=0).fit_transform(X)
    >>> from skstruct.kernels import RBF
    >>> bool(np.abs(features @ features.T - RBF().fit(X).gram(X)).max() < 0.4)
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        n_components: int | str = "auto",
        *,
        eps: float = 0.5,
        delta: float = 0.05,
        n_rows: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.eps = eps
        self.delta = delta
        self.n_rows = n_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw directions in the span of the rows of X (m, p)."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        automatic = isinstance(self.n_components, str) and self.n_components == "auto"
        if not automatic and not is_count(self.n_components):
            raise ValueError(
                f'n_components is a whole number from 1, or "auto"; got {self.n_components!r}.'
            )
        if self.n_rows is not None and not is_count(self.n_rows):
            raise ValueError(f"n_rows is a whole number from 1, or None; got {self.n_rows!r}.")
        self.kernel_ = resolve_kernel(self.kernel).fit(X)
        if self.kernel_.name == "precomputed":
            raise ValueError(
                "KernelProjection computes kernel values itself: give the rows and their kernel, "
                'not kernel="precomputed".'
            )
        rng = check_random_state(self.random_state)
        if self.n_rows is not None and self.n_rows < X.shape[0]:
            X = X[np.sort(rng.permutation(X.shape[0])[: self.n_rows])]
        self.rows_ = X
        e, V = eigh(self.kernel_.gram(X))
        kept = e > EIGENVALUE_ZERO * float(e.max(initial=0.0))
        n = projection_dimension(X.shape[0], self.eps, self.delta) if automatic else 0
        self.n_components_ = n if automatic else int(self.n_components)
        G = rng.standard_normal((int(kept.sum()), self.n_components_))
        self.directions_ = (V[:, kept] / np.sqrt(e[kept])) @ G / math.sqrt(self.n_components_)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Features of the rows of X; shape (n, ``n_components_``)."""
        check_is_fitted(self, "directions_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.kernel_(X, self.rows_) @ self.directions_
