# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regression of targets with gaps from blocks of rows: a pass for every iteration."""

from typing import Any, NoReturn, Self

import numpy as np

from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported
from skstruct._arrays.rows import dense
from skstruct.saving import savable
from skstruct.smoothing.facets import Weighing, WeighingByTarget
from skstruct.smoothing.kernel_ridge import check_alpha
from skstruct.smoothing.masked_ridge import MaskedRidge
from skstruct.smoothing.nystroem.kernel_sums import FeatureSums, chosen_sums
from skstruct.smoothing.nystroem.reading import as_given
from skstruct.smoothing.nystroem.ridge import NystroemRidge
from skstruct.smoothing.nystroem.sums import Stats, targets_on
from skstruct.smoothing.systems.masked import (
    MaskedSolution,
    RotatedFeatures,
    conjugate_gradients,
    preconditioner,
)


@savable
class MaskedNystroemRidge(MaskedRidge):
    r"""The minimum of :class:`~skstruct.smoothing.masked_ridge.MaskedRidge`, of any number of rows.

    The first pass over the blocks sums :math:`Z'SZ`, :math:`Z'S(M \circ T)` and the weight of the
    rows that know each target; each iteration of conjugate gradients takes one more, which sums
    :math:`Z'S(M \circ ZP)`. Some ten passes are usual. Nothing is kept of the rows.

    Parameters
    ----------
    kernel, alpha, fit_intercept, n_landmarks, tol, max_iter, random_state :
        As of ``MaskedRidge``; one alpha, and landmarks as of
        :class:`~skstruct.smoothing.NystroemRidge`.
    features : "nystroem", "fourier" or "linear", default="nystroem"
    n_partitions : int, default=None
        Parts in which rows are summed; as of ``NystroemRidge``.

    Attributes
    ----------
    n_passes_ : int
        How many times the rows were read.
    residuals_ : list of float
        The largest relative residual after each iteration.

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> from skstruct.streaming import ArraySource
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> T = np.hstack([np.sin(X), np.cos(X)])
    >>> T[::2, 0] = np.nan
    >>> model = MaskedNystroemRidge(RBF(1.0), alpha=1e-3).fit_source(ArraySource(X, T))
    >>> model.predict([[1.5]]).round(2)
    array([[1.  , 0.07]])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: Any = 1.0,
        *,
        features: str = "nystroem",
        fit_intercept: bool = True,
        n_landmarks: int | str = "auto",
        n_partitions: int | None = None,
        tol: float = 1e-8,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel, alpha, fit_intercept=fit_intercept, n_landmarks=n_landmarks, tol=tol,
            max_iter=max_iter, random_state=random_state,
        )  # fmt: skip
        self.features = features
        self.n_partitions = n_partitions

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> NoReturn:
        """Rows that are held are for ``MaskedRidge``."""
        raise ValueError("MaskedNystroemRidge reads blocks, by fit_source; arrays: MaskedRidge.")

    @reported
    @all_or_nothing
    def fit_source(self, source: Any, read: Any = None, *, sample: Any = None) -> Self:
        """Fit to the blocks of a source, which is read again for every iteration.

        Parameters
        ----------
        source : Source
        read : callable (Block) -> (X, targets, weight), default=None
            Targets are NaN where they are not known; the block as it is when None.
        sample : Block, default=None
            Rows that landmarks are chosen from; drawn when None.
        """
        check_again(source)
        self.alpha_, read = float(check_alpha(self.alpha)), as_given if read is None else read
        ridge = NystroemRidge(
            self.kernel, np.inf, features=self.features, n_landmarks=self.n_landmarks,
            fit_intercept=self.fit_intercept, dtype="float64", n_partitions=self.n_partitions,
            random_state=self.random_state,
        )  # fmt: skip
        ridge.fit_source(source, WithMasks(read), sample=sample)
        passes = MaskedPasses(ridge, source, Masks(read))
        found = passes.solve(passes.finite(self.alpha_), self.tol, self.max_iter)
        self._keep(ridge, passes, found)
        return self

    def _keep(self, ridge: NystroemRidge, passes: "MaskedPasses", found: MaskedSolution) -> None:
        self.map_, self.kernel_ = ridge.map_, ridge.kernel_
        self.n_features_in_ = ridge.n_features_in_
        self.residual_ = float(np.nan_to_num(self.map_.residual))
        self.n_passes_, self.targets_ = passes.n_passes, np.empty((0, found.coef.shape[1]))
        self._take(found, passes, "alpha")

    def _solve(self) -> NoReturn:
        raise ValueError(
            "The training rows are not kept where targets with gaps are read in blocks: another "
            "loss, or another alpha, needs another fit."
        )

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> NoReturn:
        """No rows are kept to be left out."""
        self._solve()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class WeighingOfPasses(WeighingByTarget):
    """Nothing is kept of the rows."""

    __slots__ = ()
    rows = sample_weight = None


Weighing.at(MaskedNystroemRidge, WeighingOfPasses)


class MaskedPasses(RotatedFeatures):
    """The systems of all targets, in coordinates that make the sum over all rows diagonal.

    Parameters
    ----------
    ridge : NystroemRidge
        Fitted to ``[targets, zero where not known; whether they are known]``; it reads the rows.
    source : Source
    masks : callable (Block) -> (X, known, weight)
    """

    def __init__(self, ridge: NystroemRidge, source: Any, masks: Any) -> None:
        self.ridge, self.source, self.masks, self.n_passes = ridge, source, masks, 1
        self.sums, self.fit_intercept = chosen_sums(ridge.map_), ridge.fit_intercept
        stats = ridge.stats_.on_host()
        q = len(stats.t) // 2
        self.total, self.mass = stats.weight, stats.t[q:]
        self.centre = np.zeros(len(stats.z))
        if self.fit_intercept:
            self.centre = stats.z / stats.weight
        gram = np.tril(stats.G) + np.tril(stats.G, -1).T
        gram -= stats.weight * np.outer(self.centre, self.centre)
        self._decompose(gram)
        self.right = self._rotated(stats.C[:, :q], stats.t[:q])

    def solve(self, alpha: float, tol: float, max_iter: int) -> MaskedSolution:
        """Coefficients of rotated features, and intercepts."""
        scale = preconditioner(self.values, self.mass, self.total, alpha, self.fit_intercept)

        def product(x: np.ndarray) -> np.ndarray:
            return self._product(x, alpha)

        found = conjugate_gradients(product, self.right, scale, tol, max_iter)
        return MaskedSolution.of(*found, self.fit_intercept)

    def _product(self, x: np.ndarray, alpha: float) -> np.ndarray:
        """The matrix of every target times its column of x, from a pass over the rows."""
        coef, shift = self.readout(MaskedSolution.of(x, [], self.fit_intercept))
        ridge = self.ridge
        ridge.sums_, ridge.folds_ = MaskedSums(self.sums, coef, shift), None
        stats = ridge._summed(self.source, self.masks, square=False).on_host()
        self.n_passes += 1
        found = self._rotated(stats.C, stats.t)
        m = len(self.values)
        found[:m] += alpha * x[:m]
        return found

    def _rotated(self, products: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Sums of centred, rotated features times something, and sums of that where asked for."""
        found: np.ndarray = self.rotation.T @ (products - np.outer(self.centre, sums))
        return np.vstack([found, sums]) if self.fit_intercept else found


