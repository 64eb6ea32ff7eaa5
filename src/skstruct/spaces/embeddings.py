# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings that outputs have beside that of their space: views, and what these are views of."""

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.facets import Facet, Place, loaded


class Embeddings(Facet):
    r"""A set of outputs under the :math:`\psi` that a loss asks for.

    Examples
    --------
    >>> from skstruct.spaces import Embeddings, LabelSets
    >>> space = LabelSets(["bread", "milk"])
    >>> by_size = Embeddings.of(space).view("sized indicators")
    >>> by_size.embed(np.array([[0, 1]])).toarray()
    array([[0., 0., 1., 0., 0.]])
    >>> Embeddings.of(by_size).whole is space
    True
    """

    __slots__ = ()
    own: ClassVar[Sequence[str]] = ()  # embeddings that a copy of the space has by their name
    lists: ClassVar[Place] = "skstruct.spaces.base:ListedOutputs"  # the views that list outputs
    squared: ClassVar[Sequence[str]] = ()  # with an entry for every pair of columns of an output

    @property
    def whole(self) -> Any:
        """The set of outputs that a view is a view of; the space itself where it is none."""
        return self.space

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        """This set of outputs with the embedding that a loss asks for.

        Parameters
        ----------
        name : str
        outputs : array
            Outputs in canonical form that a view must know, such as those of training.
        candidates : array
            Those that a listing view may predict; None for all it knows.
        """
        space = self.space
        if name == space.embedding:
            return space
        if name in self.own:
            view = copy.copy(space)
            view.embedding = name
            return view
        if name == "outputs" and outputs is not None and np.ndim(outputs) == 2:
            return self.listed(outputs, candidates)
        if name in ("weights", "squares"):
            raise ValueError(f"This is a loss of quantities, which {type(space).__name__} has not.")
        raise ValueError(
            f"{type(space).__name__} embeds its outputs by {space.embedding}; "
            f"the loss asks for {name}."
        )

    def listed(self, outputs: np.ndarray, candidates: np.ndarray | None) -> Any:
        """A view with a coordinate for each output of a list."""
        return loaded(self.lists)(self.space, outputs, candidates)

    def bytes_of(self, outputs: np.ndarray, embedding: str) -> int:
        """Roughly the bytes of psi of canonical outputs, under the embedding of a loss."""
        squares = len(outputs) * outputs.shape[-1] ** 2 if embedding in self.squared else 0
        return 8 * (outputs.size + squares)


class EmbeddingsOfViews(Embeddings):
    """Those of the space that a view is a view of."""

    __slots__ = ()

    @property
    def whole(self) -> Any:
        return self.space.space

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name == self.space.embedding:
            return self.space
        return Embeddings.of(self.whole).view(name, outputs, candidates)


def whole_of(space: Any) -> Any:
    """The set of outputs that a view is a view of; the space itself where it is none."""
    return Embeddings.of(space).whole
