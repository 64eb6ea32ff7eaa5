# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of relations."""

from typing import ClassVar

from skstruct.spaces.edge_sets.marginals import MarginalsOfEdges


class MarginalsOfRelations(MarginalsOfEdges):
    """Pairs of items, of which the first is before the second."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"pairs": "hamming"}
