# SPDX-License-Identifier: BSD-3-Clause
"""What a model says of rows that it did not see: by folds, or in closed form."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import _num_samples

from skstruct._arrays.checks import is_count
from skstruct._arrays.memory import row_blocks
from skstruct._arrays.progress import track
from skstruct.fitted import Fitted
from skstruct.inspection.marginals import happened_and_predicted
from skstruct.inspection.risks import canonical
from skstruct.learners.inputs import are_training_rows, rows_of
from skstruct.learners.leave_out import group_numbers, twins
from skstruct.learners.marginals import NUMBERS, told_parts
from skstruct.learners.tokens import are_tokens
from skstruct.losses import pair, resolve_loss
from skstruct.model_selection.left_out import leaving_out
from skstruct.smoothing.folds import folds_of
from skstruct.spaces import Known, Marginals, Sequences
from skstruct.spaces.common.narrowing import with_learned_names
from skstruct.spaces.infer_space import infer_space
from skstruct.spaces.truth import read_truth


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What is said of rows by a model that was fitted without them.

    Attributes
    ----------
    rows : int array of shape (m,)
        Which rows of all these are.
    losses : array of shape (m,)
        Of the decisions, against the outputs that were given.
    margins : array of shape (m,)
        Estimated risks of these outputs, less those of the decisions; NaN where none are
        estimated.
    space : the fitted space
    happened, predicted : arrays or lists of arrays, or None
        Given outputs in the form of marginals, and the marginals.
    """

    rows: np.ndarray
    losses: np.ndarray
    margins: np.ndarray
    space: Any
    happened: Any = None
    predicted: Any = None


def left_out_rows(
    model: Any, X: Any, y: Any, cv: Any, groups: Any, loss: Any, parts: bool, verbose: int
) -> Iterator[LeftOut]:
    """Every row once; parameters as of :func:`~skstruct.inspection.suspicious_outputs`."""
    check_consistent_length(X, y)
    if cv is None:
        yield in_closed_form(model, X, y, groups, loss, parts)
        return
    model, outputs = knowing_all_names(model, X, y)
    fold = fold_numbers(cv, X, outputs, groups)
    for number in track(np.unique(fold).tolist(), "folds", verbose):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        fitted = clone(model).fit(_safe_indexing(X, train), _safe_indexing(y, train))
        held = _safe_indexing(X, test), _safe_indexing(y, test)
        yield of_new_rows(fitted, *held, test, loss, parts)


def knowing_all_names(model: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """A model that is not fitted, whose space knows the names in all of y, though a fold may lack
    some; and the outputs in canonical form, numbers of rows where there is no space to read them.
    """
    model = clone(model)
    learner = Fitted.of(model).learner
    if "space" not in learner.get_params(deep=False):
        return model, np.arange(_num_samples(y))
    space = clone(learner.space) if learner.space is not None else _inferred(learner, X, y)
    partial = Known.of(space).read_gaps(y)
    outputs = space.fit_validate(y) if partial is None else partial.outputs
    learner.set_params(space=with_learned_names(space))
    return model, outputs


def _inferred(learner: Any, X: Any, y: Any) -> Any:
    if are_tokens(X):
        return Sequences()
    numbers = learner.loss is not None and resolve_loss(learner.loss).embedding in NUMBERS
    return infer_space(y, quantities=numbers)


def fold_numbers(cv: Any, X: Any, outputs: np.ndarray, groups: Any) -> np.ndarray:
    """The fold of each row: shuffled, copies of a row and rows of a group together; shape (n,)."""
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)):
        found = group_numbers(cv, outputs, groups)
        return np.zeros(len(outputs), np.int64) if found is None else found
    if not is_count(cv) or cv < 2 or cv > len(outputs):
        raise ValueError(
            f"cv is a number of folds from 2 to {len(outputs)}, the number of rows; a splitter; or "
            f"None for the closed form of a linear smoother. Got {cv!r}."
        )
    n, numeric = len(outputs), sparse.issparse(X) or isinstance(X, np.ndarray)
    together = None
    if groups is not None:
        together = group_numbers(None, outputs, groups)
    elif numeric and X.ndim == 2 and X.dtype.kind in "biuf":
        together = twins(X, outputs)
    number = np.arange(n) if together is None else np.unique(together, return_inverse=True)[1]
    return folds_of(np.reshape(number, -1), int(cv), np.arange(n, dtype=np.float64))


