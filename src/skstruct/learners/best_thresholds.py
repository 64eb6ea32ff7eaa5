# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds of probabilities that are best for F measures, precision or recall."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.checks import is_number
from skstruct._arrays.foreign import on_host
from skstruct._arrays.rows import dense
from skstruct._arrays.score_cuts import checked_known, checked_scores, cuts

MEASURES = ("micro_f1", "macro_f1", "precision_at_recall", "recall_at_precision")


class Choices(NamedTuple):
    """What each column keeps at each of its cuts, beginning with nothing.

    Attributes
    ----------
    scores : array of shape (n, m)
        Of each column, falling.
    right, kept : arrays of shape (n + 1, m)
        Weight of the true entries and of all among the first k.
    possible : bool array of shape (n + 1, m)
        Whether the first k can be told from the others, as their scores differ.
    """

    scores: np.ndarray
    right: np.ndarray
    kept: np.ndarray
    possible: np.ndarray


def best_thresholds(
    probabilities: ArrayLike,
    truth: Any,
    measure: str = "micro_f1",
    *,
    by: str = "all",
    target: float | None = None,
    shrinkage: float = 1.0,
    sample_weight: ArrayLike | None = None,
    known: ArrayLike | None = None,
) -> tuple[np.ndarray, float]:
    r"""Thresholds t at which predicting labels with ``probabilities >= t`` is best.

    All distinct cuts are tried, by sorting and running sums, so that the optimum is exact: with
    one threshold for all labels in O(nd log nd). With one for each label, the measures that are
    means over labels fall apart into d problems, of which ``"macro_f1"`` is shrunk: the few true
    entries of a rare label say little about where to cut it. The micro-averaged F measure does
    not, but for a given value F it is reached if and only if the labels can have

    .. math:: \sum_l \max_k\, \big(2\, \mathrm{TP}_l(k) - F k\big) \ge F \sum_l P_l

    with k of label l predicted, TP of these and P of all true: each step takes the best cuts for
    the last F, and F rises until it is the optimum [1]_. At it, a label is predicted about where
    its probability exceeds F / 2 [2]_.

    Values on the data that thresholds were chosen on are too good: give probabilities of rows that
    were left out of training, and judge on others.

    Parameters
    ----------
    probabilities : array of shape (n, d)
        Or other scores of which more is likelier.
    truth : array of zeros and ones of shape (n, d), dense or sparse
    measure : str, default="micro_f1"
        ``"micro_f1"`` and ``"macro_f1"``, where F is 0 for a label that is neither predicted nor
        true; ``"precision_at_recall"``, the best precision with recall of ``target`` at least;
        ``"recall_at_precision"``, the best recall with precision of ``target`` at least, where
        predicting nothing has recall 0 and any precision. The latter two pool all labels for
        ``by="all"``, and are else means over the labels that are ever true.
    by : "all" or "label", default="all"
        One threshold for all labels, or one for each.
    target : float, default=None
        Above 0 and up to 1.
    shrinkage : float, default=1.0
        For ``"macro_f1"`` with ``by="label"``: so many true entries of a label like all others
        together are added to those of each label, with what comes before and among them at every
        threshold. A label with many true entries is cut by its own, one with few near where all
        are. 0 is the optimum of the data as they are, which predicts rare labels far too often on
        other rows.
    sample_weight : array of shape (n,), default=None
    known : bool array of shape (n, d), default=None
        Entries of the truth that are known. The others, which may be NaN, count for nothing.

    Returns
    -------
    thresholds : array of shape (d,)
        Half-way between neighbouring scores; infinite where nothing is predicted, minus infinity
        where everything is. Of equally good ones that which predicts least, but for
        ``"precision_at_recall"`` that which has most recall.
    value : float
        Of the measure, with these thresholds.

    References
    ----------
    .. [1] W. Dinkelbach, "On nonlinear fractional programming", 1967.
    .. [2] Z. C. Lipton, C. Elkan and B. Naryanaswamy, "Optimal thresholding of classifiers to
       maximize F1 measure", 2014.

    Examples
    --------
    >>> P, Y = [[0.9, 0.4], [0.6, 0.3], [0.1, 0.2]], [[1, 1], [0, 1], [0, 0]]
    >>> best_thresholds(P, Y)
    (array([0.25, 0.25]), 0.8571428571428571)
    >>> best_thresholds(P, Y, by="label")
    (array([0.75, 0.25]), 1.0)
    >>> best_thresholds(P, Y, "recall_at_precision", target=0.9)
    (array([0.75, 0.75]), 0.3333333333333333)
    """
    seen = None
    if known is not None:
        truth = dense(truth)
        seen = checked_known(known, truth.shape)
        truth = np.where(seen, truth, 0)
    scores, truth = checked_scores(probabilities, truth)
    _check_options(measure, by, target)
    if not is_number(shrinkage) or not 0 <= shrinkage < np.inf:
        raise ValueError(f"shrinkage is a finite number from 0; got {shrinkage!r}.")
    weight = _checked_weight(sample_weight, len(scores))
    if seen is not None:  # scores of weight zero are possible cuts that change nothing
        weight = seen * (1.0 if weight is None else weight)
    if measure == "macro_f1" and by == "all":
        return _common_macro(scores, truth, weight)
    d = scores.shape[1]
    if by == "all":
        weight = None if weight is None else np.broadcast_to(weight, scores.shape).reshape(-1, 1)
        scores, truth = scores.reshape(-1, 1), truth.reshape(-1, 1)
    table = _choices(scores, truth, weight)
    if measure == "micro_f1":
        chosen, value = _best_micro(table)
    else:
        values = _values(table, measure, target)
        wanted = values
        if measure == "macro_f1" and shrinkage:
            wanted = _values(_with_others(table, shrinkage), measure, target)
        if measure == "precision_at_recall":  # the last one of equals
            chosen = len(values) - 1 - values[::-1].argmax(axis=0)
        else:
            chosen = wanted.argmax(axis=0)
        best = np.take_along_axis(values, chosen[None], axis=0)[0]
        chosen, value = _averaged(table, chosen, best, measure)
    thresholds = _half_way(table.scores, chosen)
    return np.broadcast_to(thresholds, (d,)).copy(), value


