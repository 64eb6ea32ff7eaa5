# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates of embeddings: how those of one are read off, or charged by, those of another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.facets import Facet
from skstruct.spaces.embeddings import Embeddings


class Coordinates(Facet):
    r"""What the coordinates of :math:`\psi` are, and how they are written in those of others.

    Examples
    --------
    >>> from skstruct.spaces import Coordinates, Embeddings, LabelSets
    >>> by_size = Embeddings.of(LabelSets(["bread", "milk"])).view("sized indicators")
    >>> Coordinates.of(by_size).lift(np.array([[1.0, 2.0]]), "indicators")
    array([[1., 1., 2., 2., 0.]])
    """

    __slots__ = ()

    def names(self) -> Sequence[Any]:
        """Names of the parts that indicators are of: ``labels_``, where a space has them, or their
        numbers.
        """
        space = self.space
        named = getattr(space, "labels_", None)
        return range(space.embed(space.validate([])).shape[1]) if named is None else named

    @property
    def is_list(self) -> bool:
        """Whether each stands for an output of a list, such as those of training."""
        return False

    @property
    def one_class(self) -> bool:
        """Whether an output is the number of a single coordinate, as a class is."""
        return False

    def offered(self, embedding: str) -> bool:
        """Whether the space has an embedding of this name."""
        return bool(embedding == self.space.embedding)

    @property
    def total(self) -> float | None:
        """What the coordinates of every output add up to; None where they do not add up."""
        return None

    def variances(self) -> np.ndarray | None:
        """Of the coordinates, over the outputs that were learned from; None where nobody knows."""
        return None

    def key(self) -> bytes | None:
        """What distinguishes embeddings of the same name, such as the outputs that are listed."""
        return None

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        r"""Costs of another embedding's coordinates as costs of the coordinates of this one.

        Every output has the same cost under both: for all z in the space,
        :math:`\langle \mathrm{lift}(c), \psi(z) \rangle = \langle c, \psi'(z) \rangle`. A loss that
        is bilinear in a small embedding is so charged in a larger one.

        Parameters
        ----------
        costs : array of shape (n, d')
        embedding : str
            What these are costs of; every space takes its own.

        Returns
        -------
        costs : array of shape (n, d)
        """
        if embedding == self.space.embedding:
            return costs
        raise ValueError(
            f"{type(self.space).__name__} embeds its outputs by {self.space.embedding}; got costs "
            f"of {embedding}, which cannot be written in these."
        )

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        r"""Mean embeddings of another kind, read off those of this space.

        The other way round from :meth:`lift`: a column of :math:`\psi'` that is also one of
        :math:`\psi` has the same mean in both.

        Parameters
        ----------
        means : array or sparse array of shape (n, d)
        embedding : str
            What is asked for; every space gives its own.

        Returns
        -------
        means : array of shape (n, d')
        """
        if embedding == self.space.embedding:
            return means
        raise ValueError(
            f"{type(self.space).__name__} embeds its outputs by {self.space.embedding}; means of "
            f"{embedding} cannot be read off these."
        )


class CoordinatesOfList(Coordinates):
    """A coordinate for each output of a list."""

    __slots__ = ()

    @property
    def is_list(self) -> bool:
        return True

    def key(self) -> bytes | None:
        return bytes(self.space.listed_.tobytes())

    def variances(self) -> np.ndarray | None:
        listed = np.asarray(self.space.listed_, dtype=np.float64)
        return listed.var(axis=0) if listed.ndim == 2 else None


class CoordinatesOfQuantities(Coordinates):
    """Rows of numbers."""

    __slots__ = ()

    def offered(self, embedding: str) -> bool:
        return embedding in Embeddings.of(self.space).own

    def variances(self) -> np.ndarray | None:
        return self.space.variance_


class CoordinatesOfShares(CoordinatesOfQuantities):
    """Amounts with a fixed total."""

    __slots__ = ()

    @property
    def total(self) -> float | None:
        return self.space.total


class CoordinatesOfListed(CoordinatesOfList):
    """Outputs of a space, each with a coordinate of its own."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of any embedding that the listed space has, for every output on the list."""
        view: Any = self.space
        if embedding == view.embedding:
            return costs
        psi = Embeddings.of(view.space).view(embedding).embed(view.listed_)
        costs = check_costs(costs, psi.shape[1], used_by=type(view).__name__)
        return costs @ psi.T
