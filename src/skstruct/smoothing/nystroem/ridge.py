# SPDX-License-Identifier: BSD-3-Clause
"""Kernel ridge regression on landmarks, in one pass over any number of rows."""

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from skstruct._arrays.checks import repeatable
from skstruct._arrays.memory import parse_memory, row_blocks
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported, working
from skstruct._arrays.rows import narrow_indices
from skstruct._arrays.weights import check_sample_weight
from skstruct.backends import device_of, is_tensor, on_host
from skstruct.config import carried
from skstruct.kernels import InputKernel, resolve_kernel
from skstruct.saving import savable
from skstruct.smoothing.facets import (
    Gaps,
    Learning,
    LeavingOut,
    LeavingSomeOut,
    Penalties,
    PenaltiesBySomeRows,
    Weighing,
)
from skstruct.smoothing.kernel_ridge import KernelMachine, LearningOfKernelMachine, check_alpha
from skstruct.smoothing.nystroem.feature_maps import FourierMap, LinearMap, NystroemMap
from skstruct.smoothing.nystroem.kernel_sums import FeatureSums, chosen_sums
from skstruct.smoothing.nystroem.landmarks import (
    FEWEST_ROWS,
    ROWS_PER_LANDMARK,
    most_landmarks,
    rows_to_choose_from,
)
from skstruct.smoothing.nystroem.reading import Counted, as_given, checked, like, read_tensors
from skstruct.smoothing.nystroem.sums import SavedEngine, accumulate, merged
from skstruct.smoothing.nystroem.system import FeatureSystem, LeftOut
from skstruct.smoothing.planning import check_n_landmarks, free_memory
from skstruct.streaming import ArraySource
from skstruct.streaming.blocks import join_rows
from skstruct.streaming.engines import SerialEngine, itself, merge_tree, opened, placed

PARTS, PART_ROWS = 16, 250_000  # partitions at least, and rows of one at most
FAN_IN = 2  # sums that are merged at a time: of 16 partitions, five are held at most
MAPS: dict[str, Any] = {"nystroem": NystroemMap, "fourier": FourierMap, "linear": LinearMap}


