# SPDX-License-Identifier: BSD-3-Clause
"""Small spaces of all kinds that have a distribution, and their outputs with embeddings."""

import numpy as np

from skstruct.spaces import (
    Classes,
    Cycles,
    Hierarchy,
    LabelSets,
    Ordinal,
    PairwiseLabels,
    Rankings,
    Sequences,
    SpanningTrees,
)

SPACES = [
    LabelSets(range(3)),
    LabelSets(range(4), min_size=1, max_size=2),
    Classes(["x", "y", "z"]).fit(["x", "y", "z"]),
    Ordinal(["low", "mid", "high"]).fit(["low"]),
    Hierarchy([(0, 1), (0, 2), (2, 3)]),
    Rankings(range(3), "pairs"),
    Rankings(range(4), "positions"),
    Sequences("ab", 3, "bigrams"),
    SpanningTrees(range(4)),
    PairwiseLabels([(0, 1), (1, 2)], range(3)),
    Cycles(range(4)),
]


def dense(psi):
    """Embeddings as an array of floats."""
    return psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi, dtype=float)


def listed(space):
    """All outputs in canonical form, and their embeddings."""
    outputs = space.enumerate()
    return outputs, dense(space.embed(outputs))
