# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings of quantities."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.embeddings import Embeddings


class EmbeddingsOfQuantities(Embeddings):
    """Coordinates, or coordinates and their squares."""

    __slots__ = ()
    own: ClassVar[Sequence[str]] = ("coordinates", "squares")

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name == "weights":  # the loss works with the weights of training outputs
            return self.space
        return super().view(name, outputs, candidates)


class EmbeddingsOfSimplices(EmbeddingsOfQuantities):
    """Roots too, on which losses of distributions are bilinear."""

    __slots__ = ()
    own = ("coordinates", "squares", "roots")
