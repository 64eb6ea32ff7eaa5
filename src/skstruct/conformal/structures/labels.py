# SPDX-License-Identifier: BSD-3-Clause
"""Label sets and hierarchies: a part is a label, which is certain, possible or out."""

from typing import Any

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct.conformal.structures.base import (
    Claims,
    Moves,
    Structure,
    check_probabilities,
    shared,
)
from skstruct.spaces import Description
from skstruct.spaces.solvers.marginals import lowered


class Labels(Structure):
    """Labels with probabilities that fall along the arcs of a graph.

    Sets of the form {p >= t} and {p > t} then hold all ancestors of their labels, at any
    threshold and with ties. Probabilities that rise along an arc are lowered to those of the
    ancestors first, so that this does not rest on the learner.
    """

    asserts_absence = True

    def probabilities(self, marginals: Any) -> np.ndarray:
        P = np.array(marginals, dtype=np.float64)
        d = len(self.space.labels_)
        if P.ndim != 2 or P.shape[1] != d or np.isnan(P).any():
            raise ValueError(
                f"predict_marginals: one probability for each of {d} labels is wanted, shape "
                f"(n, {d}) without NaN; got shape {P.shape}."
            )
        P, dag = check_probabilities(P, "label"), Description.of(self.space).output_dag()
        return P if dag is None else lowered(P, dag)

    def _costs(self, weights: Any, Z: np.ndarray) -> np.ndarray:
        """Costs of all labels, 0 where the truth is not known; shape (n, d)."""
        return self.label_costs(weights) * (np.asarray(Z) >= 0)

    def label_costs(self, weights: Any) -> np.ndarray:
        """A cost for every label; shape (d,)."""
        names = self.space.labels_
        if weights is None:
            return np.ones(len(names))
        if isinstance(weights, str):
            return self._by_depth(weights)
        weights = by_position(weights, names, what="weights", used_by="RiskControl", default=1.0)
        costs = np.asarray(weights, dtype=np.float64)
        fits = costs.shape == (len(names),) and np.isfinite(costs).all()
        if not fits or (costs < 0).any() or not costs.any():
            raise ValueError(
                f"weights: a cost of at least 0 for each of {len(names)} labels is wanted, and not "
                f"0 for all; got {weights!r:.60}."
            )
        return costs

    def _by_depth(self, weights: str) -> np.ndarray:
        dag = Description.of(self.space).output_dag()
        if weights != "depth" or dag is None:
            raise ValueError(
                f"weights: None, 'depth' for labels in a graph, or costs; got {weights!r}."
            )
        return 1.0 / (1.0 + dag.depth)

    def confidence(self, P: np.ndarray) -> np.ndarray:
        return _confidence(P)

    def claims(self, P: np.ndarray, Z: np.ndarray, weights: Any, both: bool) -> Claims:
        costs, true = shared(self._costs(weights, Z)), np.asarray(Z) == 1
        if not both:
            return Claims(P, true, costs, (costs * true).sum(axis=1))
        return Claims(_confidence(P), (P >= 0.5) == true, costs, costs.sum(axis=1))

    def misses(self, P: np.ndarray, Z: np.ndarray, weights: Any) -> Claims:
        true = np.asarray(Z) == 1
        # Out when p < t, which is -p > -t: the label falls out as the threshold -t falls.
        costs = shared(self.label_costs(weights) * true)
        return Claims(-P, ~true, costs, costs.sum(axis=1))

    def masks(
        self, P: np.ndarray, thresholds: np.ndarray, moves: Moves
    ) -> tuple[np.ndarray, np.ndarray]:
        t = thresholds[:, None]
        if moves == "possible":
            possible = -t <= P
            return possible & (1.0 + t <= P), possible
        if moves == "certain":
            certain = t < P
            return certain, certain | (np.minimum(t, 1.0 - t) <= P)
        said, present = _confidence(P) > t, P >= 0.5
        return said & present, ~(said & ~present)

    def write(
        self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray, index: Any
    ) -> tuple[Any, Any]:
        restore = self.space.restore
        return restore(certain.astype(np.int8), index), restore(possible.astype(np.int8), index)

    def decided(self, P: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        return _confidence(P) > thresholds[:, None]


class HierarchyLabels(Labels):
    """Labels of a hierarchy: where the deepest ones are not sure, their ancestors may be."""

    asserts_absence = False

    def decided(self, P: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        return thresholds[:, None] < P


def _confidence(P: np.ndarray) -> np.ndarray:
    """Probability of what is asserted: p where that is one half at least, else 1 - p.

    Rounding of 1 - p keeps the order of p, so that what is asserted to be out holds all
    descendants of its labels, as what is in holds all ancestors.
    """
    return np.where(P >= 0.5, P, 1.0 - P)
