# SPDX-License-Identifier: BSD-3-Clause
"""Inference: distributions of outputs with scores, and local moves of Markov chains."""

from typing import Any

from skstruct.facets import Facet
from skstruct.spaces.common import listing
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals


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
        return listing.listed_distribution(self.space, self.checked(scores))

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