class MaskedSums(FeatureSums):
    r"""Sums of :math:`s z (m \circ (z'P + c))'` over rows whose targets are the masks m.

    Parameters
    ----------
    sums : FeatureSums
        Which sums features, or kernel values.
    coef : array of shape (m, q)
    shift : array of shape (q,)
    """

    def __init__(self, sums: FeatureSums, coef: np.ndarray, shift: np.ndarray) -> None:
        super().__init__(sums.map)
        self.sums, self.coef, self.shift = sums, sums.readout(coef), self.backend.asarray(shift)

    def _add(self, stats: Stats, X: Any, T: Any, weight: Any, square: bool) -> None:
        Z = self.sums._summands(X)
        F = Z @ self.coef + self.shift
        F *= targets_on(self.backend, T, "float64")
        stats.add(Z, F, weight, self.backend, square=False)

    def finished(self, stats: Stats) -> Stats:
        C = self.sums.of_features(stats.C)
        return Stats(stats.G, C, stats.z, stats.t, stats.yy, stats.weight, stats.n)


class WithMasks:
    """Reads targets, zero where they are not known, and beside them whether they are."""

    def __init__(self, read: Any) -> None:
        self.read = read

    def __call__(self, block: Any) -> tuple[Any, np.ndarray, Any]:
        X, T, weight = self.read(block)
        T = dense(T, np.float64)
        known = ~np.isnan(T)
        return X, np.hstack([np.where(known, T, 0.0), known]), weight


class Masks(WithMasks):
    """Reads whether targets are known, as 0 and 1."""

    def __call__(self, block: Any) -> tuple[Any, np.ndarray, Any]:
        X, T, weight = self.read(block)
        return X, (~np.isnan(dense(T, np.float64))).astype(np.float64), weight


def check_again(source: Any) -> None:
    """Raise where blocks can be read only once: their targets have gaps."""
    if not source.again:
        raise ValueError(
            "Parts of outputs are missing, which takes a pass over the blocks for every "
            "iteration, and these can be read only once: give a function that makes the iterator, "
            "files or arrays; or complete outputs."
        )
