# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of edges."""

from typing import ClassVar

from skstruct.spaces.indicator_sets.marginals import MarginalsOfIndicators


class MarginalsOfEdges(MarginalsOfIndicators):
    """Edges, whose probabilities are means of their indicators."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"edges": "hamming"}
