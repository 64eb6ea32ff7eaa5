# SPDX-License-Identifier: BSD-3-Clause
"""The least and the largest loss over all outputs that agree with what is known of the truth."""

from typing import Any

import numpy as np

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import dense
from skstruct.losses.deciding import Form
from skstruct.spaces import Embeddings
from skstruct.tolerances import ROUNDING_GAP

Ends = tuple[np.ndarray, np.ndarray]  # lower and upper, of shape (n,) each
LISTED = 5000  # outputs that are compared one by one
MEMORY = "64MB"


def decoded_ends(loss: Any, space: Any, predicted: np.ndarray, agreeing: Any) -> Ends | None:
    """Ends of a loss that is linear in psi of the truth: two decodes.

    An end is the loss of an output where the decoder proves that to be the best one, and else the
    decoder's bound, so that no lower end is too high and no upper end too low.

    Parameters
    ----------
    loss : loss, bound to the space
    space : space of the truth, in the embedding of the loss
    predicted : outputs in canonical form
    agreeing : the same space, narrowed row by row to outputs that agree with what is known

    Returns
    -------
    lower, upper : arrays of shape (n,), or None where the loss does not say what it is linear in
    """
    n, name = len(predicted), loss.embedding_on(space)
    lower, upper = np.empty(n), np.empty(n)
    width = space.embed(predicted[:1]).shape[1]
    for rows in row_blocks(n, 48 * width, MEMORY):
        index = np.arange(rows.start, rows.stop)
        found = Form.of(loss).truth_costs(dense(space.embed(predicted[rows])))
        if found is None:
            return None
        costs, offsets = found
        narrowed = Embeddings.of(agreeing.rows(index)).view(name)
        for sign, end in ((1.0, lower), (-1.0, upper)):
            decoded = narrowed.argmin(np.ascontiguousarray(sign * costs))
            proved = decoded.values - decoded.bounds <= ROUNDING_GAP * np.abs(costs).sum(axis=1)
            reached = loss(predicted[rows], decoded.outputs)
            end[rows] = np.where(proved, reached, sign * decoded.bounds + offsets)
    return lower, upper


def limited_ends(rho: Any, predicted: np.ndarray, low: np.ndarray, high: np.ndarray) -> Ends:
    """Ends of a sum over coordinates of what grows with the distance, or along the line.

    Parameters
    ----------
    rho : callable (t, y) -> losses of the coordinates, weighted
    predicted, low, high : arrays of shape (n, d)
        Limits of the truth; infinite where there are none.
    """
    nearest = np.clip(predicted, low, high)
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.array([rho(predicted, end) for end in (nearest, low, high)])
    lower = np.where(np.isnan(found), np.inf, found).min(axis=0).sum(axis=1)
    upper = np.where(np.isnan(found), np.inf, found).max(axis=0).sum(axis=1)
    return lower, upper


def listed_ends(loss: Any, listed: np.ndarray, predicted: np.ndarray, agree: np.ndarray) -> Ends:
    """Ends by comparing all outputs of a list.

    Parameters
    ----------
    listed : array of m outputs in canonical form
    agree : bool array of shape (n, m)
        Which of them agree with what is known of a row.
    """
    losses = loss.pairwise(predicted, listed)
    lower = np.where(agree, losses, np.inf).min(axis=1)
    return lower, np.where(agree, losses, -np.inf).max(axis=1)


def differing_ends(space: Any, predicted: np.ndarray, agreeing: Any) -> Ends | None:
    """Whether all, and whether any, outputs that agree with what is known differ from others.

    The number of entries of psi that differ is linear in psi, where these are zeros and ones.

    Returns
    -------
    lower, upper : arrays of zeros and ones of shape (n,), or None where psi has other entries
    """
    n, width = len(predicted), space.embed(predicted[:1]).shape[1]
    ends = np.empty((2, n))
    for rows in row_blocks(n, 48 * width, MEMORY):
        psi = dense(space.embed(predicted[rows]))
        if not np.isin(psi, (0.0, 1.0)).all():
            return None
        narrowed, size = agreeing.rows(np.arange(rows.start, rows.stop)), psi.sum(axis=1)
        least = narrowed.argmin(1.0 - 2.0 * psi).bounds + size
        most = size - narrowed.argmin(2.0 * psi - 1.0).bounds
        ends[0, rows], ends[1, rows] = least > 0.5, most > 0.5
    return ends[0], ends[1]
