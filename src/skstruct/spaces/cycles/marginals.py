# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the edges of cycles."""

from typing import Any

from skstruct.spaces.edge_sets.marginals import MarginalsOfEdges
from skstruct.spaces.embeddings import Embeddings


class MarginalsOfCycles(MarginalsOfEdges):
    """Edges; signed pairs have means, but no probabilities."""

    __slots__ = ()

    def parts(self) -> tuple[str, ...]:
        return () if self.space.embedding == "signed pairs" else super().parts()

    def view(self, parts: str | None = None) -> Any:
        return Embeddings.of(self.space).view("indicators")
