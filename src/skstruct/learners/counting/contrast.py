# SPDX-License-Identifier: BSD-3-Clause
"""What the truth is contrasted with in structured ridge regression."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skstruct.spaces.base import Countable

SEEN = 1000  # outputs whose embeddings are compared


def contrasted_with(contrast, space, outputs):
    """The space whose moments are taken, and whose outputs the truth is to be ahead of.

    Parameters
    ----------
    contrast : "auto", "space", "relaxation" or space
    space : fitted space
        What may be predicted.
    outputs : outputs of training in the user's form
    """
    name = type(space).__name__
    if hasattr(contrast, "embedding"):
        found = _fitted(contrast, space, outputs)
    elif isinstance(contrast, str) and contrast == "auto":
        found = space.counted
    elif isinstance(contrast, str) and contrast == "space":
        found = space
    elif isinstance(contrast, str) and contrast == "relaxation":
        found = space.relaxation()
        if found is None:
            raise ValueError(
                f"contrast='relaxation': {name} knows no larger space; give one, or 'space'."
            )
    else:
        raise ValueError(f"contrast is 'auto', 'space', 'relaxation' or a space; got {contrast!r}.")
    if not isinstance(found, Countable):
        raise ValueError(
            f"CountingRidge needs the moments of the space, which {type(found).__name__} has not: "
            "use ConditionalRiskMinimizer or StructuredSVM, or give a larger space as contrast."
        )
    return found


def _fitted(contrast, space, outputs):
    """A space that was given; scores are shared, so that coordinates must mean the same in both."""
    name, given = type(space).__name__, type(contrast).__name__
    if contrast.embedding != space.embedding:
        raise ValueError(
            f"contrast: {name} embeds its outputs by {space.embedding}, and {given} by "
            f"{contrast.embedding}; give a space with the embedding of {name}."
        )
    found, some = clone(contrast).fit(outputs), outputs[:SEEN]
    ours, theirs = (_dense(one.embed(one.validate(some))) for one in (space, found))
    if ours.shape != theirs.shape or not np.array_equal(ours, theirs):
        raise ValueError(
            f"contrast: {given} embeds the outputs differently from {name}; give it the same "
            "labels in the same order."
        )
    return found


def _dense(psi) -> np.ndarray:
    return psi.toarray() if sparse.issparse(psi) else np.asarray(psi)
