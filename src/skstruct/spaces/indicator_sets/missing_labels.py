# SPDX-License-Identifier: BSD-3-Clause
"""Labels that are not known: their probabilities given others, and those of being overlooked."""

from typing import Any

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct.spaces.partial import PartialOutputs

SURE_ENOUGH = 1e-3  # estimates of probabilities are no nearer to 0 and 1 than that


def conditional_means(dag: Any, means: np.ndarray, partial: PartialOutputs) -> np.ndarray:
    r"""P(y_j = 1 | x, what is known), for labels that are independent given their parents.

    With :math:`r_j = P(y_j \mid y_{p(j)})`, the mean of a label over that of its parent, and known
    labels as evidence e, one pass upwards collects

    .. math:: m_j = r_j \prod_{c} m_c \, 1[j \text{ may be in}]
              + (1 - r_j) \, 1[\text{nothing below is in}],

    c the children of j, and one downwards multiplies the posteriors :math:`r_j \prod_c m_c / m_j`.
    Where a label has several parents, the least probable of them stands for all.

    Parameters
    ----------
    dag : Dag
    means : array of shape (n, d)
        Estimates of P(y_j = 1 | x).
    partial : PartialOutputs
    """
    means = np.clip(means, SURE_ENOUGH, 1.0 - SURE_ENOUGH)
    marked = partial.outputs > 0
    known_in, may_be_in = partial.known & marked, ~partial.known | marked
    rows = np.arange(len(means))
    parent = _least_parents(dag, means)  # (n, d), -1 for roots
    ratio = means.copy()
    for j in dag.order:
        above = parent[:, j]
        if len(dag.parents_of[j]):
            ratio[:, j] = np.minimum(means[:, j] / means[rows, above], 1.0 - SURE_ENOUGH)
    evidence, holds = np.ones(means.shape), known_in.copy()
    posterior = np.empty(means.shape)
    for j in dag.order[::-1]:
        inside = np.where(may_be_in[:, j], ratio[:, j] * evidence[:, j], 0.0)
        total = inside + np.where(holds[:, j], 0.0, 1.0 - ratio[:, j])
        posterior[:, j] = inside / np.where(total > 0, total, 1.0)
        if len(dag.parents_of[j]):
            evidence[rows, parent[:, j]] *= total
            holds[rows, parent[:, j]] |= holds[:, j]
    for j in dag.order:
        if len(dag.parents_of[j]):
            posterior[:, j] *= posterior[rows, parent[:, j]]
    return np.where(partial.known, marked, posterior)


def _least_parents(dag: Any, means: np.ndarray) -> np.ndarray:
    """The parent of least mean of every label in every row; int array of shape (n, d)."""
    found = np.full(means.shape, -1)
    for j in range(dag.n_nodes):
        parents = np.asarray(dag.parents_of[j])
        if len(parents) == 1:
            found[:, j] = parents[0]
        elif len(parents):
            found[:, j] = parents[means[:, parents].argmin(axis=1)]
    return found


def read_propensity(given: Any, labels: tuple[Any, ...], used_by: str) -> np.ndarray:
    """Probabilities of labels to be annotated; shape (d,)."""
    given = by_position(given, labels, what="propensity", used_by=used_by, default=1.0)
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full(2, np.nan)
    good = found.shape in ((), (len(labels),)) and bool(((found > 0) & (found <= 1)).all())
    if not good:
        raise ValueError(
            f"{used_by}: propensity is a number above 0 and up to 1, or one for each of the "
            f"{len(labels)} labels; got {given!r}."
        )
    return np.array(np.broadcast_to(found, (len(labels),)))
