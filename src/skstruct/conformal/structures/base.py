# SPDX-License-Identifier: BSD-3-Clause
"""What a structure tells conformal methods: its parts, what is asserted of them, and how it reads.

A prediction asserts something of its parts: that a label is there, which symbol is at a position,
which of two items comes first. Every assertion has a score, and is made at thresholds below it,
so that predictions grow as the threshold falls.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from skstruct.spaces import Description
from skstruct.tolerances import OUTPUT_RANGE

Moves = Literal["possible", "certain", "both"]  # what a threshold moves


@dataclass(frozen=True)
class Claims:
    """What is asserted of the parts of n rows, and whether that is right.

    Attributes
    ----------
    scores : array of shape (n, m)
        Part j of row i is asserted at thresholds below; minus infinity where never.
    right : bool array of shape (n, m)
    costs : array of shape (n, m)
        Of each part; a row sums to 1, or to 0 where nothing is known of its truth.
    true : array of shape (n,)
        Costs of all parts that could rightly be asserted.
    """

    scores: np.ndarray
    right: np.ndarray
    costs: np.ndarray
    true: np.ndarray

    def rows(self, numbers: np.ndarray) -> "Claims":
        """Those of some rows."""
        parts = (self.scores, self.right, self.costs, self.true)
        return Claims(*(part[numbers] for part in parts))

    @property
    def losses(self) -> np.ndarray:
        """Costs of the parts where the assertion is wrong; shape (n, m)."""
        return np.where(self.right, 0.0, self.costs)


class Structure(ABC):
    """Parts of the outputs of a space; a child for each kind of output."""

    asserts_absence: ClassVar[bool] = False  # whether parts are also asserted not to be there

    def __init__(self, space: Any) -> None:
        self.space = space

    @abstractmethod
    def probabilities(self, marginals: Any) -> np.ndarray:
        """Probabilities as ``predict_marginals`` gives them, checked."""

    def read(self, marginals: Any) -> np.ndarray:
        """Scores of parts: the probabilities, or what keeps predictions in the structure."""
        return self.probabilities(marginals)

    @abstractmethod
    def confidence(self, P: np.ndarray) -> np.ndarray:
        """Scores of what would be asserted of each part; shape (n, m), minus infinity for none."""

    @abstractmethod
    def claims(self, P: np.ndarray, Z: np.ndarray, weights: Any, both: bool) -> Claims:
        """What is asserted at falling thresholds, against the truth.

        Parameters
        ----------
        P : array from :meth:`read`
        Z : canonical outputs
        weights : None, str, array or dict
            Costs of the parts.
        both : bool
            Whether parts are asserted to be absent too, where the structure has that.
        """

    @abstractmethod
    def misses(self, P: np.ndarray, Z: np.ndarray, weights: Any) -> Claims:
        """True parts, which fall out of what is possible at thresholds below their scores."""

    @abstractmethod
    def masks(
        self, P: np.ndarray, thresholds: np.ndarray, moves: Moves
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is certain and what is possible, as masks; thresholds of shape (n,)."""

    @abstractmethod
    def write(
        self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray, index: Any
    ) -> tuple[Any, Any]:
        """Both masks in the user's format."""

    @abstractmethod
    def decided(self, P: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Which parts something is asserted of; bool (n, ...) as the user counts parts."""

    def open_share(self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray) -> float:
        """The share of all parts that are possible and not certain."""
        return float(np.mean(possible & ~certain)) if P.size else 0.0

    def check_unweighted(self, weights: Any) -> None:
        if weights is not None:
            kind = Description.of(self.space).output_kind
            raise ValueError(
                f"weights are costs of labels; outputs of kind {kind!r} have "
                "none. Leave weights=None."
            )


def check_probabilities(P: np.ndarray, what: str) -> np.ndarray:
    """Probabilities within 0 and 1, rounding clipped; an error names the first that is not.

    NaN is accepted where a child pads with it, and nowhere else: children ask before.
    """
    bad = np.argwhere((P < -OUTPUT_RANGE) | (P > 1 + OUTPUT_RANGE))
    if len(bad):
        row, *place = bad[0].tolist()
        raise ValueError(
            f"predict_marginals: row {row}, {what} {place} is {P[tuple(bad[0])]:g}; probabilities "
            "are from 0 to 1."
        )
    return P.clip(0.0, 1.0)


def shared(costs: np.ndarray) -> np.ndarray:
    """Costs of the parts of each row as shares of their sum; rows of zeros stay."""
    sums = costs.sum(axis=1, keepdims=True)
    return np.divide(costs, sums, out=np.zeros_like(costs), where=sums > 0)
