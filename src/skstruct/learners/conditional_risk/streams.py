# SPDX-License-Identifier: BSD-3-Clause
"""Conditional risk minimization from blocks of rows: streams, and further rows."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if

from skstruct._arrays.checks import is_count, repeatable
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import announce, reported, working
from skstruct.backends import on_host
from skstruct.config import config_context
from skstruct.encoding.frames import is_frame
from skstruct.learners.base import widened
from skstruct.learners.checkpoints.saving import NOWHERE, resuming
from skstruct.learners.conditional_risk.masked_streams import (
    GapsError,
    MaskedStreamRidge,
    masked_targets,
)
from skstruct.learners.conditional_risk.streamed_stack import StreamedStack
from skstruct.learners.inputs import given_outputs, read_inputs
from skstruct.learners.leave_out import (
    choose,
    kernel_grid,
    searched_by,
)
from skstruct.learners.marginals import expecting
from skstruct.learners.passes import names_columns
from skstruct.learners.problem import risk_problem
from skstruct.learners.regression import (
    ONE_PASS,
    Regressed,
    RidgeRegression,
    check_settings,
    grow_landmarks,
    number_tried,
    smoothing_by,
)
from skstruct.losses import resolve_loss
from skstruct.smoothing import Learning
from skstruct.smoothing.nystroem.landmarks import rows_to_choose_from
from skstruct.smoothing.nystroem.masked_passes import check_again
from skstruct.smoothing.nystroem.reading import first_not_finite, placed
from skstruct.smoothing.penalties import alpha_grid, smoother_alphas
from skstruct.smoothing.planning import EXACT_ROWS
from skstruct.spaces import Known, Targets
from skstruct.streaming.blocks import joined

FEWEST_JUDGED_ROWS = 200  # rows: with fewer to judge it by, alpha stays as it is


def _goes_on(model: Any) -> bool:
    """Whether further rows can be added to what was learned."""
    plain = smoothing_by(model) != "given" and not model._precomputed
    if not plain or model.solver not in ("auto", *ONE_PASS):
        return False
    return model.loss is None or resolve_loss(model.loss).embedding != "weights"


class StreamedRidge(RidgeRegression):
    """Ridge regression from blocks of rows, by sums over them; see :class:`RidgeRegression`."""

    @property
    def solver(self) -> str:
        return self.model.solver if self.model.solver in ONE_PASS else "nystroem"

    @property
    def is_searched(self) -> bool:
        """Whether alpha is chosen."""
        return isinstance(self.model.alpha, str) or np.ndim(self.model.alpha) > 0

    # ------------------------------------------------------------------ a source of blocks
    def fit_source(self, X: Any, read: dict[str, Any], level: Any, seed: int) -> Regressed:
        """From a source; ``read`` is what ``fit_source`` of a smoother takes, X its sample."""
        model, source, weight = self.model, read["source"], read["sample"].weight
        # What can be read only once is not tried with a second kernel.
        n_rows = rows_of(source, X.shape[0], model.n_landmarks) if source.again else 0
        pairs = kernel_grid(self.kernels(n_rows, X.shape[1]), X, weight)
        announce(self._plan(source, pairs))
        search = level.below("search")

        def made(kernel: Any, gamma: Any, alpha: float) -> Any:
            # A seed of the checkpoint's own has no part here.
            return self.ridge(kernel, gamma, alpha, self.solver).set_params(random_state=seed)

        def fit(smoother: Any, number: int) -> Any:
            sums = None if level is NOWHERE else search.below(f"sums {number}")
            return smoother.fit_source(**read, level=sums)

        def refitted(n_landmarks: int) -> Any:
            larger = made(smoother.kernel, None, np.inf)
            return larger.set_params(n_landmarks=n_landmarks).fit_source(**read)

        if not (self.is_searched or len(pairs) > 1):
            smoother = fit(made(*pairs[0], model.alpha), 0)
            return self.settled(smoother, self.solver, pairs[0][0], weight=weight)
        if not source.again and len(pairs) > 1:
            raise ValueError("A stream can be read once: give one kernel and one gamma.")
        found, smoother = choose(
            made, pairs, model.alpha, self.problem, X, None, sample_weight=weight,
            memory=model.memory, verbose=model.verbose, fit=fit, level=search,
        )  # fmt: skip
        if source.again and source.n_rows is not None:
            smoother = grow_landmarks(
                model, self.problem, found, smoother, refitted, source.n_rows, weight
            )
        return self.settled(smoother, self.solver, None, found, weight)

    def _plan(self, source: Any, pairs: list[Any]) -> str:
        """What will be done with the blocks of a source."""
        rows = "Rows" if source.n_rows is None else f"{source.n_rows:,} rows"
        passes = "one pass" if len(pairs) == 1 else f"{len(pairs)} passes, one for each kernel"
        tried = number_tried(pairs, self.model.alpha) // len(pairs)
        return (
            f"{rows} in blocks x {self.problem.width + 1:,} targets, {self.solver}, {passes}; "
            f"{tried} penalties, judged by {len(self.problem.outputs):,} rows"
        )

    # ------------------------------------------------------------------ further rows
    def begun(self, X: Any, weight: np.ndarray | None) -> tuple[Any, Any]:
        """A smoother for rows to come, of the first ones' width; its kernel as given."""
        model = self.model
        pairs = kernel_grid(self.kernels(0, X.shape[1]), X, weight)
        if len(pairs) > 1:
            raise ValueError("partial_fit takes one kernel and one gamma; got several.")
        alpha = 1.0 if self.is_searched else model.alpha
        return self.ridge(*pairs[0], alpha, self.solver), pairs[0][0]

    def begun_from(self, exact: Any) -> Any:
        """Landmarks in place of an exact solver, from the rows that it has."""
        smoother = self.ridge(exact.kernel, None, exact.alpha, self.solver)
        return smoother.partial_fit(exact.X_fit_, self.problem.targets(), exact.sample_weight_)

    def best_alpha(self, smoother: Any) -> Any:
        """The smoother with the penalty that the rows it is judged by like best."""
        alphas = alpha_grid(self.model.alpha, lambda: smoother_alphas(smoother))
        weight = smoother.sample_[2]
        judge, memory = searched_by(self.problem), self.model.memory
        risks = [judge.realized(left, memory, weight) for left in smoother.loo_path(alphas)]
        return smoother.with_alpha(float(alphas[int(np.argmin(risks))]))


