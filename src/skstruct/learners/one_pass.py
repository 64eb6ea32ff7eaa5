# SPDX-License-Identifier: BSD-3-Clause
"""Learning from blocks of rows, of which nothing is kept but sums and a sample."""

from __future__ import annotations

import copy

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from skstruct._arrays.methods import warn_caller
from skstruct._arrays.progress import announce
from skstruct.learners.inputs import on_host, read_inputs
from skstruct.learners.leave_out import N_ALPHAS
from skstruct.smoothing.nystroem.landmarks import EXPLAINED, rows_to_choose_from
from skstruct.smoothing.nystroem.reading import first_not_finite, placed
from skstruct.smoothing.planning import (
    LINEAR_FEATURES,
    check_fits,
    check_n_landmarks,
    check_precision,
    check_system_name,
    feature_costs,
    plan,
)
from skstruct.streaming.blocks import joined
from skstruct.tolerances import SAME_RISK

ONE_PASS = ("nystroem", "fourier", "primal")
GROWING = 3e12  # operations that a fit to more landmarks may take: some minutes
WORTH = 0.01  # by which share twice as many landmarks must lower the loss, to be doubled again
LEFT = 0.1  # share of the kernel's trace that landmarks may leave without a warning


def check_settings(model) -> None:
    """Look at parameters that may have no part in a fit to few rows, and will in one to many."""
    check_system_name(model.system)
    check_precision(model.precision)
    check_n_landmarks(model.n_landmarks)


def number_tried(pairs, penalties) -> int:
    """How many pairs of kernel and penalty a search compares."""
    return len(pairs) * (N_ALPHAS if isinstance(penalties, str) else int(np.size(penalties)))


def planned_systems(model, X, n_targets: int, pairs, n_tried: int) -> tuple[str, str]:
    """The systems by which penalties are compared, and by which the best one is fitted.

    Where an eigendecomposition would take too long and a factorization would not, landmarks
    choose the penalty, and the fit is exact.
    """
    linear = all(kernel == "linear" for kernel, _ in pairs)
    planned = _planned(model, X, n_targets, n_tried, linear)
    if n_tried == 1:
        return planned, planned
    if planned not in ONE_PASS:
        return "spectral", "spectral"
    final = _planned(model, X, n_targets, 1, linear) if model.system == "auto" else planned
    return planned, final


def _planned(model, X, n_targets: int, n_tried: int, linear: bool) -> str:
    """The system that a model asks for, or the one that suits the rows."""
    whole = model._precomputed or getattr(model, "label_kernel", None) is not None
    if model.system == "auto" and whole:
        return "spectral" if n_tried > 1 else "cholesky"
    if whole and model.system in ONE_PASS:
        raise ValueError(
            f'A precomputed or a label kernel needs an exact system; got system="{model.system}".'
        )
    n, p = X.shape
    filled = X.nnz / max(1, n * p) if sparse.issparse(X) else 1.0
    chosen = plan(
        n, p, n_targets, system=model.system, precision=model.precision, n_alphas=n_tried,
        device=model.device_, linear=linear, filled=filled,
    )  # fmt: skip
    if chosen.system not in ONE_PASS:
        check_fits(chosen)  # before penalties are compared by other means
    announce(lambda: _plan_text(n, n_targets, n_tried, chosen))
    return chosen.system


def _plan_text(n: int, n_targets: int, n_tried: int, chosen) -> str:
    """What will be done, and about how long that takes, decisions apart."""
    tried = "" if n_tried == 1 else f", decided for each of {n_tried:,} kernels and penalties"
    return f"{n:,} rows x {n_targets:,} targets{tried}; {chosen}"


