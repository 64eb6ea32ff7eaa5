# SPDX-License-Identifier: BSD-3-Clause
"""How far a mean could be off, by drawing the rows again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state

from skstruct._arrays.checks import is_count
from skstruct._arrays.methods import warn_caller
from skstruct._arrays.progress import track
from skstruct.exceptions import InfeasibleError
from skstruct.fitted import Fitted
from skstruct.learners.masked_problem import masked_problem
from skstruct.learners.problem import risk_problem
from skstruct.learners.token_problem import check_predicted_lengths
from skstruct.losses import Observed, PartlyKnown, Tokens, pair, resolve_loss
from skstruct.losses.base import same_width
from skstruct.model_selection.completions import bounds_of
from skstruct.spaces import Description, Solving
from skstruct.spaces.partial import PartialOutputs
from skstruct.spaces.truth import Truth, check_some_told, read_truth, seen_by, told_mean

AFFORDABLE = 10.0  # nominal seconds that a loss may take in any case


def bootstrap_means(losses: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Means of the columns of ``losses`` (n, m) over rows drawn with replacement; (n_draws, m).

    All columns see the same draws, so that differences of columns are paired.

    >>> bootstrap_means(np.ones((4, 1)), 3, np.random.default_rng(0)).ravel()
    array([1., 1., 1.])
    """
    losses = np.asarray(losses, dtype=np.float64)
    n = len(losses)
    means = np.empty((n_draws, losses.shape[1]))
    shares = np.full(n, 1.0 / n)
    block = max(1, 10**6 // n)
    for start in range(0, n_draws, block):
        counts = rng.multinomial(n, shares, size=min(block, n_draws - start))
        means[start : start + len(counts)] = counts @ losses / n
    return means


def percentile_interval(means: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends, by column, that hold a share ``level`` of the draws."""
    outside = (1.0 - level) / 2.0
    low, high = np.quantile(means, [outside, 1.0 - outside], axis=0)
    return low, high


def constant_outputs(
    space: Any,
    loss: Any,
    training: np.ndarray,
    truth: np.ndarray,
    partial: PartialOutputs | None = None,
) -> np.ndarray:
    """For every row of ``truth`` the one output of least mean loss on the training outputs.

    Sequences have the length of the truth, and at every position the symbol of training that
    costs least, mostly the most frequent one: their lengths are known from their inputs.

    Parameters
    ----------
    training, truth : arrays of outputs in canonical form
    partial : PartialOutputs, default=None
        What was known of the training outputs, where that was not all.
    """
    if Solving.of(space).decodes_chains:
        if partial is not None:
            training = np.where(partial.known[:, : training.shape[1]], training, -1)
        return _best_symbols(space, loss, training, truth)
    problem: Any = risk_problem(space, loss, training, by_weights=True)
    if partial is not None:
        problem = masked_problem(space, PartlyKnown.of(loss).learned(space), partial)
        if problem is None:
            raise ValueError(f"{loss!r} needs whole outputs.")
    best = problem.decode(problem.mean_targets(np.ones(len(training)))).outputs
    return np.repeat(best, len(truth), axis=0)


def _best_symbols(space: Any, loss: Any, training: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Symbols are numbers from 0; -1 fills rows up behind the end of a sequence."""
    gains: Any = np.bincount(training[training >= 0], minlength=len(space.symbols_))
    if Tokens.of(loss).add_up:
        symbols = np.arange(len(space.symbols_))[:, None]
        bound = loss.observe(space, training).bind(space)
        gains = -(bound.pairwise(symbols, symbols) @ gains)
    return np.where(truth >= 0, gains.argmax(), truth)


# Losses of a fitted model on data it has not seen, with intervals and a baseline.


@dataclass(frozen=True)
class LossEstimate:
    """Mean loss of a model under one loss.

    Attributes
    ----------
    loss : str
    mean : float
    low, high : float
        Ends of the bootstrap interval.
    baseline : float
        Mean loss of the best constant prediction; NaN where there is none.
    n : int
        Number of rows that say something.
    aimed : bool
        Whether the predictions were chosen for this loss.
    losses : array of shape (n,)
        Of every row; NaN where nothing is known of the truth.
    lower, upper : float
        Ends between which the mean loss of all rows lies, whatever the parts of the truth are that
        are not known; NaN unless they were asked for.
    unknown : str
        How much of the truth is not known, in a sentence; empty where everything is.
    """

    loss: str
    mean: float
    low: float
    high: float
    baseline: float
    n: int
    aimed: bool
    losses: np.ndarray = field(repr=False, compare=False)
    lower: float = np.nan
    upper: float = np.nan
    unknown: str = ""


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    known: Any = None,
    missing: str = "known",
    losses: Sequence[Any] | None = None,
    restrict: dict[str, Any] | None = None,
    n_bootstrap: int = 1000,
    level: float = 0.95,
    random_state: Any = 0,
) -> list[LossEstimate]:
    """Mean losses of a fitted model on rows that it was not trained on.

    A model that can predict for a given loss does so for each of them; others predict once.

    Parameters
    ----------
    model : fitted learner of this library, or pipeline that ends in one
    X, y : inputs and true outputs
        Where parts of y are missing, losses are those on what is known; rows of which nothing is
        known are left out.
    known : bool array, default=None
        Which parts of y are known, where y does not say so itself.
    missing : "known" or "bounds", default="known"
        With "bounds" the mean loss has a lower and an upper end beside, over all outputs that agree
        with what is known, as of :func:`completion_bounds`.
    losses : list of names or losses, default=None
        All that make sense for the space when None: that of the model first, then the usual
        ones of its space. Those that would take far longer than to predict are left out, with a
        warning that names them: list them to have them computed.
    restrict : dict, default=None
        Constraints, as in ``predict``.
    n_bootstrap : int, default=1000
        Draws of the rows for the intervals, the same for every loss.
    level : float, default=0.95
    random_state : int, RandomState or None, default=0

    Returns
    -------
    list of LossEstimate

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]] * 5, [["a"], ["a"], ["a", "b"], ["b"]] * 5
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit(X, Y)
    >>> for estimate in evaluate(model, X, Y):
    ...     print(f"{estimate.loss:9} {estimate.mean:.2f}  without inputs {estimate.baseline:.2f}")
    hamming   0.00  without inputs 0.75
    f1        0.00  without inputs 0.25
    zero_one  0.00  without inputs 0.50
    """
    check_level(n_bootstrap, level)
    if missing not in ("known", "bounds"):
        raise ValueError(f'missing is "known" or "bounds"; got {missing!r}.')
    check_consistent_length(X, y)
    fitted = Fitted.of(model)
    learner = fitted.learner
    truth = read_truth(_seen_within(learner, restrict), y, known)
    check_some_told(truth)
    if losses is None:
        named, costly = affordable_losses(learner, len(truth))
        if costly:
            warn_caller(left_out_text(costly, f"losses=[..., {costly[0]!r}]"))
    else:
        named = {loss_name(loss): loss for loss in losses}
    own = None if fitted.loss is None else loss_name(fitted.loss)
    plain = learner.space_.validate(model.predict(X, **_constraints(restrict)))
    check_predicted_lengths(learner, plain, truth.outputs)
    columns, baselines, aims, ends = [], [], [], []
    for name in track(list(named), "losses"):
        loss = named[name]
        resolved = resolve_loss(loss)
        aimed = plain if name == own else predicted_for(model, X, resolved, restrict)
        aims.append(aimed is not None)
        bound = pair(resolved, learner.space_, learner.outputs_)[1]
        chosen = same_width(plain if aimed is None else aimed, truth.outputs)[0]
        columns.append(PartlyKnown.of(bound).against(chosen, truth))
        baselines.append(_baseline(learner, resolved, bound, truth))
        ends.append(_mean_ends(bound, learner.space_, chosen, truth, missing))
    table, told = np.column_stack(columns), truth.says
    generator = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    low, high = percentile_interval(bootstrap_means(table[told], n_bootstrap, generator), level)
    said = truth.in_words(seen_by(learner)) or ""
    return [
        LossEstimate(
            name, float(table[told, j].mean()), float(low[j]), float(high[j]), baselines[j],
            int(told.sum()), aims[j], table[:, j], ends[j][0], ends[j][1], said,
        )
        for j, name in enumerate(named)
    ]  # fmt: skip


def _mean_ends(
    loss: Any, space: Any, predicted: np.ndarray, truth: Truth, missing: str
) -> tuple[float, float]:
    if missing == "known":
        return np.nan, np.nan
    lower, upper = bounds_of(loss, space, predicted, truth)
    return float(lower.mean()), float(upper.mean())


def _seen_within(model: Any, restrict: dict[str, Any] | None) -> Any:
    """What truths are from where predictions are restricted: so is the best of all decisions."""
    if restrict is None or Fitted.of(model).loss is None:
        return seen_by(model)
    narrowed = model.problem_.restricted(restrict).space
    return Observed.of(model.loss_).space_of(model.space_, narrowed)


def usual_losses(model: Any) -> dict[Any, Any]:
    """Losses by name by which the predictions of a fitted model are judged, its own first."""
    space, own = seen_by(model), Fitted.of(model).loss
    named = {} if own is None else {loss_name(own): own}
    for name in (space.default_loss, *Description.of(space).usual_losses):
        if _fits(name, model):
            named.setdefault(loss_name(name), name)
    return named


def affordable_losses(model: Any, n_rows: int) -> tuple[dict[Any, Any], list[str]]:
    """Usual losses that take no longer than to predict so many rows, or some seconds; others.

    By nominal speeds: the same model and data have the same losses everywhere. A model that
    predicts in one way only has its predictions already.

    Returns
    -------
    losses : dict by name
    left_out : list of names
    """
    named = usual_losses(model)
    if not takes_loss(model) or Fitted.of(model).loss is None:
        return named, []
    own = risk_problem(model.space_, model.loss_, model.outputs_)
    limit = max(AFFORDABLE, own.prediction_seconds(n_rows, fitted=True))
    costly = []
    for name, loss in named.items():
        other = risk_problem(model.space_, resolve_loss(loss), model.outputs_)
        if other.prediction_seconds(n_rows, fitted=other.key == own.key) > limit:
            costly.append(name)
    costly = [name for name in costly if name != loss_name(model.loss_)]
    return {name: loss for name, loss in named.items() if name not in costly}, costly


def left_out_text(names: list[str], way: str) -> str:
    """One line that says which losses were left out, and the ``way`` to ask for them."""
    return f"Left out, as it would take longer than to predict: {', '.join(names)}; ask by {way}."


def takes_loss(model: Any) -> bool:
    """Whether the model can predict for another loss than that of its training."""
    return Fitted.of(model).takes("loss")


def _fits(loss: str, model: Any) -> bool:
    """Whether a loss can be taken of outputs of this space."""
    try:
        resolved, own = resolve_loss(loss), Fitted.of(model).loss
        if own is not None:
            Observed.of(resolved).check_same(own)
        pair(resolved, model.space_, model.outputs_)
    except (ValueError, TypeError):
        return False
    return True


def loss_name(loss: Any) -> str:
    """Its short name where its parameters are the usual ones, else what it prints.

    >>> from skstruct.losses import Hamming, Pinball
    >>> loss_name(Hamming()), loss_name(Pinball(0.9))
    ('hamming', 'Pinball(tau=0.9)')
    """
    from skstruct.losses.names import SHORT_NAMES

    loss = resolve_loss(loss)
    usual = {f"{name}()": short for short, name in SHORT_NAMES.items()}
    return usual.get(repr(loss), repr(loss))


def predicted_for(model: Any, X: Any, loss: Any, restrict: dict[str, Any] | None = None) -> Any:
    """Outputs in canonical form that were chosen for this loss; None if the model cannot."""
    if not takes_loss(model):
        return None
    try:
        outputs = model.predict(X, loss=loss, **_constraints(restrict))
        return Fitted.of(model).space.validate(outputs)
    except ValueError as error:  # the learner has no way of predicting for it
        if restrict is not None and isinstance(error, InfeasibleError):
            raise
        return None


def _constraints(restrict: dict[str, Any] | None) -> dict[Any, Any]:
    return {} if restrict is None else {"restrict": restrict}


def _baseline(model: Any, loss: Any, bound: Any, truth: Truth) -> float:
    try:
        trained = model.outputs_, truth.outputs, Fitted.of(model).partial
        constant = constant_outputs(model.space_, loss, *trained)
        return told_mean(PartlyKnown.of(bound).against(constant, truth))
    except (ValueError, NotImplementedError):  # nothing is good for all rows
        return float("nan")


def check_level(n_bootstrap: int, level: float) -> None:
    """Refuse numbers of draws and levels that make no interval."""
    if not is_count(n_bootstrap):
        raise ValueError(f"n_bootstrap is a whole number from 1; got {n_bootstrap!r}.")
    if not 0 < level < 1:
        raise ValueError(f"level lies between 0 and 1; got {level!r}.")


def loss_scorer(loss: Any) -> Callable[..., Any]:
    """A scorer that judges a model's predictions under one loss: higher is better.

    The model predicts *for* that loss, whatever it was trained with. Pass the result as
    ``scoring`` to ``cross_val_score``, ``GridSearchCV`` and their like; a dictionary of
    several compares losses in one run. A model that predicts in one way only is judged by what
    it predicts.

    A grid over the parameter ``loss`` needs it: ``model.score`` is minus the loss that the model
    was made with, and losses of different scales (labels that are wrong, a share of these) do
    not compare.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]] * 3, [[1, 0], [1, 0], [0, 1], [0, 1]] * 3
    >>> model = ConditionalRiskMinimizer(alpha=0.1)
    >>> cross_val_score(model, X, Y, cv=3, scoring=loss_scorer("f1"))
    array([0., 0., 0.])
    """
    resolved = resolve_loss(loss)

    def score(model: Any, X: Any, y: Any, known: Any = None) -> Any:
        check_consistent_length(X, y)
        fitted = Fitted.of(model)
        inner, takes_loss = fitted.learner, fitted.estimates_risks
        if not takes_loss and "loss" in signature(inner.score).parameters:
            mask = {} if known is None else {"known": known}
            return model.score(X, y, loss=resolved, **mask)
        predicted = model.predict(X, loss=resolved) if takes_loss else model.predict(X)
        space = inner.space_
        seen = Observed.of(resolved).space_of(space)
        predicted, truth = space.validate(predicted), read_truth(seen, y, known)
        check_predicted_lengths(inner, predicted, truth.outputs)
        bound = pair(resolved, space, inner.outputs_)[1]
        return 0.0 - told_mean(PartlyKnown.of(bound).against(predicted, truth))

    return score