def is_read_whole(model: Any, X: Any, y: Any, groups: Any) -> bool:
    """Whether what could be read in blocks is read whole: an array mapped from a file for a solver
    that needs all of it, and a table whose outputs are beside it.
    """
    if not isinstance(X, np.memmap):
        return is_frame(X) and not names_columns(X, y)
    whole = smoothing_by(model) == "given" or model._precomputed
    whole |= isinstance(model.cv, str) or hasattr(model.cv, "split")
    if whole or groups is not None:
        return True
    return model.solver not in ONE_PASS and (model.solver != "auto" or len(X) <= EXACT_ROWS)


def check_streamed(model: Any, groups: Any = None) -> None:
    """Raise where parameters do not go with blocks of rows."""
    if smoothing_by(model) == "given":
        raise ValueError("Blocks of rows are learned from without a smoother.")
    if model.solver not in ("auto", *ONE_PASS):
        raise ValueError(
            f'solver="{model.solver}" needs all rows at once; rows that come in blocks need '
            'solver="nystroem", "fourier" or "auto".'
        )
    if groups is not None or not (model.cv is None or is_count(model.cv)):
        raise ValueError(
            "Of rows that come in blocks, single ones or whole parts are left out when alpha "
            "is chosen: cv=None or a number of parts, and no groups."
        )


def check_by_means(problem: Any) -> None:
    """Raise where a loss is decided by weights of rows, which blocks do not keep."""
    if problem.by_weights:
        loss = type(problem.loss).__name__
        raise ValueError(
            f"{loss} needs the weights of all training rows, which are not kept: use "
            f"loss=Listed({loss}()), or arrays."
        )


