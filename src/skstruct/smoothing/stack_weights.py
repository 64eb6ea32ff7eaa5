# SPDX-License-Identifier: BSD-3-Clause
"""Weights of the parts of a stack, by their left-out means."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from skstruct.smoothing.base import column_means, group_numbers, has_gaps
from skstruct.tolerances import EQUAL_PARTS, NO_WEIGHT


def mean_target(targets: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted mean of targets, of those that are known where there are gaps; shape (q,)."""
    if not has_gaps(targets):
        return np.average(targets, axis=0, weights=weight)
    return column_means(targets.reshape(len(targets), -1), weight).reshape(targets.shape[1:])


def mean_without(targets: np.ndarray, weight: np.ndarray, groups: Any = None) -> np.ndarray:
    """The mean target without each row, or without its group; shape of targets."""
    n = len(targets)
    number = group_numbers(groups, n, weight)
    if has_gaps(targets):
        return _mean_of_known(targets.reshape(n, -1), weight, number).reshape(targets.shape)
    weighted = targets * (weight if targets.ndim == 1 else weight[:, None])
    own = np.zeros((number.max() + 1, *targets.shape[1:]))
    if len(own) == n:
        own[number] = weighted
    else:
        np.add.at(own, number, weighted)
    mass = weight.sum() - np.bincount(number, weight)
    rest = weighted.sum(axis=0) - own
    rest /= mass if targets.ndim == 1 else mass[:, None]
    return rest[number]


def _mean_of_known(targets: np.ndarray, weight: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The same of targets with gaps; zero where no other group knows one."""
    mask = weight[:, None] * ~np.isnan(targets)
    found = []
    for values in (mask * np.nan_to_num(targets), mask):
        own = np.zeros((number.max() + 1, targets.shape[1]))
        np.add.at(own, number, values)
        found.append(values.sum(axis=0) - own)
    total, mass = found
    return np.where(mass > 0, total / np.where(mass > 0, mass, 1.0), 0.0)[number]


def products(
    means: Sequence[np.ndarray], targets: np.ndarray, base: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Weighted inner products of the steps :math:`f_k - \bar t` with each other and the truth.

    Returns
    -------
    gram : array of shape (m, m)
    right : array of shape (m,), with the truth
    total : float, of the truth with itself
    """
    scale = np.sqrt(weight) if targets.ndim == 1 else np.sqrt(weight)[:, None]
    if has_gaps(targets):  # these have no part
        scale = scale * ~np.isnan(targets)
        targets = np.nan_to_num(targets)
    truth = ((targets - base) * scale).ravel()
    steps = [((np.asarray(mean) - base) * scale).ravel() for mean in means]
    gram = np.array([[a @ b for b in steps] for a in steps])
    right = np.array([a @ truth for a in steps])
    return gram, right, float(truth @ truth)


def squared_error_of(coef: np.ndarray, gram: np.ndarray, right: np.ndarray, total: float) -> float:
    """Of a weighted sum, by the products of its parts."""
    return float(total - 2 * right @ coef + coef @ gram @ coef)


def blocks_pay(
    means: Sequence[np.ndarray],
    targets: np.ndarray,
    base: np.ndarray,
    weight: np.ndarray,
    blocks: np.ndarray,
    fold: np.ndarray,
) -> bool:
    """Whether weights for each block predict rows better that had no part in these weights.

    Weights are fitted to the rows of other folds, one set for all targets and one for each block.
    The errors of the rows that were kept apart must be less by more than a standard error.

    Parameters
    ----------
    means : sequence of left-out means, each of shape (n, n_targets)
    targets, base : arrays of shape (n, n_targets)
    weight : array of shape (n,)
    blocks : int array of shape (n_targets,)
    fold : int array of shape (n,)
    """
    steps = np.array([np.asarray(mean) - base for mean in means])  # (m, n, q)
    truth, gain = targets - base, np.zeros(len(targets))
    known = ~np.isnan(truth)
    for k in np.unique(fold):
        inside = fold == k
        fitted = partial(_weights_of, steps[:, ~inside], truth[~inside], weight[~inside])
        one = np.tensordot(fitted(slice(None)), steps[:, inside], 1)
        several = np.empty_like(one)
        for block in np.unique(blocks):
            here = blocks == block
            several[:, here] = np.tensordot(fitted(here), steps[:, inside][..., here], 1)
        errors = np.square(truth[inside] - one) - np.square(truth[inside] - several)
        gain[inside] = np.where(known[inside], errors, 0.0).sum(axis=1)
    share = weight / weight.sum()
    mean = share @ gain
    return bool(mean > np.sqrt(share**2 @ (gain - mean) ** 2))


def _weights_of(steps: np.ndarray, truth: np.ndarray, weight: np.ndarray, here: Any) -> Any:
    zero = np.zeros_like(truth[:, here])
    return nonnegative_weights(*products(list(steps[..., here]), truth[:, here], zero, weight)[:2])


def nonnegative_weights(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The c >= 0 of least c'Gc - 2 r'c; zero where nothing varies."""
    shift = EQUAL_PARTS * np.trace(gram)
    if not shift > 0:
        return np.zeros(len(right))
    L = np.linalg.cholesky(gram + shift * np.eye(len(gram)))
    from scipy.optimize import nnls

    c: np.ndarray = nnls(L.T, np.linalg.solve(L, right))[0]
    return np.where(c > NO_WEIGHT * c.max(initial=0.0), c, 0.0)
