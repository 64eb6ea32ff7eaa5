# SPDX-License-Identifier: BSD-3-Clause
"""How well scores put what is true in front: precision and recall at every cut.

Scores have shape (n, d), for n rows and d labels, and may be probabilities or anything else of
which more is likelier; truth is an array of zeros and ones of that shape, dense or sparse. Equal
scores cannot be told apart, and curves have no points between them. Higher is better.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.score_cuts import checked_scores, cuts
from skstruct.sizes import AT_ONCE


def average_precisions(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Average precision of each column of scores (n, d); NaN where nothing is true; (d,).

    >>> average_precisions(np.array([[0.9], [0.6], [0.7]]), np.array([[1], [1], [0]])).round(4)
    array([0.8333])
    """
    found = cuts(scores, truth)
    at_cuts = np.maximum.accumulate(np.where(found.ends, found.right, 0.0), axis=0)
    gained = np.diff(at_cuts, axis=0, prepend=0.0)
    sums = (gained * found.right / found.kept).sum(axis=0)
    totals = found.right[-1]
    averages: np.ndarray = np.full(len(totals), np.nan)
    np.divide(sums, totals, out=averages, where=totals > 0)
    return averages


def micro_average_precision(scores: ArrayLike, truth: Any, *, known: Any = None) -> float:
    r"""Area under the curve of precision and recall over all pairs of row and label, AU(PRC).

    .. math:: \sum_k (R_k - R_{k-1}) P_k

    over the distinct scores, from the highest: a step function, as scikit-learn's
    ``average_precision_score(..., average="micro")``, by which results of recent hierarchical
    classifiers are published [1]_; :func:`area_under_prc` has the older ways. NaN where nothing
    is true.

    Parameters
    ----------
    scores : array of shape (n, d)
    truth : array of zeros and ones of shape (n, d), dense or sparse
    known : bool array of shape (n, d), default=None
        Entries of the truth that are known; others have no part.

    Returns
    -------
    float

    References
    ----------
    .. [1] E. Giunchiglia and T. Lukasiewicz, "Coherent hierarchical multi-label classification
       networks", 2020.

    Examples
    --------
    >>> round(micro_average_precision([[0.9, 0.6, 0.7]], [[1, 1, 0]]), 4)
    0.8333
    """
    scores, truth = checked_scores(scores, truth, known)
    return float(average_precisions(scores.reshape(-1, 1), truth.reshape(-1, 1))[0])


def macro_average_precision(scores: ArrayLike, truth: Any, *, known: Any = None) -> float:
    """Mean over the labels of the average precision of each.

    Labels that are never true have none and are left out; NaN where all are. Parameters are
    those of :func:`micro_average_precision`.

    Examples
    --------
    >>> macro_average_precision([[0.9, 0.1, 0.5], [0.8, 0.2, 0.5]], [[1, 1, 0], [0, 0, 0]])
    0.75
    """
    scores, truth = checked_scores(scores, truth, known)
    found = [average_precisions(scores[:, part], truth[:, part]) for part in _blocks(scores.shape)]
    return _mean(np.concatenate(found))


def label_ranking_average_precision(scores: ArrayLike, truth: Any, *, known: Any = None) -> float:
    r"""Mean over the rows of the average precision of their ranking of labels.

    For each true label, the share of true ones among the labels that score as much or more;
    rows without a true label count as 1, as those with all of them do, and as in scikit-learn.
    Parameters are those of :func:`micro_average_precision`.

    Examples
    --------
    >>> round(label_ranking_average_precision([[0.9, 0.6, 0.7], [0.1, 0.2, 0.3]],
    ...                                       [[1, 1, 0], [0, 0, 1]]), 4)
    0.9167
    """
    scores, truth = checked_scores(scores, truth, known)
    found = [
        average_precisions(scores[part].T, truth[part].T) for part in _blocks(scores.shape[::-1])
    ]
    rows = np.nan_to_num(np.concatenate(found), nan=1.0)
    told = np.isfinite(scores).any(axis=1)  # others say nothing
    return _mean(rows[told])


def area_under_prc(
    scores: ArrayLike, truth: Any, *, interpolation: str = "counts", known: Any = None
) -> float:
    r"""Area under the curve of precision and recall over all pairs, with points joined.

    Between two cuts with (TP, FP) pairs right and wrong, true ones are found one by one as wrong
    ones are at a constant rate: with A right, B kept and :math:`k = \Delta B / \Delta A`,

    .. math:: \int_0^{\Delta A} \frac{A + x}{B + k x}\, dx
              = \frac{\Delta A}{k} + \Big(A - \frac Bk\Big) \frac1k \ln\frac{B + \Delta B}{B}

    [1]_. The curve is the average one of Vens et al. [2]_, of pairs of row and label pooled.
    Joining its points by straight lines is too optimistic, and there to compare with who did. It
    begins at recall 0 with the precision of the first cut. NaN where nothing is true.

    Parameters
    ----------
    scores, truth, known
        As in :func:`micro_average_precision`.
    interpolation : "counts" or "linear", default="counts"

    References
    ----------
    .. [1] J. Davis and M. Goadrich, "The relationship between precision-recall and ROC curves",
       2006.
    .. [2] C. Vens, J. Struyf, L. Schietgat, S. Džeroski and H. Blockeel, "Decision trees for
       hierarchical multi-label classification", 2008.

    Examples
    --------
    >>> scores, truth = [[0.9, 0.6, 0.6, 0.6]], [[1, 1, 0, 0]]
    >>> [round(area_under_prc(scores, truth, interpolation=how), 4) for how in ("counts", "linear")]
    [0.8207, 0.875]
    """
    if interpolation not in ("counts", "linear"):
        raise ValueError(f"interpolation is counts or linear; got {interpolation!r}.")
    scores, truth = checked_scores(scores, truth, known)
    found = cuts(scores.reshape(-1, 1), truth.reshape(-1, 1))
    right, kept = (np.append(0.0, total[found.ends]) for total in (found.right, found.kept))
    if not right[-1]:
        return float("nan")
    gained, more = np.diff(right), np.diff(kept)
    if interpolation == "linear":
        precision = right[1:] / kept[1:]
        precision = np.append(precision[0], precision)
        return float(gained @ (precision[:-1] + precision[1:]) / (2 * right[-1]))
    some = gained > 0
    gained, more, right_then, before = gained[some], more[some], right[:-1][some], kept[:-1][some]
    k = more / gained
    growth = np.log1p(np.divide(more, before, out=np.zeros_like(more), where=before > 0))
    return float((gained / k + (right_then - before / k) / k * growth).sum() / right[-1])


def _blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Columns of an array of this shape, so many at a time as are sorted at once."""
    step = max(1, AT_ONCE // shape[0])
    yield from (slice(start, start + step) for start in range(0, shape[1], step))


def _mean(values: np.ndarray) -> float:
    """Of what is no NaN; NaN where nothing else is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
