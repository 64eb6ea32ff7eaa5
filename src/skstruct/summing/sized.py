# SPDX-License-Identifier: BSD-3-Clause
"""Laws of label sets and closed sets with limits on their size."""

from __future__ import annotations

import numpy as np

from skstruct.summing.base import Law


class SizedLaw(Law):
    r"""Sets of smallest..largest labels, as paths: O(d largest) for every row.

    A path takes a label and goes on at its first child, or skips it and goes on at its next
    sibling; its state is how many labels it took. With :math:`Z_t(s)` the sum over all that may
    follow position t,

    .. math:: Z_t(s) = Z_{\mathrm{skip}(t)}(s) + e^{u_t} Z_{\mathrm{take}(t)}(s + 1),

    in logarithms. Without a hierarchy these are the elementary symmetric polynomials of
    :math:`e^{u}`. The law is that of a Markov chain, whose chances are quotients of these sums.

    Parameters
    ----------
    scores : C-contiguous array u of shape (n, d)
    low, high : bool arrays of shape (1 or n, d)
        Labels that must and that may be in, closed as for :class:`.forests.ForestLaw`.
    steps : tuple of int64 arrays (order, take, skip)
        The label at each position, and the positions where a path goes on.
    smallest, largest : int

    Examples
    --------
    >>> steps = np.arange(3), np.arange(1, 4), np.arange(1, 4)
    >>> masks = np.zeros((1, 3), bool), np.ones((1, 3), bool)
    >>> law = SizedLaw(np.log([[1.0, 2.0, 3.0]]), *masks, steps, 2, 2)
    >>> np.exp(law.log_partition).round(12), (11 * law.marginals()).round(12)
    (array([11.]), array([[5., 8., 9.]]))
    """

    def __init__(self, scores, low, high, steps, smallest: int, largest: int):
        from skstruct.summing._compiled_sized import sized_sums

        d = scores.shape[1]
        largest = min(largest, d)
        # Once there are enough, and none can be too many, more need not be told apart.
        saturated = largest == d and smallest <= d
        top = max(min(smallest, d) if saturated else largest, 0)
        masks = np.ascontiguousarray(low), np.ascontiguousarray(high)
        steps = tuple(np.ascontiguousarray(array, dtype=np.int64) for array in steps)
        self.given = scores, *masks, steps, smallest, top, saturated
        self.log_partition, self._chances = sized_sums(*self.given)

    def marginals(self):
        return self._chances.copy()

    def sample(self, n, rng):
        from skstruct.summing._compiled_sized import drawn_sized_sets

        return drawn_sized_sets(*self.given, n, rng)