def _choices(scores: np.ndarray, truth: np.ndarray, weight: np.ndarray | None) -> Choices:
    found = cuts(scores, truth, weight)
    nothing = np.zeros((1, scores.shape[1]))
    right, kept = (np.concatenate([nothing, total]) for total in (found.right, found.kept))
    return Choices(found.scores, right, kept, np.concatenate([nothing == 0, found.ends]))


def _with_others(table: Choices, shrinkage: float) -> Choices:
    """The same cuts, each with entries of all labels that its threshold keeps: as many as have
    ``shrinkage`` true ones in all.
    """
    order = np.argsort(-table.scores.ravel(), kind="stable")
    falling = -table.scores.ravel()[order]
    right, kept = (
        np.append(0.0, np.cumsum(np.diff(sums, axis=0).ravel()[order]))
        for sums in (table.right, table.kept)
    )
    reached = np.zeros(table.kept.shape, np.int64)
    reached[1:] = np.searchsorted(falling, -table.scores, side="right")
    reached[-1] = len(falling)  # minus infinity keeps everything
    share = shrinkage / right[-1] if right[-1] > 0 else 0.0
    return table._replace(
        right=table.right + share * right[reached], kept=table.kept + share * kept[reached]
    )


def _best_micro(table: Choices) -> tuple[np.ndarray, float]:
    """Cuts of the columns (m,) at which F over all of them together is largest, and that F."""
    total, value = table.right[-1].sum(), 0.0
    while True:
        gains = np.where(table.possible, 2 * table.right - value * table.kept, -np.inf)
        chosen = gains.argmax(axis=0)
        right, kept = (
            np.take_along_axis(sums, chosen[None], axis=0).sum()
            for sums in (table.right, table.kept)
        )
        reached = 2 * right / (total + kept) if total + kept > 0 else 0.0
        if reached <= value:
            return chosen, float(value)
        value = reached


