# SPDX-License-Identifier: BSD-3-Clause
"""How many symbols of a sequence are wrong, and how many neighbours."""

from __future__ import annotations

import copy
from numbers import Real

import numpy as np

from skstruct.losses.base import BaseLoss, same_width


class SequenceHamming(BaseLoss):
    r"""Wrong symbols, and wrong pairs of neighbours if they matter.

    .. math:: \ell(z, y) = \sum_t 1[z_t \ne y_t] + w\, \Bigl(\tfrac12 |B(z)| + \tfrac12 |B(y)|
              - |B(z) \cap B(y)|\Bigr)

    with :math:`B(z)` the set of placed bigrams :math:`(t, z_t, z_{t+1})`. For sequences of one
    length the second term is the number of places where the bigrams differ. The shorter of two
    sequences is padded at its end: every symbol that has no counterpart is wrong.

    The first term alone is decided position by position, both together by the Viterbi
    recursion. ``loss="hamming"`` on :class:`~skstruct.spaces.Sequences` is this one without
    bigrams.

    Parameters
    ----------
    bigrams : float, default=0.0
        w, what a wrong bigram costs in wrong symbols. Predictions then prefer bigrams that
        are likely together over symbols that are likely one by one.

    Examples
    --------
    >>> import numpy as np
    >>> SequenceHamming()([[2, 0, 1]], [[2, 1, -1]])  # -1 is no symbol
    array([2.])
    >>> SequenceHamming(bigrams=1.0)([[2, 0, 1]], [[2, 0, 3]])
    array([2.])
    """

    embedding = "positions"

    def __init__(self, bigrams=0.0):
        self.bigrams = bigrams

    def _check(self):
        if not isinstance(self.bigrams, Real) or not 0 <= self.bigrams < np.inf:
            raise ValueError(
                f"SequenceHamming: bigrams is a number of at least 0; got {self.bigrams!r}."
            )

    def embedding_on(self, space):
        self._check()
        if not hasattr(space, "symbols_"):
            raise ValueError(
                f"SequenceHamming compares sequences of symbols; {type(space).__name__} has none."
            )
        return "bigrams" if self.bigrams else "positions"

    def bind(self, space):
        bound = copy.copy(self)
        bound.n_symbols_, bound.length_ = len(space.symbols_), space.length_
        return bound

    def __call__(self, Y_pred, Y_true):
        P, Y = same_width(Y_pred, Y_true)
        wrong = (P != Y).sum(axis=1).astype(np.float64)
        if self.bigrams:
            in_P, in_Y = (P[:, 1:] >= 0), (Y[:, 1:] >= 0)
            common = in_P & in_Y & (P[:, 1:] == Y[:, 1:]) & (P[:, :-1] == Y[:, :-1])
            lengths = in_P.sum(axis=1) + in_Y.sum(axis=1)
            wrong += self.bigrams * (0.5 * lengths - common.sum(axis=1))
        return wrong

    def cost(self, g, total):
        n, places = len(g), self.length_ * self.n_symbols_
        at = g[:, :places].reshape(n, self.length_, self.n_symbols_)
        # A symbol is wrong where another was, a pad where any was.
        symbols = total[:, :, None] - at - at.sum(axis=2, keepdims=True)
        return np.hstack([symbols.reshape(n, places), self.bigrams * (0.5 * total - g[:, places:])])

    def offset(self, g, total):
        places = self.length_ * self.n_symbols_
        return g[:, :places].sum(axis=1) + 0.5 * self.bigrams * g[:, places:].sum(axis=1)
