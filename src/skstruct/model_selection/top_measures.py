# SPDX-License-Identifier: BSD-3-Clause
"""How much is true among the k labels of each row that score most.

Scores and truth are as in :mod:`skstruct.model_selection.ranking_measures`. Among equal scores the
choice counts by its mean over all orders. Higher is better.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.by_name import by_position
from skstruct._arrays.checks import is_count
from skstruct._arrays.score_cuts import checked_scores, columns_of


def precision_at(scores: ArrayLike, truth: Any, k: int = 1) -> float:
    r"""Mean over the rows of the share of true labels among the k that score most.

    Parameters
    ----------
    scores, truth
        As in :func:`micro_average_precision`.
    k : int, default=1
        From 1 to d.

    Examples
    --------
    >>> precision_at([[0.9, 0.6, 0.7], [0.5, 0.5, 0.5]], [[1, 1, 0], [0, 0, 1]], k=1).__round__(4)
    0.6667
    """
    scores, truth = checked_scores(scores, truth)
    return float(_gains_at_top(scores, truth.astype(np.float64), k).mean() / k)


def propensity_scored_precision_at(
    scores: ArrayLike, truth: Any, k: int = 1, *, propensities: ArrayLike
) -> float:
    r"""Precision at k in which labels count the more the likelier they are to be missing.

    .. math:: \frac{\sum_i \sum_{l \in \mathrm{top}_k(i)} y_{il} / p_l}
              {\sum_i \max_{|S| = k} \sum_{l \in S} y_{il} / p_l}

    with propensities p as of :func:`label_propensities`: a perfect ranking has 1 [1]_. NaN where
    nothing is true.

    Parameters
    ----------
    scores, truth, k
        As in :func:`precision_at`.
    propensities : array of shape (d,)
        Probability that a label which applies has been noted.

    References
    ----------
    .. [1] H. Jain, Y. Prabhu and M. Varma, "Extreme multi-label loss functions for recommendation,
       tagging, ranking and other missing label applications", 2016.

    Examples
    --------
    >>> propensity_scored_precision_at([[0.9, 0.6]], [[1, 1]], propensities=[1.0, 0.25])
    0.25
    """
    names = columns_of(scores, truth) or range(np.shape(scores)[1])
    propensities = by_position(
        propensities, names, what="propensities", used_by="propensity_scored_precision_at"
    )
    scores, truth = checked_scores(scores, truth)
    noted = np.asarray(propensities, dtype=np.float64)
    if noted.shape != scores.shape[1:] or not ((noted > 0) & (noted <= 1)).all():
        raise ValueError(
            f"propensities are probabilities above 0, one for each of {scores.shape[1]} labels; "
            f"got shape {noted.shape}."
        )
    gains = truth / noted
    reached, best = _gains_at_top(scores, gains, k).sum(), _gains_at_top(gains, gains, k).sum()
    return float(reached / best) if best > 0 else float("nan")


def label_propensities(
    counts: ArrayLike, n_rows: int, *, a: float = 0.55, b: float = 1.5
) -> np.ndarray:
    r"""Probabilities that labels which apply have been noted, from how often they were in training.

    .. math:: p_l = \frac{1}{1 + C (N_l + B)^{-A}}, \qquad C = (\ln N - 1)(B + 1)^A,

    for label l with N_l of N training rows (Jain, Prabhu and Varma, 2016).

    Parameters
    ----------
    counts : array of shape (d,)
        Training rows with each label.
    n_rows : int
        All training rows; 3 at least, for C to be positive.
    a, b : float
        The usual ones; for data of Wikipedia 0.5 and 0.4 are in use, of Amazon 0.6 and 2.6.

    Returns
    -------
    array of shape (d,)

    Examples
    --------
    >>> label_propensities([1, 10, 1000], 1000).round(3)
    array([0.145, 0.282, 0.821])
    """
    counts = np.asarray(counts, dtype=np.float64)
    if not is_count(n_rows) or n_rows < 3 or (counts < 0).any() or (counts > n_rows).any():
        raise ValueError(
            f"Propensities need 3 training rows at least, and counts from 0 to these; got n_rows="
            f"{n_rows!r} and counts up to {counts.max(initial=0):g}."
        )
    constant = (np.log(n_rows) - 1.0) * (b + 1.0) ** a
    return 1.0 / (1.0 + constant * (counts + b) ** -a)


def _gains_at_top(scores: np.ndarray, gains: np.ndarray, k: int) -> np.ndarray:
    """Sum of gains of the k labels that score most, on average over orders of ties; (n,)."""
    d = scores.shape[1]
    if not is_count(k) or k > d:
        raise ValueError(f"k is a whole number from 1 to {d}, the number of labels; got {k!r}.")
    last = np.partition(scores, d - k, axis=1)[:, [d - k]]  # the k-th largest score
    above, level = scores > last, scores == last
    share = (k - above.sum(axis=1)) / level.sum(axis=1)
    return (gains * above).sum(axis=1) + share * (gains * level).sum(axis=1)
