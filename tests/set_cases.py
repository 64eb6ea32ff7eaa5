# SPDX-License-Identifier: BSD-3-Clause
"""Random constraints on label sets and closed sets, and rows of scores, for distributions and
chains.
"""

import numpy as np
import pytest
from hypothesis import strategies as st

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference
from skstruct.testing import check_distribution

SCORES = st.floats(-4, 4, allow_nan=False).map(lambda score: round(score, 3))
EXTREME = st.sampled_from([0.0, 1.0, -1.0, 700.0, -700.0, 750.0, 1e5, -1e5, 1e5 + 1, 1e6, -1e6])


@st.composite
def rows_of(draw, n, d, scores=SCORES):
    """Scores of shape (n, d)."""
    return np.array(draw(st.lists(scores, min_size=n * d, max_size=n * d))).reshape(n, d)


@st.composite
def sibling_groups(draw, space):
    """Disjoint exclusive groups of siblings."""
    groups = {}
    for v in space.labels_:
        groups.setdefault((int(space.dag_.parent_of[v]), draw(st.integers(0, 1))), []).append(v)
    return [group for group in groups.values() if draw(st.booleans())]


@st.composite
def limited(draw, space, groups=None, sizes=True):
    """The space narrowed in the same way for all rows; it may be empty."""
    d = len(space.labels_)
    label = st.integers(0, d - 1)
    some = st.sets(label, max_size=1)
    constraints = {"include": draw(some), "exclude": draw(some)}
    if groups is not None:
        constraints["exclusive"] = draw(groups)
    if sizes and draw(st.booleans()):
        constraints["min_size"] = draw(st.integers(0, d))
        constraints["max_size"] = draw(st.integers(0, d))
    return space.restrict(**constraints)


def check_distribution_or_empty(space, scores, **options):
    """The distribution against the list of outputs, or the error that there is none."""
    if len(space.enumerate()):
        check_distribution(space, scores, **options)
        return
    with pytest.raises(InfeasibleError):
        Inference.of(space).distribution(scores)
