# SPDX-License-Identifier: BSD-3-Clause
"""Several learners on the same folds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length

from skstruct._arrays.progress import announce, ticker
from skstruct.fitted import Fitted
from skstruct.learners.token_problem import check_lengths
from skstruct.learners.tokens import are_tokens, len_of
from skstruct.model_selection.evaluation import (
    bootstrap_means,
    evaluate,
    percentile_interval,
)
from skstruct.spaces import Sequences
from skstruct.spaces.truth import read_truth, seen_by


@dataclass(frozen=True)
class ComparedLearner:
    """One learner under one loss.

    Attributes
    ----------
    name, loss : str
    mean, low, high : float
        Mean loss over all left-out rows, with its bootstrap interval.
    behind, behind_low, behind_high : float
        How much more than the best learner of this loss, row by row, with its interval: above
        zero throughout, the difference is hardly chance.
    fit_seconds, predict_seconds : float
        Of all folds together.
    """

    name: str
    loss: str
    mean: float
    low: float
    high: float
    behind: float
    behind_low: float
    behind_high: float
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class Comparison:
    """Results of :func:`compare`; ``rows`` for people, ``losses`` for further questions.

    Attributes
    ----------
    rows : list of ComparedLearner
        By loss, and the best learner first.
    losses : dict of arrays of shape (n, n_learners)
        Of every left-out row, by the name of the loss.
    names : tuple of str
        Of the learners, in the order of columns.
    failed : dict of str
        Why a learner could not take part, by its name.
    scores : dict of arrays of shape (n_folds, n_learners)
        Of every fold, by the name of the scorer; higher is better.
    unknown : str
        How much of the truth is not known, in a sentence; empty where everything is.
    """

    rows: list[ComparedLearner]
    losses: dict[str, np.ndarray] = field(repr=False)
    names: tuple[str, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)
    scores: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    unknown: str = ""


def compare(
    learners: dict[str, Any],
    X: Any,
    y: Any,
    *,
    known: Any = None,
    losses: Sequence[Any] | None = None,
    scoring: Mapping[str, Any] | None = None,
    cv: Any = 5,
    n_bootstrap: int = 1000,
    level: float = 0.95,
    random_state: Any = 0,
    verbose: int = 0,
) -> Comparison:
    """Losses of several learners by cross-validation on the same folds.

    Every row is predicted once by every learner, each trained without it; whatever a learner
    chooses by itself it chooses within the training rows. Intervals take rows as independent
    and models as given: those of another draw of training data would be wider.

    Parameters
    ----------
    learners : dict of learners by name
    X, y : inputs and outputs
        Where parts of y are missing, learners are trained and judged by what is known.
    known : bool array, default=None
        Which parts of y are known, where y does not say so itself.
    losses : list, default=None
        As in :func:`evaluate`.
    scoring : dict of scorers by name, default=None
        What is no mean of losses of rows, such as :func:`marginal_scorer` and
        :func:`loss_scorer` return: callables of a fitted model, X and y. Each left-out fold has
        its score, in ``scores``.
    cv : int or splitter, default=5
        Shuffled folds when a number; a splitter leaves out every row once.
    level, n_bootstrap, random_state
        As in :func:`evaluate`.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Returns
    -------
    Comparison
        A learner that fails on this kind of data is left out and listed in ``failed``.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer, StructuredPerceptron
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]] * 5, ["no", "no", "yes", "yes"] * 5
    >>> learners = {"ridge": ConditionalRiskMinimizer(), "perceptron": StructuredPerceptron()}
    >>> for row in compare(learners, X, y).rows:
    ...     print(row.name, row.loss, row.mean)
    ridge zero_one 0.0
    perceptron zero_one 0.0
    """
    from sklearn.model_selection import KFold, check_cv

    check_consistent_length(X, y)
    _check_positions(X, y)
    n = len(y) if hasattr(y, "__len__") else y.shape[0]
    if isinstance(cv, int):
        cv = KFold(cv, shuffle=True, random_state=random_state)
    parts = list(check_cv(cv).split(np.zeros(n), y))
    left_out = np.concatenate([test for _, test in parts])
    if not np.array_equal(np.sort(left_out), np.arange(n)):
        raise ValueError(f"cv should leave out every row once, as KFold does; {cv!r} does not.")
    tables: dict[str, dict[Any, Any]] = {}
    by_fold: dict[str, list[list[float]]] = {}
    seconds, failed, unknown = {}, {}, ""
    judges = {} if scoring is None else dict(scoring)
    with ticker(len(learners) * len(parts), "comparing", verbose) as tick:
        announce(f"Comparing {', '.join(learners)} on {n:,} rows in {len(parts)} folds.")
        for name, learner in learners.items():
            try:
                found, said = _left_out(learner, X, (y, known), parts, (losses, judges), tick)
                tables[name], by_fold[name], seconds[name] = found
                unknown = said or unknown
            except ValueError as error:
                failed[name] = str(error)
    if not tables:
        first = next(iter(failed.items()), ("none", "no learner was given"))
        raise ValueError(f"No learner could be compared; {first[0]}: {first[1]}")
    rng = np.random.default_rng(random_state)
    rows, kept = [], {}
    names = tuple(tables)
    shared = [
        loss for loss in next(iter(tables.values())) if all(loss in t for t in tables.values())
    ]
    for loss in shared:
        kept[loss] = np.column_stack([tables[name][loss] for name in names])
        rows += _ordered(names, loss, kept[loss], seconds, (n_bootstrap, level), rng)
    scores = {
        judge: np.array([[fold[k] for fold in by_fold[name]] for name in names]).T
        for k, judge in enumerate(judges)
    }
    return Comparison(rows, kept, names, failed, scores, unknown)


def _check_positions(X: Any, y: Any) -> None:
    """Raise where sequences and their outputs differ in length, before rows are numbered anew."""
    if not are_tokens(X):
        return
    try:
        outputs = Sequences().fit(y).validate(y)
    except (ValueError, TypeError):
        return  # no sequences: each learner says what it makes of that
    check_lengths(outputs, np.cumsum([0, *map(len_of, X)]))


def _left_out(
    learner: Any,
    X: Any,
    outputs: tuple[Any, Any],
    parts: list[tuple[np.ndarray, np.ndarray]],
    judged: tuple[Sequence[Any] | None, dict[str, Any]],
    tick: Callable[..., Any],
) -> tuple[tuple[dict[str, Any], list[list[float]], tuple[float, float]], str]:
    """Losses of every row when it was left out, by name; scores by fold; the seconds it took; and
    how much of the truth is not known.
    """
    losses, judges = judged
    y, known = outputs
    scores = []
    n = sum(len(test) for _, test in parts)
    table: dict[str, np.ndarray] = {}
    fitting = predicting = 0.0
    for train, test in parts:
        start = perf_counter()
        model = clone(learner).fit(
            _safe_indexing(X, train), _safe_indexing(y, train), **_mask(known, train)
        )
        fitted = perf_counter()
        held_out, mask = (_safe_indexing(X, test), _safe_indexing(y, test)), _mask(known, test)
        for estimate in evaluate(model, *held_out, **mask, losses=losses, n_bootstrap=1):
            table.setdefault(estimate.loss, np.full(n, np.nan))[test] = estimate.losses
        scores.append([float(judge(model, *held_out, **mask)) for judge in judges.values()])
        fitting += fitted - start
        predicting += perf_counter() - fitted
        tick()
    seen = seen_by(Fitted.of(model).learner)
    said = read_truth(seen, y, known).in_words(seen)
    return (table, scores, (fitting, predicting)), said or ""


def _mask(known: Any, rows: np.ndarray) -> dict[str, Any]:
    """What is known of some rows, where that is given."""
    return {} if known is None else {"known": _safe_indexing(known, rows)}


def _ordered(
    names: tuple[Any, ...],
    loss: str,
    table: np.ndarray,
    seconds: dict[str, Any],
    interval: tuple[int, float],
    rng: np.random.Generator,
) -> list[ComparedLearner]:
    """Rows of the table under one loss, the best first."""
    n_bootstrap, level = interval
    table = table[~np.isnan(table).any(axis=1)]  # rows that say something
    means = bootstrap_means(table, n_bootstrap, rng)
    low, high = percentile_interval(means, level)
    average = table.mean(axis=0)
    best = int(average.argmin())
    behind_low, behind_high = percentile_interval(means - means[:, [best]], level)
    return [
        ComparedLearner(
            names[j], loss, *map(float, (average[j], low[j], high[j])),
            *map(float, (average[j] - average[best], behind_low[j], behind_high[j])),
            *seconds[names[j]],
        )
        for j in np.argsort(average, kind="stable")
    ]  # fmt: skip
