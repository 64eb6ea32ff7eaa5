# SPDX-License-Identifier: BSD-3-Clause
"""Inference: distributions of outputs with scores, and local moves of Markov chains."""

from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError, NoFacetError, UndecidableError
from skstruct.facets import Facet
from skstruct.spaces.common.listing import check_width
from skstruct.spaces.constraints import check_n_rows, differs_by_row
from skstruct.spaces.solvers.distributions import (
    Distribution,
    ListedDistribution,
    StackedDistributions,
)
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.uniform import Uniform

MOST_LISTED = 20_000  # outputs that are listed


class Inference(Facet):
    r"""Distributions :math:`p(y) \propto \exp \langle u, \psi(y) \rangle` over the outputs.

    Examples
    --------
    >>> from skstruct.spaces import Inference, LabelSets
    >>> inference = Inference.of(LabelSets(["sun", "rain"], max_size=1))
    >>> inference.distribution([[0.0, 0.0]]).marginals().round(3)
    array([[0.333, 0.333]])
    """

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        """The distribution of each row, where known exactly.

        Parameters
        ----------
        scores : array u of shape (n, d)

        Returns
        -------
        distribution : :class:`~skstruct.spaces.solvers.distributions.Distribution` or None
            Here for outputs that are few enough to be listed.
        """
        return listed_distribution(self.space, self.checked(scores))

    def exact(self, scores: Any) -> Distribution:
        """``distribution`` for who cannot do without: an error where it is not known."""
        found = self.distribution(scores)
        if found is None:
            self.refuse("exact distribution of these scores")
        return found

    def proposals(self) -> Proposals | None:
        """Local moves of Markov chains, :class:`~.proposals.Proposals`, or None:
        nothing is known of how outputs are within reach of each other.
        """
        return None

    def checked(self, scores: Any, width: int | None = None) -> Any:
        """Finite scores (n, d), where d may be known; a single row may come without the axis."""
        return self.space._checked_scores(scores, width)


class OwnDistribution(Inference):
    """Distributions that the space computes itself, by what it keeps for counting."""

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        found: Distribution | None = self.space.distribution(scores)
        return found


class OwnInference(OwnDistribution):
    """Moves that the space makes itself as well."""

    __slots__ = ()

    def proposals(self) -> Proposals | None:
        found: Proposals | None = self.space.proposals()
        return found


def listed_distribution(space: Any, scores: np.ndarray) -> Distribution | None:
    """The distribution by a list of all outputs; None where there is no list, or too long a one.

    Outputs are not counted first, which can take far longer than to list the first of them.
    """
    if differs_by_row(space):
        check_n_rows(space.constraints_, len(scores), type(space).__name__)
        return _row_by_row(space, scores)
    try:
        outputs = Uniform.of(space).enumerate(MOST_LISTED)
    except (NoFacetError, UndecidableError):
        return None
    if len(outputs) > MOST_LISTED:
        return None
    if not len(outputs):
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.")
    psi = space.embed(outputs)
    check_width(scores, psi.shape[1], space)
    return ListedDistribution(outputs, psi, scores)


def _row_by_row(space: Any, scores: np.ndarray) -> Distribution | None:
    """The distributions of spaces that differ; None as soon as one of them has none."""
    distributions = []
    for i in range(len(scores)):
        distributions.append(Inference.of(space.rows([i])).distribution(scores[i : i + 1]))
        if distributions[-1] is None:
            return None
    return StackedDistributions(distributions) if distributions else None