def one_pass_ridge(model, kernel, alpha, system, shared, n_features: int):
    """Ridge regression from sums over rows, or in the primal, with the parameters of a model."""
    from skstruct.smoothing import LinearRidge, NystroemRidge

    if system == "primal":
        if kernel != "linear":
            raise ValueError(f'system="primal" is for kernel="linear"; got kernel={kernel!r}.')
        in_memory = model.device_ is None and not getattr(model, "streamed_", False)
        if in_memory and n_features > LINEAR_FEATURES:
            return LinearRidge(alpha, fit_intercept=shared["fit_intercept"], n_jobs=model.n_jobs)
    return NystroemRidge(
        kernel, alpha, features="linear" if system == "primal" else system,
        n_landmarks=model.n_landmarks,
        dtype="float32" if model.precision == "mixed" else "float64", device=model.device_,
        engine=model.engine, verbose=model.verbose,
        random_state=getattr(model, "seed_", seed_of(model)), **shared,
    )  # fmt: skip


# ---------------------------------------------------------------------- more landmarks
def grow_landmarks(
    model, problem, search, smoother, refitted, n_rows: int, weight=None, groups=None
):
    """Twice as many landmarks, again and again, while the loss on left-out rows falls.

    Until it falls by less than a hundredth, a thousandth of the kernel's trace is left, or the
    next fit would take more than so many operations: by the data alone.

    Parameters
    ----------
    model : learner
    problem : RiskProblem
    search : LeaveOutSearch
        Further trials are added to it.
    smoother : NystroemRidge
        The best of the search.
    refitted : callable (n_landmarks) -> NystroemRidge, fitted
    weight, groups : as in the search
    """
    judge = problem.for_search()
    numbers = smoother.left_out_rows_
    weight = weight if weight is None or numbers is None else np.asarray(weight)[numbers]
    while smoother.residual_ > EXPLAINED and _may_double(model, smoother, n_rows):
        larger, before = refitted(2 * smoother.n_landmarks_), search.best
        larger.left_out_rows_ = numbers  # the same rows judge
        alphas = before["alpha"] * 10.0 ** (np.arange(1, -3, -1) / 3)
        for alpha, left in zip(alphas.tolist(), larger.loo_path(alphas, groups)):
            risk = judge.realized(left, model.memory, weight, numbers)
            size = {"n_landmarks": larger.n_landmarks_}
            search.add({**before, "alpha": alpha, "risk": risk, **size})
        announce(f"{larger.n_landmarks_:,} landmarks: left-out loss {search.best['risk']:.4g}")
        if search.best is before:
            return smoother
        smoother = larger.with_alpha(search.best["alpha"])
        if search.best["risk"] > (1.0 - WORTH) * before["risk"]:
            return smoother
    return smoother


def _may_double(model, smoother, n_rows) -> bool:
    if model.n_landmarks != "auto" or smoother.features != "nystroem":
        return False
    m, d = 2 * smoother.n_landmarks_, smoother.dual_coef_.shape[1]
    return m <= n_rows and feature_costs(n_rows, 0, d, m, n_alphas=4)[1] <= GROWING


def warn_of_loss(smoother, problem, search=None, weight=None) -> None:
    """Warn of landmarks that leave much of the kernel, and of a model no better than a constant."""
    left = getattr(smoother, "residual_", 0.0)
    if left > LEFT:
        warn_caller(
            f"{smoother.n_landmarks_:,} landmarks leave {left:.0%} of the kernel's trace "
            "unexplained: predictions may be far from those of the exact model. Give more "
            '(n_landmarks=...), another kernel (kernel="linear" is solved without them), or '
            'system="cholesky" where the rows fit.',
        )
    if search is None or not problem.rows_stand_alone:
        return
    risk = search.best["risk"]
    constant = problem.for_search().constant_risk(weight)
    if constant is not None and constant > 0 and risk >= constant * (1.0 - SAME_RISK):
        warn_caller(
            f"On rows left out, the loss of the model is {risk:.4g}, and that of the best constant "
            f"answer {constant:.4g}: nothing was learned from the inputs. Try other kernels "
            '(kernel=["rbf", "laplacian", "linear"]), several widths (gamma="auto"), scaled '
            "inputs, or another smoother.",
        )