def of_new_rows(
    model: Any, X: Any, y: Any, rows: np.ndarray, loss: Any = None, parts: bool = True
) -> LeftOut:
    """What a fitted model says of rows that it did not see, numbers ``rows`` of all."""
    model, X = Fitted.of(model).decider(X)
    losses, margins = _losses_and_margins(model, X, y, loss)
    told = happened_and_predicted(model, X, y) if parts else (None, None)
    return LeftOut(rows, losses, margins, model.space_, *told)


def _losses_and_margins(model: Any, X: Any, y: Any, loss: Any) -> tuple[np.ndarray, np.ndarray]:
    fitted = Fitted.of(model)
    if fitted.estimates_risks:
        return _by_risks(model, X, y, loss)
    predicted = model.predict(X)
    decided, truth = canonical(model.space_, predicted, y, model)
    own = fitted.loss if loss is None else loss
    own = resolve_loss(model.space_.default_loss if own is None else own)
    outputs = truth if fitted.outputs is None else fitted.outputs
    _, judge = pair(own, model.space_, outputs)
    losses = np.asarray(judge(decided, truth), dtype=np.float64)
    if not fitted.can("log_proba"):
        return losses, np.full(len(losses), np.nan)
    with np.errstate(invalid="ignore"):
        return losses, model.log_proba(X, predicted) - model.log_proba(X, y)


def _by_risks(model: Any, X: Any, y: Any, loss: Any) -> tuple[np.ndarray, np.ndarray]:
    problem, smoother = model._prepared(loss, None)
    inputs, _ = model._checked(X)
    truth = read_truth(model.space_, y)
    problem.check_truth(inputs, truth.outputs)
    model._check_constraints(problem, len(truth))
    known = None if truth.partial is None else truth.partial.known
    losses, margins = np.empty(len(truth)), np.empty(len(truth))
    for rows in row_blocks(len(truth), problem.bytes_per_row(), model.memory):
        means = problem.smooth(smoother, rows_of(inputs, rows))
        here = None if known is None else known[rows]
        losses[rows], margins[rows] = _decided(problem, means, truth.outputs[rows], rows, here)
    return losses, margins


def _decided(
    problem: Any,
    means: Any,
    truth: np.ndarray,
    rows: Any = slice(None),
    known: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Losses of decisions, and by how much the given outputs are riskier.

    Parts that are not ``known`` are taken for right; rows that say nothing have neither.
    """
    decoded = problem.decode(means, rows)
    if known is not None:
        mask = known[:, 0] if truth.ndim == 1 else known[:, : truth.shape[1]]
        truth = np.where(mask, truth, decoded.outputs[..., : truth.shape[-1]])
    margins = problem.risks_of(means, truth, rows) - decoded.values
    return np.asarray(problem.loss(decoded.outputs, truth), dtype=np.float64), margins


def in_closed_form(model: Any, X: Any, y: Any, groups: Any, loss: Any, parts: bool) -> LeftOut:
    """What the smoother of one fit says of each row, once its target is taken out of it."""
    if "smoother" not in model.get_params(deep=False):
        raise ValueError(
            f"cv=None leaves rows out of the smoother of a ConditionalRiskMinimizer; for "
            f"{type(model).__name__} give a number of folds, cv=5."
        )
    if Fitted.of(model).smoother is None or not are_training_rows(model, X, y):
        model = clone(model).fit(X, y)
    if model.problem_.has_gaps:
        raise ValueError(
            "cv=None is for outputs that are known as a whole; for those with missing parts give "
            "a number of folds, cv=5."
        )
    problem, means = _left_means(model, loss, groups)
    losses, margins = _decided(problem, means, model.outputs_)
    everything = np.arange(len(losses))
    if not parts:
        return LeftOut(everything, losses, margins, model.space_)
    kind, told = told_parts(model, None)
    if loss is not None or not told:
        other = None if told else Marginals.of(model.space_).losses[kind]
        problem, means = _left_means(model, other, groups)
    maps = model.calibration_
    recalibrate = None if maps is None else maps.of_marginals("auto", kind)
    predicted = problem.marginals(means, slice(None), kind, None, False, recalibrate)
    return LeftOut(
        everything, losses, margins, model.space_, model.true_marginals(y, kind), predicted
    )


def _left_means(model: Any, loss: Any, groups: Any) -> tuple[Any, Any]:
    """The problem of a loss, and left-out means that it decides from."""
    problem, smoother = model._prepared(loss, None)
    smoother, groups = leaving_out(model, problem, smoother, groups)
    return problem, problem.left_out(smoother.loo(groups), None)