@savable
class NystroemRidge(LeftOut, KernelMachine):
    r"""Ridge regression on features that stand for a kernel, from sums of one pass.

    .. math:: \min_{B, b} \sum_i s_i \|z(x_i)' B + b - t_i\|^2 + \alpha \|B\|^2, \qquad
              z(x) = R^{-1} k(L, x), \quad R R' = k(L, L)

    Landmarks L are rows chosen by randomly pivoted Cholesky [1]_, which leaves less of the kernel
    unexplained than as many rows drawn evenly. Memory for m landmarks and q targets is
    :math:`2 m^2 + m q` numbers and a block of rows, whatever the number of rows; the work is
    :math:`n m^2 + 2 n m q` operations, once for all alphas. Kernel values are summed, and features
    are made of the sums, which changes predictions in the ninth digit at most; where landmarks are
    so close that the condition of k(L, L) is above 10^6, features are made row by row, which takes
    :math:`n m^2` operations more. With every row a landmark it is :class:`KernelRidge`.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in :class:`KernelRidge`, but ``"precomputed"``.
    alpha : float, default=1.0
        Ridge penalty, on the scale of :class:`KernelRidge`.
    features : "nystroem", "fourier" or "linear", default="nystroem"
        Landmarks; or random Fourier features (for ``"rbf"``), which need no sample of rows and
        more features for the same error; or the inputs themselves (for ``"linear"``): exact.
    n_landmarks : int or "auto", default="auto"
        ``"auto"`` stops once a thousandth of the kernel's trace is left, at 2 sqrt(n) landmarks,
        which is at least 1,000 and at most 20,000.
    fit_intercept : bool, default=True
    dtype : "auto", "float64" or "float32", default="auto"
        Of the features; sums are in float64. ``"float32"`` takes half the time, and is for
        penalties above 1e-7 of the number of rows. ``"auto"`` is float64, but above 100,000 rows
        products of kernel values are in float32 where that changes the fitted means of a sample by
        less than a thousandth of their deviation, even at the lowest penalty that is tried.
        On a GPU, products are those of split halves, measured against float64 and computed again
        where they are off by more than 1e-5.
    n_partitions : int, default=None
        Parts in which rows are summed; 16, or more where one would have above 250,000 rows, when
        None. The same number gives the same bits on every engine, with any number of workers.
    verbose : int, default=0
    random_state : int or RandomState, default=None
        Of landmarks and samples; None draws the same in every run.

    Attributes
    ----------
    landmarks_ : array of shape (m, n_features)
    n_landmarks_ : int
    residual_ : float
        Share of the kernel's trace that the landmarks leave unexplained.
    dual_coef_ : array of shape (m, n_targets)
        Coefficients of kernel values with the landmarks.
    intercept_ : array of shape (n_targets,)
    stats_ : Stats
        The sums; all that was kept of the rows.

    References
    ----------
    .. [1] Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber, "Randomly pivoted Cholesky", 2022.
    .. [2] A. Rudi, R. Camoriano, L. Rosasco, "Less is more: Nyström computational
       regularization", 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.kernels import RBF
    >>> X = np.linspace(0, 6, 500)[:, None]
    >>> model = NystroemRidge(RBF(1.0), alpha=0.01).fit(X, np.sin(X))
    >>> bool(abs(model.predict([[1.5]])[0, 0] - np.sin(1.5)) < 1e-2), model.n_landmarks_ < 20
    (True, True)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: Any = 1.0,
        *,
        features: str = "nystroem",
        n_landmarks: int | str = "auto",
        fit_intercept: bool = True,
        dtype: str = "auto",
        n_partitions: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.features = features
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.n_partitions = n_partitions
        self.verbose = verbose
        self.random_state = random_state

    _saved_together = ("dual_coef_", "intercept_")
    # Of a model that was loaded from a file:
    rows_: Any = None
    sample_: Any = None
    left_out_rows_: Any = None
    folds_: Any = None

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NystroemRidge":
        """Fit to targets ``y`` of shape (n, n_targets) or (n,); they may be sparse."""
        self._check_parameters()
        X, targets, weight = self._read_rows(X, y, sample_weight)
        rows = self._rows_to_sample(X.shape[0], weight)
        sample = X[rows] if len(rows) < X.shape[0] else X
        if is_tensor(X) and rows_to_choose_from(self.n_landmarks, X.shape[0]) < X.shape[0]:
            # Of rows on a device, only some come to the host.
            kernel = self._settled_kernel(sample, None if weight is None else weight[rows])
        else:
            kernel = self._settled_kernel(X, weight)
        self.map_ = self._new_map(kernel, sample, X.shape[0], X)
        self._one_target = targets.ndim == 1
        self.rows_, self.sample_, self.folds_ = (X, targets, weight), None, None
        self.sums_ = self._chosen_sums(_taken(self.rows_, rows), X.shape[0])
        self.stats_ = self._summed(ArraySource(*self.rows_), as_given)
        drawn = len(rows) < (X.shape[0] if weight is None else np.count_nonzero(weight))
        self.left_out_rows_ = rows if drawn else None
        return self._solve()

    @reported
    @all_or_nothing
    def fit_source(
        self,
        source: Any,
        read: Any = None,
        *,
        sample: Any = None,
        folds: Any = None,
        level: Any = None,
    ) -> "NystroemRidge":
        """Fit to the blocks of a source; nothing of the rows is kept but a sample.

        Parameters
        ----------
        source : Source
            Of :mod:`skstruct.streaming`.
        read : callable (Block) -> (X, targets, weight), default=None
            What to learn from a block; the block as it is when None.
        sample : Block, default=None
            Rows that landmarks are chosen from and alphas are judged by; drawn when None.
        folds : int array, default=None
            Which partition of the source each row of the sample is from, counted from 0: alphas
            are then judged by leaving out whole partitions, not single rows.
        level : Level, default=None
            Of a fit that is saved on the way.
        """
        self._check_parameters()
        given, read = read is None, checked if read is None else read
        if sample is None:
            wanted = rows_to_choose_from(self.n_landmarks, source.n_rows)
            sample = source.sample(wanted, self.random_state)
        X, T, weight = read(sample)
        if not X.shape[0]:
            raise ValueError("There are no rows to learn from.")
        self.n_features_in_ = X.shape[1]
        kept = slice(None) if weight is None else _positive(weight)
        kernel = self._settled_kernel(X, weight)
        self.map_ = self._new_map(kernel, X[kept], source.n_rows, X)
        self._one_target = given and np.ndim(sample.y) == 1
        self.folds_, self.fold_sums_ = folds, []
        self.sums_ = self._chosen_sums((X, T, weight), source.n_rows)
        self.stats_ = self._summed(source, read, level)
        self.rows_, self.left_out_rows_, self.sample_ = None, None, (X, T, weight)
        return self._solve()

    @reported
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NystroemRidge":
        """Further rows. The first call settles the kernel and its landmarks."""
        first = not hasattr(self, "map_")
        self._check_parameters()
        X, targets, weight = self._read_rows(X, y, sample_weight, reset=first)
        if first:
            kept = slice(None) if weight is None else _positive(weight)
            kernel = self._settled_kernel(X, weight)
            self.map_ = self._new_map(kernel, X[kept], None, X)
            self._one_target = targets.ndim == 1
            self.sums_ = chosen_sums(self.map_)
        self.folds_ = None
        part = self._summed(ArraySource(X, targets, weight), as_given)
        if not first and part.C.shape != self.stats_.C.shape:
            raise ValueError(
                f"There were {self.stats_.C.shape[1]} targets before; got {part.C.shape[1]}."
            )
        self.stats_ = part if first else merged([self.stats_, part])
        before = self.sample_ if self.rows_ is None else self.rows_
        self.sample_ = _latest(before, (X, targets, weight))
        self.rows_ = self.left_out_rows_ = None
        return self._solve()

    def _check_parameters(self) -> None:
        if self.features not in MAPS:
            raise ValueError(
                f'features is "nystroem", "fourier" or "linear"; got {self.features!r}.'
            )
        if self._precomputed:
            raise ValueError("A precomputed kernel has no landmarks: use KernelRidge.")
        check_n_landmarks(self.n_landmarks)
        if self.dtype not in ("auto", "float64", "float32", np.float64, np.float32):
            raise ValueError(f'dtype is "auto", "float64" or "float32"; got {self.dtype!r}.')
        if np.ndim(check_alpha(self.alpha)):
            raise ValueError("One alpha serves all targets; got several.")

    def _read_rows(
        self, X: Any, y: Any, sample_weight: Any, reset: bool = True
    ) -> tuple[Any, np.ndarray, Any]:
        if is_tensor(X):
            X, targets = read_tensors(self, X, y, reset=reset)
        else:
            X, targets = validate_data(
                self, X, on_host(y), accept_sparse="csr", multi_output=True, y_numeric=True,
                dtype=np.float64, reset=reset,
            )  # fmt: skip
            X = narrow_indices(X)
        if sample_weight is None:
            return X, targets, None
        rows = np.empty((X.shape[0], 0))
        weight = check_sample_weight(sample_weight, rows)
        _positive(weight)
        return X, targets, weight

    def _rows_to_sample(self, n: int, weight: np.ndarray | None) -> np.ndarray:
        """Numbers of the rows that landmarks are chosen from."""
        rows = np.arange(n) if weight is None else _positive(weight)
        wanted = rows_to_choose_from(self.n_landmarks, len(rows))
        if wanted < len(rows):
            rng = np.random.default_rng(self._seed())
            rows = np.sort(rng.choice(rows, size=wanted, replace=False))
        return rows

    def _seed(self) -> Any:
        return int(check_random_state(repeatable(self.random_state)).randint(2**31 - 1))

    def _settled_kernel(self, X: Any, weight: np.ndarray | None) -> InputKernel:
        X = X.detach().cpu().numpy().astype(np.float64) if is_tensor(X) else X
        return resolve_kernel(self.kernel).fit(X, weight)

    def _check_memory(self, m: int, n_sample: int, n_features: int) -> None:
        """Raise before anything of the size of landmarks is made, if that does not fit."""
        chosen = min(n_sample, max(1000, ROWS_PER_LANDMARK * m)) * m
        if self.features != "nystroem":
            chosen = n_features * m
        needed, free = 8 * (chosen + 5 * m * m), free_memory(self.device)
        if free is not None and needed > free:
            what, instead = "landmarks", "Use fewer: n_landmarks."
            if self.features == "linear":
                what, instead = "features", "LinearRidge needs less, for arrays that are held."
            raise MemoryError(
                f"{m:,} {what} need {needed / 1e9:,.1f} GB; {free / 1e9:,.1f} GB are free. "
                f"{instead}"
            )

    def _new_map(self, kernel: Any, sample: Any, n_rows: int | None, X: Any) -> Any:
        device = device_of(self.device, X)
        dtype = "float64" if self.dtype == "auto" else np.dtype(self.dtype).name
        if self.features == "linear":
            self._check_memory(X.shape[1], 0, 0)
            return LinearMap.of_sample(kernel, sample, self.fit_intercept, dtype, device)
        # Landmarks are rows, of which there are so many; a number of random features is just that.
        given = self.features == "fourier" and self.n_landmarks != "auto"
        most = most_landmarks(self.n_landmarks, None if given else n_rows)
        self._check_memory(most, sample.shape[0], X.shape[1])
        with working("choosing landmarks"):
            return MAPS[self.features].of_sample(
                kernel, sample, self.n_landmarks, most, self._seed(), dtype, device
            )

    def _summed(self, source: Any, read: Any, level: Any = None, square: bool = True) -> Any:
        """Sums over all rows: partitions by the engine, and a tree of them together."""
        with opened(self.engine) as workers:
            if not (source.again or isinstance(workers, SerialEngine)):
                raise ValueError(
                    "An iterator cannot be sent to workers: give a function that makes one, or "
                    "files or arrays, or engine=None."
                )
            engine, count = workers, self._n_partitions(source)
            if level is not None:
                engine = SavedEngine(level, self.map_.backend, workers, count, self.sums_.name)
                count = engine.n_partitions
            here = isinstance(workers, SerialEngine)
            what, n_rows = f"summing {self.map_.width:,} features", source.n_rows if here else None
            with working(what, n_rows, self.verbose, " rows") as stage:
                if not here or stage is None:
                    return self._sums_of(source, read, engine, workers, count, square)
                read = Counted(read, stage)
                sums = self._sums_of(source, read, engine, workers, count, square)
                read.finish()
                return sums

    def _sums_of(
        self, source: Any, read: Any, engine: Any, workers: Any, count: int, square: bool
    ) -> Any:
        sums = self.sums_
        memory = getattr(workers, "task_memory", None)
        args = (workers.submit(itself, sums), read, self._block_rows(memory), square)
        if self.folds_ is None:
            parts = source.partitions(count)
            return sums.finished(merge_tree(parts, engine, accumulate, merged, FAN_IN, args=args))
        parts = source.partitions(int(self.folds_.max()) + 1)
        tasks = [engine.submit(carried(accumulate), placed(engine, p), *args) for p in parts]
        self.fold_sums_ = [sums.finished(engine.result(task)) for task in tasks]
        return merged(self.fold_sums_)

    def _chosen_sums(self, sample: tuple[Any, Any, Any], n_rows: int | None) -> FeatureSums:
        """Kernel values or features, in which precision: by the landmarks and a sample."""
        if self.dtype != "auto" or is_tensor(sample[0]) or is_tensor(sample[1]):
            return chosen_sums(self.map_)
        with working("comparing sums in single and double precision"):
            return chosen_sums(self.map_, sample, n_rows, float(check_alpha(self.alpha)))

    @cached_property
    def sums_(self) -> FeatureSums:
        """What is summed over rows; of a model from a file, in double precision."""
        return chosen_sums(self.map_)

    def _n_partitions(self, source: Any) -> int:
        """Those asked for, or enough for checkpoints and workers: by the rows, not by who sums."""
        if self.n_partitions is not None:
            return self.n_partitions
        # Sums of sparse targets, of which there are many, would be large for each partition.
        wide = self.rows_ is not None and sparse.issparse(self.rows_[1])
        return max(1 if wide else PARTS, -(-(source.n_rows or 0) // PART_ROWS))

    def _block_rows(self, most: int | None = None) -> Any:
        """Rows of a block: of a worker with so much memory, an eighth is taken.

        At least as many as are summed at a time, so that the sums have the same bits.
        """
        budget = parse_memory(self.memory)
        budget = budget if most is None else min(budget, most // 8)
        if self.map_.backend.name == "torch" and self.map_.backend.device.type == "cuda":
            budget = max(budget, self.map_.backend.free_memory() // 4)  # of the device, not of us
        rows = max(1, budget // (32 * self.map_.width))
        step = self.map_.backend.rows_at_a_time(self.map_.width)
        return rows if step is None else max(step, rows // step * step)

    # ------------------------------------------------------------------ solving
    @cached_property
    def system_(self) -> FeatureSystem:
        """The ridge system of the sums."""
        return FeatureSystem(self.stats_, self.fit_intercept, self.map_.backend)

    def _solve(self) -> "NystroemRidge":
        self.__dict__.pop("system_", None)  # of other sums
        return self._store()

    def _store(self, strict: bool = True) -> Self:
        backend, system = self.map_.backend, self.system_
        if np.isinf(check_alpha(self.alpha)):  # of a search: nothing is written
            self.intercept_ = backend.to_host(system.mean_targets)
            self.dual_coef_ = np.zeros(self.stats_.C.shape)
            return self
        coef = system.coefficients(check_alpha(self.alpha), strict=strict)
        shift = system.mean_targets - system.mean_features @ coef
        self.intercept_ = backend.to_host(shift)
        self.dual_coef_ = np.ascontiguousarray(backend.to_host(self.map_.readout(coef)))
        return self

    def with_alpha(self, alpha: float) -> "NystroemRidge":
        """The same smoother with another alpha: the sums are the same."""
        check_is_fitted(self)
        other = copy.copy(self)
        other.alpha = alpha
        return other._store(strict=False)

    def with_targets(self, targets: np.ndarray) -> "NystroemRidge":
        """The same smoother for other targets: a second pass over the rows."""
        X, _, weight = self._kept_rows()
        if not sparse.issparse(targets):
            targets = np.asarray(on_host(targets), dtype=np.float64)
        other = copy.copy(self)
        other.rows_ = (X, targets, weight)
        other._one_target = targets.ndim == 1
        products = other._summed(ArraySource(*other.rows_), as_given, square=False)
        other.stats_ = copy.copy(self.stats_)
        for name in ("C", "t", "yy"):
            setattr(other.stats_, name, getattr(products, name))
        return other._solve()

    def _not_saved(self) -> tuple[Any, ...]:
        rows = () if self._has_few_rows() else ("rows_", "left_out_rows_")
        return ("fold_sums_", "folds_", "sample_", "sums_", *rows)

    def _has_few_rows(self) -> bool:
        """Whether training rows are kept, and are no more numbers than the sums."""
        if self.rows_ is None or is_tensor(self.rows_[0]):
            return False
        few: bool = (
            sum(part.size for part in self.rows_ if part is not None) <= 2 * self.map_.width**2
        )
        return few

    def _kept_rows(self) -> tuple[Any, np.ndarray, Any]:
        check_is_fitted(self)
        if self.rows_ is None:
            raise ValueError(
                "The training rows are not kept by NystroemRidge where it is fitted to a stream or "
                "in parts, nor are many of them in a model file: fit to arrays."
            )
        return self.rows_

    # ------------------------------------------------------------------ what was fitted
    @property
    def landmarks_(self) -> np.ndarray:
        """Rows that the others are explained by; shape (m, n_features)."""
        check_is_fitted(self)
        return self.map_.landmarks

    @property
    def n_landmarks_(self) -> int:
        """Number of features that stand for the kernel."""
        check_is_fitted(self)
        return self.map_.width

    @property
    def residual_(self) -> float:
        """Share of the kernel's trace that is left in the sample of rows."""
        check_is_fitted(self)
        return self.map_.residual

    @property
    def kernel_(self) -> InputKernel:  # type: ignore[override]
        """The kernel with its parameters settled."""
        return self.map_.kernel

    # ------------------------------------------------------------------ predicting
    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_tensor(X) and self.map_.backend.name == "torch":
            return read_tensors(self, X, reset=False)[0]
        return super()._checked(X)

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets, of shape (n, n_targets), or (n,) when fitted to (n,)."""
        X = self._checked(X)
        backend, coef = self.map_.backend, self.dual_coef_
        readout = backend.asarray(coef)
        out = np.empty((X.shape[0], coef.shape[1]))
        for rows in row_blocks(X.shape[0], 16 * len(coef), self.memory):
            out[rows] = backend.to_host(self.map_.values(X[rows]) @ readout)
        out += self.intercept_
        return out[:, 0] if self._one_target else out

    def weights(self, X: Any) -> np.ndarray:
        """Weights of the training rows for each row of ``X``; shape (n, n_fitted)."""
        rows, _, weight = self._kept_rows()
        X = self._checked(X)
        return self._weights(X, rows, weight)


class WeighingOfLandmarks(Weighing):
    """The training rows, where these are kept."""

    __slots__ = ()

    @property
    def rows(self) -> Any:
        rows = self.smoother.rows_
        return None if rows is None else rows[0]

    @property
    def sample_weight(self) -> Any:
        rows = self.smoother.rows_
        return None if rows is None else rows[2]


class LearningOfLandmarks(LearningOfKernelMachine):
    """Features that stand for a kernel, and sums of them."""

    __slots__ = ()
    takes_sparse_targets = True  # of which sums are made, some rows at a time
    takes_more_rows = True

    @property
    def takes_blocks(self) -> bool:
        return True

    @property
    def n_landmarks(self) -> int:
        return self.smoother.n_landmarks_

    @property
    def residual(self) -> float:
        return self.smoother.residual_

    def on_device(self, backend: Any, memory: Any) -> tuple[Callable[..., Any], int] | None:
        import torch

        smoother = self.smoother

        def means(X: Any) -> Any:
            found = smoother.map_.values(X) @ backend.asarray(smoother.dual_coef_)
            return (found + backend.asarray(smoother.intercept_)).to(torch.float64)

        return means, len(smoother.dual_coef_)


Gaps.at(NystroemRidge, "skstruct.smoothing.gaps:RidgeOfKnown")
Learning.at(NystroemRidge, LearningOfLandmarks)
LeavingOut.at(NystroemRidge, LeavingSomeOut)
Penalties.at(NystroemRidge, PenaltiesBySomeRows)
Weighing.at(NystroemRidge, WeighingOfLandmarks)


def _taken(rows: tuple[Any, Any, Any], numbers: np.ndarray) -> tuple[Any, Any, Any]:
    """Rows by number, of inputs, targets and weights."""
    X, T, weight = rows
    if len(numbers) == X.shape[0]:
        return rows
    return X[numbers], T[numbers], None if weight is None else weight[numbers]


def _positive(weight: np.ndarray) -> np.ndarray:
    """Numbers of rows that count."""
    rows = np.flatnonzero(np.asarray(weight) > 0)
    if not len(rows):
        raise ValueError("All sample weights are zero.")
    return rows


def _latest(
    before: tuple[Any, np.ndarray, np.ndarray | None] | None, rows: tuple[Any, np.ndarray, Any]
) -> tuple[Any, Any, Any]:
    """The last ten thousand rows or so, by which alphas are judged."""
    X, T, weight = rows
    if before is None or len(T) >= FEWEST_ROWS:
        return rows
    few = slice(-(FEWEST_ROWS - len(T)), None)
    if before[2] is not None or weight is not None:
        before = (*before[:2], np.ones(len(before[1])) if before[2] is None else before[2])
        weight = np.ones(len(T)) if weight is None else weight
    pairs = zip(before, (like(X, before[0]), like(T, before[1]), weight))
    inputs, targets, weights = (None if b is None else join_rows([a[few], b]) for a, b in pairs)
    return inputs, targets, weights