def seed_of(model):
    """What landmarks and samples are drawn by: without a wish, the same in every run."""
    return 0 if model.random_state is None else model.random_state


class BlockReader(BaseEstimator):
    """Reads blocks as a fitted model reads its inputs and outputs; it can be pickled.

    Called with a block, it gives inputs (n, p), targets (n, q) and weights (n,) or None. What is
    wrong with a block is said with where the block is.

    Parameters
    ----------
    model : learner that has read a first block
    problem : RiskProblem
    """

    def __init__(self, model, problem):
        self.model = self.problem = None
        for name in ("features_", "tokens_", "n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.space_, self.problem_ = model.space_, copy.copy(problem)
        self.problem_.outputs = problem.outputs[:0]

    def __call__(self, block):
        try:
            X = read_inputs(self, block.X)
            return X, self.problem_.targets_of(self._outputs(block.y)), _weights(block)
        except (ValueError, TypeError) as error:
            raise placed(error, block) from error

    def _outputs(self, y):
        if y is None:
            raise ValueError("there are no outputs: blocks are pairs (X, y).")
        y = on_host(y)
        return self.space_.validate(y if hasattr(y, "__len__") else np.asarray(y))


def _weights(block):
    if block.weight is None:
        return None
    return checked_weight(on_host(block.weight), len(block))


def checked_weight(weight, n: int) -> np.ndarray:
    """Weights of n rows, finite and not negative; of a block, all may be zero."""
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}; got {n} rows.")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight must be finite and not negative.")
    return weight


def first_rows(model, source):
    """A sample of the rows of a source: what is open of model and space is learned from it.

    Where whole parts are left out, it is the first rows of each part, and the part of each row
    comes with it; otherwise rows are drawn from all, and that is None.
    """
    wanted = rows_to_choose_from(model.n_landmarks, source.n_rows)
    folds = None
    if isinstance(model.leave_out, str):
        sample = source.sample(wanted, seed_of(model))
    else:
        sample, folds = _beginnings(source, int(model.leave_out), wanted)
    if sample.y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the blocks of the source have "
            "no outputs: give pairs (X, y), or name the columns of outputs."
        )
    return sample, folds


def rows_of(source, n_sample: int, n_landmarks) -> int | None:
    """How many rows a source has; None where nobody knows, and a sample was filled."""
    if source.n_rows is not None:
        return source.n_rows
    return n_sample if n_sample < rows_to_choose_from(n_landmarks, None) else None


def _beginnings(source, n_parts: int, wanted: int):
    """The first rows of so many parts, about as many as wanted, and the part of each row."""
    if n_parts < 2 or not source.again:
        raise ValueError(
            f"leave_out={n_parts} parts: at least 2, of a source that can be read more than once."
        )
    parts = source.partitions(n_parts)
    if len(parts) < 2:
        raise ValueError("The source has one part only: leaving it out leaves nothing.")
    blocks = [next(part.blocks(-(-wanted // len(parts)))) for part in parts]
    folds = np.repeat(np.arange(len(parts)), [len(block) for block in blocks])
    return joined(blocks, f"the first rows of {len(parts)} parts"), folds


def placed_in(source, sample, error):
    """An error of a sample, with where its cause is in the source if that can be found."""
    if first_not_finite(sample.X) is None:
        return placed(error, sample) if "Y[" in str(error) else error
    for part in source.partitions() if source.again else ():
        for block in part.blocks(10_000):
            if first_not_finite(block.X) is not None:
                return placed(error, block)
    return placed(error, sample)  # of an iterator, the sample is the first rows


def check_seen(problem, outputs) -> None:
    """Raise where outputs have coordinates that those of the first fit had not."""
    if problem.used is None:
        return
    columns = np.unique(problem.space.targets(outputs).indices)
    if not np.isin(columns, problem.used).all():
        raise ValueError(
            "y has labels, or combinations of them, that no row of fit had; begin with "
            "partial_fit, which is prepared for any."
        )
