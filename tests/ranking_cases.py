# SPDX-License-Identifier: BSD-3-Clause
"""Small spaces of rankings within random constraints, and scores for them."""

import numpy as np
from hypothesis import strategies as st

from skstruct.spaces import Rankings


@st.composite
def limited_rankings(draw, embeddings, max_items=5):
    """A space with a top, known positions and known precedences, each of which may be missing.

    It may be empty.
    """
    d = draw(st.integers(1, max_items))
    top = draw(st.sampled_from([None, None, *range(1, d + 1)]))
    items = draw(st.permutations(range(d)))
    n_known = draw(st.sampled_from([0, 0, 1, 2]))
    positions = dict(zip(items[:n_known], draw(st.permutations(range(1, (top or d) + 1)))))
    pairs = [(items[i], items[j]) for i in range(d) for j in range(i + 1, d)]
    before = draw(st.lists(st.sampled_from(pairs), max_size=3)) if pairs else []
    before = before if draw(st.booleans()) else []
    space = Rankings(range(d), draw(st.sampled_from(embeddings)))
    return space.restrict(positions=positions, before=before, top=top)


def row_scores(space, scale, seed, n=3):
    width = space._scheme.width(len(space.items_))
    return scale * np.random.default_rng(seed).standard_normal((n, width))
