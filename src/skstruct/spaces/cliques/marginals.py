# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the nodes of cliques."""

from typing import Any

from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.marginals import MarginalsOfIndicators


class MarginalsOfCliques(MarginalsOfIndicators):
    """Nodes: means of pairs tell nothing of single ones."""

    __slots__ = ()

    def parts(self) -> tuple[str, ...]:
        return ()

    def view(self, parts: str | None = None) -> Any:
        return Embeddings.of(self.space).view("indicators")
