# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression: learning from moments of the space."""

import copy
from collections.abc import Iterator
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import announce, reported, track
from skstruct.kernels.outputs.moments import objective_errors
from skstruct.learners.checkpoints.saving import Checkpoint, resuming
from skstruct.learners.counting_ridge.closed_form import ClosedForms
from skstruct.learners.counting_ridge.online import OnlineState, StochasticGradient
from skstruct.learners.counting_ridge.reading import CountingReader, check_ridge, solver_of
from skstruct.learners.counting_ridge.search import (
    check_learned,
    choose_alpha,
    counting_alphas,
    left_out_losses,
)
from skstruct.learners.counting_ridge.streams import fit_source
from skstruct.learners.leave_out import (
    LeaveOutSearch,
    are_splits,
    check_groups,
    group_numbers,
    twins,
)
from skstruct.learners.marginals import expecting
from skstruct.learners.passes import is_streamed
from skstruct.saving import savable
from skstruct.smoothing.penalties import alpha_grid
from skstruct.spaces import Uniform
from skstruct.streaming import as_source

EMBEDDED = 1 << 20  # numbers of embeddings that partial_fit has at a time


@savable
class CountingRidge(CountingReader):
    r"""Structured ridge regression (CSOP): the truth one ahead of other outputs on average.

    .. math:: \min_f \alpha \|f\|^2 + \frac{1}{2|\mathcal Y|} \sum_i \sum_{z \in \mathcal Y}
              \bigl(1 - \langle f(x_i), \psi(y_i) - \psi(z) \rangle\bigr)^2

    The sum over all outputs needs the mean :math:`\bar\psi` and the covariance S of the embedding
    over the space only, which counting gives for cycles, orders, matchings, trees, where even
    finding the best output is hard [1]_. Quadratic in f, it is minimized in closed form over the
    distinct eigenvalues of S. Predicts :math:`\arg\max_z \langle f(x), \psi(z) \rangle`.

    Parameters
    ----------
    space : space, default=None
        What may be predicted, with ``mean_embedding`` and ``second_moment``; learned from ``y``
        when None.
    loss : str, loss or callable, default=None
        What ``score`` measures and ``alpha`` is chosen by; the usual loss of the space when None.
    kernel : str, kernel or callable, default="rbf"
        Kernel between inputs, an object of :mod:`skstruct.kernels` or the name that stands for
        it; ``"precomputed"`` too. With ``"linear"``, n rows and p features take n p² operations
        and
        no n x n matrix; sparse rows of more features than rows are treated as any kernel.
    alpha : float, several, or "auto", default="auto"
        The penalty of the objective above, on the scale of means over the space:
        1 is the choice of [1]_. ``"auto"`` and several values are chosen by the loss on left-out
        rows; the former tries six decades below the scale of the kernel, so scale features.
    solver : "closed-form", "newton-cg", "exponential" or an object, default="closed-form"
        The second, which stands for :class:`~skstruct.learners.NewtonCG` with its defaults, finds
        the same by conjugate gradients: slower, but without eigenvalues of S. The third is
        :class:`~skstruct.learners.ExponentialLoss`: the sum of
        :math:`e^{-\langle f(x_i), \psi(y_i) - \psi(z) \rangle}`, of which the objective above is
        the second order, where sums over all outputs are known exactly.
    n_landmarks : int, default=None
        Stand in for the kernel by so many Nyström features; None for the kernel itself.
    fit_intercept : bool, default=True
        A constant feature, penalised like all others.
    contrast : "auto", "space", "relaxation" or space, default="auto"
        The outputs z of the sum above; predictions are from ``space`` in any case. ``"space"``
        are its own. ``"relaxation"`` are those of a larger space that it names, with moments in
        closed form: all label sets for a hierarchy, all graphs for those with a property.
        ``"auto"`` is the space's own choice: the larger one for hierarchies of several paths,
        where nearly every output holds nearly all inner labels so that their mean is near no
        truth, and for graphs with a property, which are hard to count. A space that is given
        embeds the outputs as ``space`` does.
    cv : None, "output", int or splitter, default=None
        What is left out together when alpha is chosen: each row for None. Where single rows
        would
        take too long (2 n d (n² + d²) above 1e10), five interleaved groups are left out.
    n_jobs : int, default=None
        Threads that predict blocks of rows.
    verbose : int, default=0
        Progress on stderr.
    random_state : int or RandomState, default=None
        Of features that stand for the kernel.

    Attributes
    ----------
    space_, loss_, outputs_ : the fitted parts
    contrast_ : the space that the truth is contrasted with
    alpha_ : float
    objective_ : float, the objective at the solution, without the constant :math:`n / 2`
    search_ : LeaveOutSearch or None; all alphas with their left-out risks
    moments_error_ : MomentErrors or None
        Standard errors of the moments and of the objective, where the moments of the space are
        estimated from draws, as those of a large :class:`~skstruct.kernels.KernelSpace`; None
        where they are exact.
    coef_ : array (d, p) or (d, n), weights of the features or of the training rows

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       chapter 5.

    Examples
    --------
    >>> from skstruct.spaces import Cycles
    >>> X = [[0.0], [0.1], [1.0], [1.1]]
    >>> tours = [["inn", "mill", "tower"]] * 2 + [["inn", "tower", "mill"]] * 2
    >>> model = CountingRidge(Cycles(["inn", "mill", "tower"]), alpha=0.1).fit(X, tours)
    >>> model.predict([[0.05], [1.05]]).tolist()
    [['inn', 'mill', 'tower'], ['inn', 'tower', 'mill']]
    """

    search_: LeaveOutSearch | None
    objective_: float | None
    n_iter_: int | None
    online_: Any  # OnlineState after partial_fit, None after fit

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        *,
        kernel: Any = "rbf",
        alpha: Any = "auto",
        solver: Any = "closed-form",
        n_landmarks: int | None = None,
        fit_intercept: bool = True,
        contrast: Any = "auto",
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.kernel = kernel
        self.alpha = alpha
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.contrast = contrast
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        several_outputs: bool = False,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Learn from inputs ``X`` (n, p) and outputs ``y`` in any format the space reads.

        Rows that do not fit into memory are read in blocks, once, or where features times
        coordinates are more than 600 once for each step of a few: Parquet files (then ``y`` and
        ``sample_weight`` are names of columns), functions that make an iterator of pairs (X, y),
        and every source of :mod:`skstruct.streaming` that can be read again, with
        ``kernel="linear"`` or ``n_landmarks``. The solution is that of arrays; names, landmarks
        and an alpha that is searched for are those of a sample of 2,000 rows, read before.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
        groups : array of shape (n,), default=None
            Rows of the same group are left out together when alpha is chosen.
        several_outputs : bool, default=False
            Whether ``y[i]`` is a list of outputs that are all correct; ``score`` then takes such
            lists, too.
        checkpoint : str, path or Checkpoint, default=None
            File that the choice of alpha and the steps of ``"newton-cg"`` are saved to on the way,
            and go on from when they were stopped; it is removed in the end. See
            :class:`~skstruct.learners.Checkpoint`.
        """
        if is_streamed(X, y):
            if groups is not None or several_outputs:
                raise ValueError("Rows that come in blocks have one output each, and no groups.")
            return fit_source(self, as_source(X, y, sample_weight), checkpoint)
        self.several_outputs_ = several_outputs
        X, outputs, row, weight = self._begin(X, y, sample_weight, reset=True)
        check_groups(groups, len(weight))
        kept = np.flatnonzero(weight > 0)
        if not len(kept):
            raise ValueError("sample_weight: all rows have weight zero.")
        whole, n = (X, outputs, row), len(weight)
        if are_splits(self.cv) and self._fixed_alpha() is None:  # they count all rows
            groups = group_numbers(self.cv, outputs[np.searchsorted(row, np.arange(n))], groups)
        if len(kept) < n:
            X, outputs, row, weight, groups = self._only(kept, X, outputs, row, weight, groups)
        data = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups}
        with resuming(self, checkpoint, **data) as level:
            self._open(X, outputs, row, weight)
            self._solve(X, self._examples(outputs, row, weight), groups, level)
        if len(kept) < n:  # every training row has its index, also those that do not count
            X, self.outputs_, row = whole
            self.problem_ = self._problem(self.outputs_, row)
            self.function_.widen(X, kept)
        self.problem_.n_features = len(self.function_.weights_)
        return self

    def _only(
        self,
        kept: np.ndarray,
        X: Any,
        outputs: np.ndarray,
        row: np.ndarray,
        weight: np.ndarray,
        groups: Any,
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, Any]:
        """All of that for the rows that count."""
        counts = np.isin(row, kept)
        return (
            X[kept][:, kept] if self._precomputed else X[kept], outputs[counts],
            np.searchsorted(kept, row[counts]), weight[kept],
            None if groups is None else np.asarray(groups)[kept],
        )  # fmt: skip

    def _solve(self, X: Any, examples: Any, groups: Any, level: Any) -> None:
        announce(
            f"CountingRidge on {len(examples.counts):,} rows x {self.problem_.width:,} coordinates "
            f"of {type(self.space_).__name__}, alpha={self.alpha!r}, {self.solver!r}"
        )
        solutions = ClosedForms(examples, self.function_.gram(X, examples.root))
        self.alpha_, self.search_ = self._penalty(X, solutions, groups, level)
        method = solver_of(self.solver)
        if method is None:
            found = solutions.minimum(self.alpha_, with_scores=self.moments_error_ is not None)
        else:
            found = method.minimum(
                self.contrast_, examples, solutions, self.alpha_,
                memory=self.memory, verbose=self.verbose, level=level.below("newton-cg"),
            )  # fmt: skip
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        if self.moments_error_ is not None:  # the exponential loss needs no moments
            drawn, f = Uniform.of(self.contrast_).sampled_moments(), found.scores
            self.moments_error_ = None if f is None else objective_errors(drawn, examples, f)
        self.function_.take(X, found.weights, found.total)
        self.online_ = None

    def _penalty(
        self, X: Any, solutions: ClosedForms, groups: Any, level: Any
    ) -> tuple[float, Any]:
        alpha = self._fixed_alpha()
        if alpha is not None:
            return alpha, None
        solutions, problem = self._left_out_together(X, solutions, groups)
        grid = alpha_grid(self.alpha, lambda: counting_alphas(solutions.examples, solutions.gram))
        if len(solutions.examples.counts) == 1:  # nothing can be left out
            return 1.0 if isinstance(self.alpha, str) else float(grid[0]), None
        losses = level.found.get("losses")
        if losses is None:
            losses = left_out_losses(
                grid, solutions, problem, self.cv if groups is None else None, groups,
                memory=self.memory, verbose=self.verbose, level=level.below("search"),
            )  # fmt: skip
        level.keep(losses=losses)
        alpha, search = choose_alpha(grid, losses, solutions.examples.weight)
        check_learned(search, problem, self.loss_, solutions.examples.weight)
        return alpha, search

    def _left_out_together(
        self, X: Any, solutions: ClosedForms, groups: Any
    ) -> tuple[ClosedForms, Any]:
        """Solutions and problem that alpha is chosen by: equal rows are one of all their weight."""
        number = None
        if groups is None and self.cv is None:
            number = twins(X, self.problem_.number_of_outputs())
        if number is None:
            return solutions, self.problem_
        first = np.unique(number, return_index=True)[1]
        weight = np.bincount(number, solutions.examples.weight)
        parts = self._only(first, X, self.outputs_, self.problem_.row, weight[number], None)
        examples = self._examples(*parts[1:3], weight)
        merged = ClosedForms(examples, self.function_.gram(parts[0], examples.root))
        return merged, self._problem(*parts[1:3])

    # ------------------------------------------------------------------ online
    @reported
    @all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        several_outputs: bool = False,
        steps: StochasticGradient | None = None,
        classes: Any = None,
    ) -> Self:
        """Steps of functional gradient descent on further rows.

        The first call learns what is open of the space (names) and of the kernel (its width);
        all later ones take these as they are, and landmarks of features too. After ``fit``, goes
        on from its solution, with the alpha that it chose; else ``"auto"`` is 1, and of several
        alphas the largest is taken.

        Parameters
        ----------
        several_outputs : bool, default=False
            Whether ``y[i]`` is a list of outputs that are all correct.
        steps : StochasticGradient, default=None
            Lengths of the steps and what is kept; None goes on with those of the call before,
            and begins with the defaults of :class:`~skstruct.learners.StochasticGradient`.
        classes : sequence, default=None
            Of the first call, as scikit-learn has it: all classes that may come, where no space is
            given.
        """
        if self._precomputed:
            raise ValueError("partial_fit needs the inputs themselves, not a precomputed kernel.")
        check_ridge(self.solver, "partial_fit")
        first = not hasattr(self, "function_")
        self.several_outputs_ = several_outputs
        steps = self._steps(steps)
        with expecting(self, classes):
            X, outputs, row, weight = self._begin(X, y, sample_weight, reset=first)
        if first:
            self._open(X, outputs, row, weight)
            rows = self.function_.featured(X[:1]).shape[1] if self.function_.by_features_ else 0
            self.function_.take(X[:0], np.zeros((rows, self.problem_.width)))
            self.search_ = self.objective_ = self.online_ = None
        self.alpha_ = self._online_alpha()
        X = self.function_.like_kept_rows(X)
        self.function_ = copy.copy(self.function_)  # an interrupted call leaves the old one
        self.function_.total_ = None
        self.online_ = self._online_state(steps)
        batches = self._batches(outputs, row, weight, int(steps.batch_size))
        starts = range(0, len(weight), int(steps.batch_size))
        for start in track(starts, "partial_fit", self.verbose):
            batch = next(batches)
            rows = slice(start, start + len(batch.counts))
            total = steps.n_total or self.online_.n_rows + len(batch.counts)
            self.online_.step(X[rows], batch, self.alpha_ / total)
        self.online_.windows = None  # a copy would hold everything twice
        if not np.isfinite(self.function_.weights_).all():
            raise ValueError(
                f"The steps of partial_fit grew without end, eta0 = {self.online_.eta0:.3g}: give "
                "a smaller one, or scale the inputs."
            )
        self.problem_.n_features = len(self.function_.weights_)
        return self

    def _online_alpha(self) -> float:
        alpha = self._fixed_alpha()
        if alpha is not None:
            return alpha
        auto = isinstance(self.alpha, str) and self.alpha == "auto"
        grid = alpha_grid(self.alpha, lambda: np.ones(1)).tolist()
        chosen = self.search_ is not None and (auto or self.alpha_ in grid)
        return self.alpha_ if chosen else grid[0]

    def _batches(
        self, outputs: np.ndarray, row: np.ndarray, weight: np.ndarray, size: int
    ) -> Iterator[Any]:
        """Examples of one step after the other; many steps are embedded at once."""
        many = size * max(1, EMBEDDED // (size * self.problem_.width))
        for first in range(0, len(weight), many):
            last = min(first + many, len(weight))
            here = slice(*np.searchsorted(row, [first, last]))
            examples = self._examples(outputs[here], row[here] - first, weight[first:last])
            for start in range(0, last - first, size):
                yield examples.batch(start, min(start + size, last - first))

    def _steps(self, given: StochasticGradient | None) -> Any:
        """How steps are taken: as given, as before, or as usual."""
        before = getattr(self, "online_", None)
        if given is None:
            return StochasticGradient() if before is None else before.steps
        if not isinstance(given, StochasticGradient):
            raise ValueError(f"steps is a StochasticGradient; got {given!r}.")
        return clone(given).checked()

    def _online_state(self, steps: StochasticGradient) -> OnlineState:
        n_rows = 0 if self.objective_ is None else int(self.problem_.row[-1]) + 1
        state = OnlineState(n_rows=n_rows) if self.online_ is None else copy.copy(self.online_)
        state.function, state.steps = self.function_, steps
        if steps.learning_rate != "meta":
            state.trace = None
        if state.given != steps.eta0:
            state.given = state.eta0 = steps.eta0
        return state

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, or of the kernel functions of kept rows; shape (d, p)."""
        return self.function_.weights_.T