def _values(table: Choices, measure: str, target: float | None) -> np.ndarray:
    """Of each cut of each column; minus infinity where there is none, or not enough; (n + 1, m)."""
    right, kept, totals = table.right, table.kept, table.right[-1]
    if measure == "macro_f1":
        values, enough = _ratio(2 * right, kept + totals), table.possible
    else:
        precision, recall = _ratio(right, kept), _ratio(right, totals)
        if measure == "precision_at_recall":
            values, enough = precision, table.possible & (recall >= target)
        else:
            enough = table.possible & ((precision >= target) | (kept == 0))
            values = recall
    return np.where(enough, values, -np.inf)


def _averaged(
    table: Choices, chosen: np.ndarray, best: np.ndarray, measure: str
) -> tuple[np.ndarray, float]:
    """Cuts, none for columns that are never true, and the mean of the values that count."""
    true = table.right[-1] > 0
    chosen = np.where(true, chosen, 0)
    if measure == "macro_f1":
        return chosen, float(np.where(true, best, 0.0).mean())
    return chosen, float(best[true].mean()) if true.any() else float("nan")


def _common_macro(
    scores: np.ndarray, truth: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """The best common threshold for the mean of F over labels.

    Each entry that is kept changes F of its own label alone: the mean is a running sum of these
    changes in the order of scores.
    """
    found = cuts(scores, truth, weight)
    by_label = _ratio(2 * found.right, found.kept + found.right[-1])
    changes = np.diff(by_label, axis=0, prepend=0.0).ravel()
    order = np.argsort(-found.scores.ravel(), kind="stable")
    falling = found.scores.ravel()[order]
    sums = np.append(0.0, np.cumsum(changes[order]))
    sums[1:-1][falling[:-1] == falling[1:]] = -np.inf
    threshold = _half_way(falling[:, None], np.array([sums.argmax()]))[0]
    row_weight = 1.0 if weight is None else weight
    kept = (scores >= threshold) * row_weight
    right, total = (kept * truth).sum(axis=0), (truth * row_weight).sum(axis=0)
    value = _ratio(2 * right, kept.sum(axis=0) + total).mean()
    return np.full(scores.shape[1], threshold), float(value)


def _half_way(scores: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Thresholds that the first ``chosen`` (m,) of falling scores (n, m) reach and no others."""
    n, columns = len(scores), np.arange(scores.shape[1])
    low = np.where(chosen < n, scores[np.minimum(chosen, n - 1), columns], -np.inf)
    high = np.where(chosen > 0, scores[np.maximum(chosen - 1, 0), columns], np.inf)
    middle = low / 2 + high / 2
    apart = (middle > low) | (chosen == n)  # neighbours in floating point have no middle
    return np.where(apart, middle, high)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """0 where nothing is divided by nothing."""
    below = np.broadcast_to(below, above.shape)
    shares: np.ndarray = np.zeros(above.shape)
    np.divide(above, below, out=shares, where=below > 0)
    return shares


def _check_options(measure: str, by: str, target: float | None) -> None:
    if measure not in MEASURES:
        raise ValueError(f"measure is one of {', '.join(MEASURES)}; got {measure!r}.")
    if by not in ("all", "label"):
        raise ValueError(f'by is "all" or "label"; got {by!r}.')
    if measure.endswith("_f1"):
        if target is not None:
            raise ValueError(f"{measure} has no target; got {target!r}.")
    elif target is None or not is_number(target) or not 0 < target <= 1:
        raise ValueError(f"target of {measure} is above 0 and at most 1; got {target!r}.")


def _checked_weight(weight: Any, n: int) -> np.ndarray | None:
    """Weights of rows as an array (n, 1)."""
    if weight is None:
        return None
    weight = np.asarray(on_host(weight), dtype=np.float64)
    column: np.ndarray = weight.reshape(-1, 1)
    if weight.shape != (n,) or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError(
            f"sample_weight has one finite number from 0 for each of {n} rows, some above 0; got "
            f"shape {weight.shape}."
        )
    return column
