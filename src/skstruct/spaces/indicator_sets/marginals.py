# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the labels of sets, and given that sets are in a narrower space."""

from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.inference import Inference
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.dags import Dag
from skstruct.tolerances import SURE


class MarginalsOfIndicators(Marginals):
    """Labels, whose probabilities are means of their indicators."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"labels": "hamming"}


def given_odds(means: np.ndarray, dag: Dag) -> np.ndarray:
    r"""Scores of the distribution of largest entropy over closed sets with such means; (n, d).

    With :math:`q_j = p_j / p_{\mathrm{pa}(j)}` the probability of a label given its parent,

    .. math:: u_j = \ln \frac{q_j}{1 - q_j} + \sum_{c\,\text{child of}\,j} \ln (1 - q_c).

    Parameters
    ----------
    means : coherent array of shape (n, d)
    dag : Dag, a forest
    """
    # Of a label whose parent is never there, nothing is known: one half.
    above = np.where(dag.parent_of >= 0, means[:, dag.parent_of], 1.0)
    share = np.clip((means + SURE) / (above + 2.0 * SURE), SURE, 1.0 - SURE)
    scores: np.ndarray = np.log(share) - np.log1p(-share)
    for child in np.flatnonzero(dag.parent_of >= 0):
        scores[:, dag.parent_of[child]] += np.log1p(-share[:, child])
    return scores


def given_marginals(space: Any, means: np.ndarray) -> np.ndarray:
    """Probabilities of labels given that sets are in the space: exact for the distribution of
    largest entropy, where it is known.
    """
    known = (
        Inference.of(space).distribution(given_odds(means, space.dag_))
        if space.dag_.is_forest
        else None
    )
    return Marginals.of(space).coherent(means) if known is None else known.marginals()
