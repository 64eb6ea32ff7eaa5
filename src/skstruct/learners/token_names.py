# SPDX-License-Identifier: BSD-3-Clause
"""Tokens that are lists of the names of the features they have."""

from __future__ import annotations

from itertools import chain, repeat

import numpy as np
from scipy import sparse


class NameVocabulary:
    """Indicators of feature names; names that were not seen in ``fit`` are ignored.

    Reads tens of millions of names in seconds: no loop in Python touches them.

    Examples
    --------
    >>> X = [[["word=the", "short"], ["word=cat"]], [["short"]]]
    >>> NameVocabulary().fit(X).transform(X).toarray()
    array([[1., 1., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """

    def fit(self, X):
        names = dict.fromkeys(chain.from_iterable(chain.from_iterable(X)))  # in order, once
        self.columns_ = dict(zip(names, range(len(names))))
        return self

    def transform(self, X) -> sparse.csr_array:
        """Indicators of the tokens of all sequences; shape (n_tokens, n_names)."""
        tokens = list(chain.from_iterable(X))
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
        names = chain.from_iterable(tokens)
        column = np.fromiter(map(self.columns_.get, names, repeat(-1)), np.int32, int(sizes.sum()))
        known = column >= 0
        before = np.concatenate([[0], np.cumsum(known)])
        starts = before[np.concatenate([[0], np.cumsum(sizes)])]
        shape = len(tokens), len(self.columns_)
        matrix = sparse.csr_array((np.ones(int(starts[-1])), column[known], starts), shape)
        matrix.sum_duplicates()  # a name that is given twice counts once
        matrix.data[:] = 1.0
        return matrix


def are_names(X) -> bool:
    """Whether every token is a list, tuple or set of texts."""
    kinds = (list, tuple, set, frozenset)
    return all(isinstance(token, kinds) for x in X for token in x) and all(
        isinstance(name, str) for name in chain.from_iterable(chain.from_iterable(X))
    )
