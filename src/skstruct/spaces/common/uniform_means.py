# SPDX-License-Identifier: BSD-3-Clause
"""Mean of psi over the outputs of a space, by the list of them, by counting, or by a sample."""

from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.spaces.contracts import Countable, Samplable
from skstruct.spaces.embeddings import whole_of

FEW, DRAWN = 200, 200  # outputs that are listed, and those of a sample


def mean_of_outputs(space: Any, counted: bool = True) -> np.ndarray:
    """Mean of psi over all outputs, which are the same for all rows; shape (d,).

    Parameters
    ----------
    space : space or view of one
    counted : bool, default=True
        Whether a closed form may be asked for.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> mean_of_outputs(LabelSets(["a", "b"]).restrict(include=["a"]))
    array([1. , 0.5])
    """
    whole = whole_of(space)
    listed = whole.all_outputs(FEW)
    if listed is not None and len(listed):
        return _mean(space, listed)
    if counted and whole is space and isinstance(space, Countable):
        return np.asarray(space.mean_embedding(), dtype=np.float64).ravel()
    if isinstance(whole, Samplable):
        return _mean(space, whole.sample(DRAWN, np.random.default_rng(0)))
    raise ValueError(
        f"{type(whole).__name__} neither counts nor samples what is left: give OneOf([...]) with "
        "the outputs that may be true."
    )


def _mean(space: Any, outputs: np.ndarray) -> np.ndarray:
    return dense(space.embed(outputs)).mean(axis=0)
