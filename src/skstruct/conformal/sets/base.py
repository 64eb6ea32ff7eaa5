# SPDX-License-Identifier: BSD-3-Clause
"""What a kind of output tells prediction sets: how strange an output is, and what the set is."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces import Description


class SetRule(ABC):
    """Scores of outputs, from which the set of a row is all outputs with a score up to t.

    Parameters
    ----------
    learner : fitted learner
    score : str
        One of ``scores_known``.
    nonempty : bool
        Whether the most likely output is always in: its score is minus infinity.
    """

    scores_known: ClassVar[tuple[str, ...]] = ()

    def __init__(self, learner: Any, score: str, nonempty: bool) -> None:
        chosen = self.scores_known[0] if score == "auto" else score
        if chosen not in self.scores_known:
            raise ValueError(
                f"PredictionSets: score is one of {', '.join(self.scores_known)} for outputs of "
                f"kind {Description.of(learner.space_).output_kind!r}; got {score!r}."
            )
        self.learner, self.space, self.score, self.nonempty = (
            learner,
            learner.space_,
            chosen,
            nonempty,
        )

    @abstractmethod
    def read(self, X: Any) -> Any:
        """What is needed of inputs, computed once."""

    @abstractmethod
    def scores(self, known: Any, Z: Any) -> np.ndarray:
        """How strange canonical outputs are, one for each row of inputs; shape (n,)."""

    @abstractmethod
    def sets(self, known: Any, thresholds: np.ndarray, most: int, index: Any) -> Any:
        """The sets of all rows in the user's format."""

    @abstractmethod
    def counts(self, known: Any, thresholds: np.ndarray, most: int) -> np.ndarray:
        """How many outputs are in each set, ``most`` where there are more; shape (n,)."""
