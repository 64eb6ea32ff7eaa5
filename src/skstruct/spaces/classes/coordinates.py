# SPDX-License-Identifier: BSD-3-Clause
"""A coordinate for each class."""

import copy
from typing import Any

import numpy as np

from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import Embeddings


class CoordinatesOfClasses(Coordinates):
    """Classes are the same where their numbers are."""

    __slots__ = ()

    @property
    def one_class(self) -> bool:
        return True

    def key(self) -> bytes | None:
        return bytes(self.space.listed_.tobytes())


class EmbeddingsOfClasses(Embeddings):
    """A coordinate for each class, of which some may be predicted."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if candidates is None or name != self.space.embedding:
            return super().view(name, outputs)
        narrowed = copy.copy(self.space)
        narrowed.allowed_ = np.isin(self.space.listed_, candidates)
        return narrowed


class EmbeddingsOfCandidates(EmbeddingsOfClasses):
    """A list of which only candidates may be predicted."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        view = super().view(name, outputs, candidates)
        if view is not self.space:
            view.allowed_ = view.allowed_[: self.space.n_candidates_]
        return view
