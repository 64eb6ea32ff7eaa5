# SPDX-License-Identifier: BSD-3-Clause
"""Precision, recall and F of predicted sets over all rows, as is usual for hierarchies."""

from typing import Any

import numpy as np

from skstruct._arrays.score_cuts import checked_known, columns_of, matched, zeros_and_ones


def hierarchical_precision(
    predicted: Any, truth: Any, *, root: Any = None, known: Any = None
) -> float:
    r"""Share of true labels among all that were predicted.

    .. math:: \frac{\sum_i |P_i \cap T_i|}{\sum_i |P_i|}

    Sets hold the ancestors of their labels, as outputs of a :class:`~skstruct.spaces.Hierarchy` do,
    so that a label which is near the true one is partly right [1]_. 0 where nothing is predicted.

    Parameters
    ----------
    predicted, truth : arrays of zeros and ones of shape (n, d), dense or sparse
    root : int or sequence of int, default=None
        Columns to leave out: a root that is in every set makes all of them look better.
    known : bool array of shape (n, d), default=None
        Entries of the truth that are known; others count neither as true nor as predicted.

    Returns
    -------
    float

    References
    ----------
    .. [1] S. Kiritchenko, S. Matwin, R. Nock and A. F. Famili, "Learning and evaluation in the
       presence of class hierarchies: application to text categorization", 2006.

    Examples
    --------
    >>> hierarchical_precision([[1, 1, 0, 1]], [[1, 0, 1, 1]], root=3)
    0.5
    """
    common, n_predicted, _ = _sizes(predicted, truth, root, known)
    return common / n_predicted if n_predicted else 0.0


def hierarchical_recall(
    predicted: Any, truth: Any, *, root: Any = None, known: Any = None
) -> float:
    r"""Share of predicted labels among all that are true.

    .. math:: \frac{\sum_i |P_i \cap T_i|}{\sum_i |T_i|}

    0 where nothing is true. Parameters are those of :func:`hierarchical_precision`.

    Examples
    --------
    >>> hierarchical_recall([[1, 0, 0, 1]], [[1, 1, 1, 1]])
    0.5
    """
    common, _, n_true = _sizes(predicted, truth, root, known)
    return common / n_true if n_true else 0.0


def hierarchical_f(
    predicted: Any, truth: Any, *, beta: float = 1.0, root: Any = None, known: Any = None
) -> float:
    r"""Weighted harmonic mean of hierarchical precision P and recall R.

    .. math:: F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}
              = \frac{(1 + \beta^2) \sum_i |P_i \cap T_i|}{\beta^2 \sum_i |T_i| + \sum_i |P_i|}

    It is that of all rows together, not a mean over rows as the loss
    :class:`~skstruct.losses.F1`. 0 where nothing is predicted and nothing true. Other parameters
    are those of :func:`hierarchical_precision`.

    Parameters
    ----------
    beta : float, default=1.0
        How much more recall counts than precision.

    Examples
    --------
    >>> hierarchical_f([[1, 1, 0]], [[1, 0, 0]]).__round__(4)
    0.6667
    """
    if not beta > 0:
        raise ValueError(f"beta is a positive number; got {beta!r}.")
    common, n_predicted, n_true = _sizes(predicted, truth, root, known)
    below = beta**2 * n_true + n_predicted
    return (1 + beta**2) * common / below if below else 0.0


def _sizes(predicted: Any, truth: Any, root: Any, known: Any) -> tuple[float, float, float]:
    """Of the intersections, the predicted and the true sets, each summed over the rows."""
    columns = columns_of(predicted, truth, known)
    predicted, truth = matched(predicted, columns, "predicted"), matched(truth, columns, "truth")
    known = matched(known, columns, "known")
    predicted, truth = zeros_and_ones(predicted, "predicted"), zeros_and_ones(truth, "truth")
    if predicted.ndim != 2 or predicted.shape != truth.shape:
        raise ValueError(
            "predicted and true sets have the same shape (n, d); got "
            f"{predicted.shape} and {truth.shape}."
        )
    if known is not None:
        seen = checked_known(known, truth.shape)
        predicted, truth = predicted & seen, truth & seen
    if root is not None:
        keep = np.ones(predicted.shape[1], dtype=bool)
        keep[np.atleast_1d(root)] = False
        predicted, truth = predicted[:, keep], truth[:, keep]
    return float((predicted & truth).sum()), float(predicted.sum()), float(truth.sum())
