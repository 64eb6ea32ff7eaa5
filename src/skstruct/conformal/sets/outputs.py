# SPDX-License-Identifier: BSD-3-Clause
"""Sets of whole outputs: label sets, hierarchies, rankings, sequences."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.conformal.sets.base import SetRule
from skstruct.conformal.structures import structure_of
from skstruct.spaces import Embeddings


@dataclass(frozen=True)
class OutputSets:
    """Sets of whole outputs.

    Attributes
    ----------
    members : list of lists
        Outputs of each row in the user's format, the most likely first.
    complete : bool array of shape (n,)
        Whether all members of a set are listed.
    """

    members: list[list[Any]]
    complete: np.ndarray


class OutputRule(SetRule):
    r"""The gap of an output to the best one, with costs from the probabilities of parts.

    .. math:: s(x, y) = \langle c(x), \psi(y) \rangle - \min_z \langle c(x), \psi(z) \rangle,

    where costs are minus the logarithms of the odds or probabilities: the space itself finds the
    minimum, and lists outputs by their gap.
    """

    scores_known = ("gap",)

    @abstractmethod
    def costs(self, marginals: Any) -> tuple[Any, np.ndarray]:
        """The space with the embedding that has costs, and these; shape (n, d)."""

    def read(self, X: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        space, costs = self.costs(self.learner.predict_marginals(X))
        return space, costs, np.asarray(space.argmin(costs).values)

    def scores(self, known: Any, Z: Any) -> np.ndarray:
        space, costs, least = known
        psi = space.embed(Z)
        psi = psi.toarray() if sparse.issparse(psi) else np.asarray(psi)
        gaps = np.maximum((psi * costs).sum(axis=1) - least, 0.0)
        return np.where(gaps == 0.0, -np.inf, gaps) if self.nonempty else gaps

    def _inside(self, known: Any, thresholds: np.ndarray, k: int) -> tuple[Any, np.ndarray]:
        """The k best outputs of each row, and which of them are in its set; bool (n, k)."""
        space, costs, _ = known
        best = space.kbest(costs, k)
        inside = np.isfinite(best.values)
        for rank in range(inside.shape[1]):
            inside[:, rank] &= self.scores(known, best.outputs[:, rank]) <= thresholds
        return best.outputs, inside

    def sets(self, known: Any, thresholds: np.ndarray, most: int, index: Any) -> OutputSets:
        outputs, inside = self._inside(known, thresholds, most + 1)
        members = []
        for row, mask in zip(outputs[:, :most], inside[:, :most]):
            restored = self.space.restore(row[mask])
            if hasattr(restored, "iloc"):
                restored = [restored.iloc[i] for i in range(len(restored))]
            members.append(list(restored))
        return OutputSets(members, inside.sum(axis=1) <= most)

    def counts(self, known: Any, thresholds: np.ndarray, most: int) -> np.ndarray:
        return np.asarray(self._inside(known, thresholds, most)[1].sum(axis=1))


class LabelSetRule(OutputRule):
    """Costs of labels: minus the logarithms of their odds."""

    def costs(self, marginals: Any) -> tuple[Any, np.ndarray]:
        P = structure_of(self.space, "PredictionSets").probabilities(marginals)
        return Embeddings.of(self.space).view("indicators"), _log(1.0 - P) - _log(P)


class RankingRule(OutputRule):
    """Costs of pairs: half of minus the logarithms of their odds, since psi is 1 or -1."""

    def costs(self, marginals: Any) -> tuple[Any, np.ndarray]:
        P = structure_of(self.space, "PredictionSets").probabilities(marginals)
        i, j = np.triu_indices(P.shape[1], 1)
        return Embeddings.of(self.space).view("pairs"), 0.5 * (_log(P[:, j, i]) - _log(P[:, i, j]))


class SequenceRule(OutputRule):
    """Costs of symbols at positions: minus the logarithms of their probabilities."""

    def costs(self, marginals: Any) -> tuple[Any, np.ndarray]:
        P = structure_of(self.space, "PredictionSets").probabilities(marginals)
        n, longest = len(P), self.space.length_
        lengths = (~np.isnan(P[..., 0])).sum(axis=1)
        if lengths.max(initial=0) > longest:
            row = int(np.argmax(lengths > longest))
            raise ValueError(
                f"PredictionSets: row {row} has {lengths[row]} positions; the space lists "
                f"sequences of {longest} at most. Fit it to longer ones, or use RiskControl."
            )
        costs = np.zeros((n, longest, P.shape[2]))
        width = min(P.shape[1], longest)
        costs[:, :width] = np.where(np.isnan(P), 0.0, -_log(P))[:, :width]
        space = Embeddings.of(self.space).view("positions").restrict(length=lengths)
        return space, costs.reshape(n, -1)


def _log(P: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities, none of which is below rounding."""
    return np.asarray(np.log(np.maximum(P, np.finfo(float).eps)))
