# SPDX-License-Identifier: BSD-3-Clause
"""How large a loss may be, and what each position of a sequence costs: facets of losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from skstruct.facets import Facet
from skstruct.losses.deciding import OfLoss


class Levels(OfLoss, Facet):
    """The values that a loss may have.

    Examples
    --------
    >>> from skstruct.losses import Hamming, ZeroOne
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets(range(5))
    >>> Levels.of(Hamming().bind(space)).largest(space)
    5.0
    >>> Levels.of(Hamming()).all_or_nothing, Levels.of(ZeroOne()).all_or_nothing
    (False, True)
    """

    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        """The largest loss there may be between outputs of a space, or more; None if not known."""
        return None

    def steps(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        """Every loss is a multiple of the first number, and zero or at least the second.

        Zero says nothing. The second has an entry for each of the true ``outputs``; shape (n,).
        """
        return 0.0, np.zeros(len(outputs))

    @property
    def all_or_nothing(self) -> bool:
        """Whether it is either 0 or its largest value, the same for all outputs."""
        return False


class Tokens(OfLoss, Facet):
    """What the positions of sequences cost one by one, under losses that add up over them.

    Examples
    --------
    >>> from skstruct.losses import SequenceHamming, ZeroOne
    >>> Tokens.of(SequenceHamming()).add_up, Tokens.of(ZeroOne()).add_up
    (True, False)
    >>> Tokens.of(SequenceHamming()).costs(np.array([[0.75, 0.25]]), np.ones(1))
    (array([[-0.75, -0.25]]), array([1.]))
    """

    __slots__ = ()

    add_up = False  # whether the loss adds up over positions, bigrams included

    def costs(self, g: np.ndarray, total: Any) -> tuple[np.ndarray, Any]:
        """Costs of symbols where each position is known to have one, and what all have in common.

        Parameters
        ----------
        g : array of shape (n_tokens, q)
            Probabilities of the symbols, or estimates of them.
        total : array of shape (n_tokens,)
            The sum of the weights they come from.
        """
        self.refuse("costs of single positions")

    def largest_cost(self) -> float:
        """The most that one position costs, or more."""
        self.refuse("costs of single positions")


def weight_levels(weights: np.ndarray, outputs: np.ndarray) -> tuple[float, np.ndarray]:
    """Levels, as of :meth:`Levels.steps`, of a sum of some of the ``weights`` (d,)."""
    nothing = np.zeros(len(outputs))
    weights = weights[weights > 0]
    least = weights.min(initial=np.inf)
    if not np.isfinite(least):  # nothing costs anything
        return 0.0, nothing
    alike = bool((weights == least).all())
    return (float(least) if alike else 0.0), nothing + least