class StreamedRisk:
    """``partial_fit``, and ``fit`` to a source of blocks, of ConditionalRiskMinimizer."""

    streamed_ = False
    space_: Any
    observation_space_: Any
    loss_: Any
    problem_: Any
    outputs_: Any
    tokens_: Any
    smoother_: Any
    kernel_: Any
    solver_: str | None
    partial_: Any
    filling_: Any
    device_: Any
    random_state: Any
    _read: Callable[..., Any]
    _pair: Callable[..., Any]
    _keep: Callable[..., Any]

    def _fit_source(self, source: Any, groups: Any, checkpoint: Any, budget: Any = None) -> Any:
        check_streamed(self, groups)
        with working("drawing a sample of the rows"):
            rows = first_rows(self, source)
        try:
            return self._fit_blocks(source, *rows, checkpoint, budget)
        except GapsError:
            # No row of the sample has gaps, and others do: the same again, prepared for them.
            check_again(source)
            return self._fit_blocks(source, *rows, checkpoint, budget, gaps=True)

    def _fit_blocks(
        self, source: Any, sample: Any, folds: Any, checkpoint: Any, budget: Any, gaps: bool = False
    ) -> Any:
        try:
            # A sample does not tell what is missing in other rows: numbers alone are read.
            X = self._open_stream(sample.X, sample.y, encode=False, gaps=gaps)
        except (ValueError, TypeError) as error:
            raise placed_in(source, sample, error) from error
        reader, seed = BlockReader(self, self.problem_), repeatable(self.random_state)
        read = {"source": source, "sample": sample, "read": reader, "folds": folds}
        data = {"X": X, "y": sample.y, "sample_weight": sample.weight, "n_rows": source.n_rows}
        with resuming(self, checkpoint, **data) as level, config_context(device=self.device_):
            if self.problem_.has_gaps:
                masked = MaskedStreamRidge(self, self.problem_)
                return self._keep(masked.fit_source(X, read, level, seed))
            # What can be read only once has one kernel.
            if smoothing_by(self) == "stack" and source.again and self.device_ is None:
                stack = StreamedStack(self, self.problem_, budget)
                return self._keep(stack.fit_source(X, read, level))
            ridge = StreamedRidge(self, self.problem_)
            return self._keep(ridge.fit_source(X, read, level, seed))

    def _open_stream(self, X: Any, y: Any, encode: bool = True, gaps: bool = False) -> Any:
        """What is open of the model, learned from the first rows; gives them as inputs."""
        data = self._read(X, y, encode=encode)
        self.filling_ = None
        if gaps:  # which later rows have, if not these
            self.partial_ = Known.of(self.observation_space_).read(y)
        self._pair(data)
        check_by_means(self.problem_)
        return data.X

    @available_if(_goes_on)  # type: ignore[untyped-decorator]
    @reported
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None) -> Any:
        """Learn from further rows by landmarks, which are those of the first call.

        The first call learns what is open of the space (names), of the kernel (its width), how
        names and missing cells of the inputs are encoded, and which landmarks there are: give it
        some thousand rows, of every kind. Sums are kept, rows are not; after an exact fit, its rows
        are the first. An alpha that is searched for is chosen anew in each call, by the loss on the
        last ten thousand rows, each left out.

        Parameters
        ----------
        classes : sequence, default=None
            Of the first call, as scikit-learn has it: all classes that may come, where no space is
            given.
        """
        first = not hasattr(self, "smoother_")
        check_settings(self)
        y = given_outputs(y, "partial_fit")
        if first:
            self.streamed_ = True
            check_streamed(self)
            with expecting(self, classes):
                X = self._open_stream(X, y)
            check_whole(self.problem_.has_gaps, "parts of these outputs are missing")
            problem = self.problem_
        else:
            with config_context(device=self.device_):
                X, problem = self._further_rows(X, y)
        weight = None if sample_weight is None else checked_weight(sample_weight, X.shape[0])
        ridge = StreamedRidge(self, self.problem_)
        if first:
            smoother, kernel = ridge.begun(X, weight)
        else:
            smoother, kernel = copy.copy(self.smoother_), self.kernel_
        known = 0 if first else _n_judged(smoother)  # others, of a model from a file, are not kept
        with config_context(device=self.device_):
            smoother.partial_fit(X, problem.targets(), weight)
        # What the space lists is that of outputs_, the first ones; alpha is judged by the latest.
        outputs = [self.problem_.outputs[len(self.problem_.outputs) - known :], problem.outputs]
        self.problem_ = ridge.problem = copy.copy(self.problem_)
        self.problem_.outputs = _joined(outputs)[-_n_judged(smoother) :]
        if ridge.is_searched and (first or _n_judged(smoother) >= FEWEST_JUDGED_ROWS):
            smoother = ridge.best_alpha(smoother)
        return self._keep(ridge.settled(smoother, ridge.solver, kernel))

    def _further_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Inputs, and the problem whose outputs are those of these rows."""
        if self.tokens_ is not None:
            raise ValueError("Features for every position of a sequence are not read in blocks.")
        check_whole(self.problem_.has_gaps, "parts of the outputs of fit are missing")
        gaps = Known.of(self.observation_space_).has_gaps(y)
        check_whole(gaps, "parts of these outputs are missing")
        X = read_inputs(self, X)
        check_consistent_length(X, y)
        summed = Learning.of(self.smoother_).takes_more_rows
        if not summed and smoothing_by(self) == "stack":
            raise ValueError(
                "Further rows are learned by one kernel ridge regression, and this model has "
                'several smoothers, or one of scaled inputs: give smoother="kernel_ridge" to '
                "fit, or begin with partial_fit."
            )
        if not summed:  # an exact solver
            self.streamed_ = True
            self.problem_ = risk_problem(self.space_, self.loss_, self.outputs_, some=True)
            check_by_means(self.problem_)
            ridge = StreamedRidge(self, self.problem_)
            self.smoother_, self.solver_ = ridge.begun_from(self.smoother_), ridge.solver
        check_by_means(self.problem_)
        problem = copy.copy(self.problem_)
        problem.outputs = self.observation_space_.validate(y)
        check_seen(problem, problem.outputs)
        return X, problem


def _n_judged(smoother: Any) -> int:
    """Rows of a ridge regression on landmarks that are there to be left out."""
    rows = smoother.sample_ if smoother.rows_ is None else smoother.rows_
    return 0 if rows is None else len(rows[1])


def _joined(outputs: list[np.ndarray]) -> np.ndarray:
    """Outputs in canonical form, one batch after another; sequences as wide as the longest."""
    widths = {Z.shape[-1] for Z in outputs if Z.ndim > 1}
    if len(widths) > 1:
        outputs = [widened(Z, max(widths)) for Z in outputs]
    return np.concatenate(outputs)


# Blocks of rows as a model reads them.


class BlockReader(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Reads blocks as a fitted model reads its inputs and outputs; it can be pickled.

    Called with a block, it gives inputs (n, p), targets (n, q) and weights (n,) or None. What is
    wrong with a block is said with where the block is.

    Parameters
    ----------
    model : learner that has read a first block
    problem : RiskProblem
    """

    features_: Any = None
    tokens_: Any = None
    encoder_: Any = None
    fill_: Any = None  # cells that are missing are refused

    def __init__(self, model: Any, problem: Any) -> None:
        self.model = self.problem = None
        known = {"features_", "tokens_", "encoder_", "n_features_in_", "feature_names_in_"}
        self.__dict__.update({name: part for name, part in vars(model).items() if name in known})
        self.space_, self.problem_ = model.observation_space_, problem.without_rows()

    def __call__(self, block: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        if self.problem_.has_gaps:
            return self._read(block, lambda _, y: masked_targets(self.problem_, self.space_, y))
        return self.read(block, lambda X, outputs: self.problem_.targets_of(outputs))

    def read(self, block: Any, learned: Callable[..., Any]) -> tuple[Any, Any, np.ndarray | None]:
        """Inputs, what ``learned`` makes of inputs and checked outputs, and weights or None."""
        return self._read(block, lambda X, y: learned(X, self._validated(y)))

    def _read(self, block: Any, learned: Callable[..., Any]) -> tuple[Any, Any, np.ndarray | None]:
        try:
            X = read_inputs(self, block.X)
            return X, learned(X, self._given(block.y)), weights_of(block)
        except (ValueError, TypeError) as error:
            raise placed(error, block) from error

    def _given(self, y: Any) -> Any:
        if y is None:
            raise ValueError("there are no outputs: blocks are pairs (X, y).")
        return given_outputs(y, "A block")

    def _validated(self, y: Any) -> Any:
        try:
            return self.space_.validate(y)
        except (ValueError, TypeError) as error:
            if Known.of(self.space_).has_gaps(y):
                raise GapsError(str(error)) from error
            raise


def weights_of(block: Any) -> np.ndarray | None:
    """Checked weights of a block, or None."""
    if block.weight is None:
        return None
    return checked_weight(block.weight, len(block))


def checked_weight(weight: np.ndarray, n: int) -> np.ndarray:
    """Weights of n rows, finite and not negative; of a block, all may be zero."""
    weight = np.asarray(on_host(weight), dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}; got {n} rows.")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight must be finite and not negative.")
    return weight


