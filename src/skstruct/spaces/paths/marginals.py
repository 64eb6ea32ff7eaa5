# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the arcs of paths."""

from typing import ClassVar

from skstruct.spaces.marginals import Marginals


class MarginalsOfArcs(Marginals):
    """Arcs, whose probabilities are means of their indicators."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"arcs": "hamming"}
