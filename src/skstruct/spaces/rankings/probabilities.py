# SPDX-License-Identifier: BSD-3-Clause
"""Rankings as outcomes of exponential families: exact laws and local moves."""

from __future__ import annotations

from skstruct.decoding.orders import MOST_ITEMS
from skstruct.spaces.rankings.uniform import UniformRankings


class RandomRankings(UniformRankings):
    """Rankings within limits: their exact laws, and chains among them."""

    def law(self, scores):
        r"""The laws :math:`p(z) \propto \exp \langle u, \psi(z) \rangle`, exactly.

        By dynamic programming over all sets of items placed first, :math:`2^d d` steps for a
        row, within any limits: 12 items take less than 1 ms, 16 items some 10 ms. Taken up to
        20 items and :math:`n 2^d d \leq 2^{29}`: 10,000 rows of 12 items, 500 of 16. Beyond
        that by the list of rankings where limits leave few of them, and else None.

        Parameters
        ----------
        scores : array u of shape (n, width of the embedding)

        Returns
        -------
        law : :class:`~skstruct.summing.base.Law` or None

        Examples
        --------
        >>> import numpy as np
        >>> from skstruct.spaces import Rankings
        >>> law = Rankings(["tea", "milk"], "pairs").law([[np.log(2.0)]])
        >>> np.exp(law.log_partition).round(12), law.marginals().round(12)
        (array([2.5]), array([[0.6]]))
        """
        from skstruct.spaces.rankings.laws import ranking_law, summable

        d, limits = len(self.items_), self.limits_
        scores = self._checked_scores(scores, self._scheme.width(d))
        if summable(len(scores), d):
            return ranking_law(self, scores)
        uncounted = limits.has_before and d > MOST_ITEMS
        row_by_row = limits.n_rows is not None and d <= MOST_ITEMS  # as much work
        return None if uncounted or row_by_row else super().law(scores)

    def moves(self):
        """Local moves, :class:`~skstruct.walking.rankings.RankingMoves`, or None.

        Two items change places: any two, or neighbors where precedences are known. Known
        positions together with known precedences have none, nor have limits that differ from
        row to row.
        """
        from skstruct.walking.rankings import RankingMoves

        limits = self.limits_
        if limits.n_rows is not None or (limits.has_fixed and limits.has_before):
            return None
        before = limits.before[0] if limits.has_before else None
        return RankingMoves(self._scheme.family, limits.fixed[0], before=before, top=limits.top)