def first_rows(model: Any, source: Any) -> tuple[Any, np.ndarray | None]:
    """A sample of the rows of a source: what is open of model and space is learned from it.

    Where whole parts are left out, it is the first rows of each part, and the part of each row
    comes with it; otherwise rows are drawn from all, and that is None.
    """
    wanted = rows_to_choose_from(model.n_landmarks, source.n_rows)
    folds = None
    if model.cv is None:
        sample = source.sample(wanted, repeatable(model.random_state))
    else:
        sample, folds = _beginnings(source, int(model.cv), wanted)
    if sample.y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the blocks of the source have "
            "no outputs: give pairs (X, y), or name the columns of outputs."
        )
    return sample, folds


def rows_of(source: Any, n_sample: int, n_landmarks: str | int) -> Any:
    """How many rows a source has; None where nobody knows, and a sample was filled."""
    if source.n_rows is not None:
        return source.n_rows
    return n_sample if n_sample < rows_to_choose_from(n_landmarks, None) else None


def _beginnings(source: Any, n_parts: int, wanted: int) -> tuple[Any, np.ndarray]:
    """The first rows of so many parts, about as many as wanted, and the part of each row."""
    if n_parts < 2 or not source.again:
        raise ValueError(
            f"cv={n_parts} parts: at least 2, of a source that can be read more than once."
        )
    parts = source.partitions(n_parts)
    if len(parts) < 2:
        raise ValueError("The source has one part only: leaving it out leaves nothing.")
    blocks = [next(part.blocks(-(-wanted // len(parts)))) for part in parts]
    folds = np.repeat(np.arange(len(parts)), [len(block) for block in blocks])
    return joined(blocks, f"the first rows of {len(parts)} parts"), folds


def placed_in(source: Any, sample: Any, error: Any) -> Any:
    """An error of a sample, with where its cause is in the source if that can be found."""
    if first_not_finite(sample.X) is None:
        return placed(error, sample) if "Y[" in str(error) else error
    for part in source.partitions() if source.again else ():
        for block in part.blocks(10_000):
            if first_not_finite(block.X) is not None:
                return placed(error, block)
    return placed(error, sample)  # of an iterator, the sample is the first rows


def check_whole(has_gaps: bool, what: str) -> None:
    """Raise where outputs with gaps would have to be learned from in one pass."""
    if has_gaps:
        raise ValueError(
            f"partial_fit: {what}, and each part is then learned from rows of its own, which takes "
            "several passes: give all rows to fit, or leave out those with gaps."
        )


def check_seen(problem: Any, outputs: np.ndarray) -> None:
    """Raise where outputs have coordinates that those of the first fit had not."""
    if problem.used is None:
        return
    columns = np.unique(Targets.of(problem.space).targets(outputs).indices)
    if not np.isin(columns, problem.used).all():
        raise ValueError(
            "y has labels, or combinations of them, that no row of fit had; begin with "
            "partial_fit, which is prepared for any."
        )
