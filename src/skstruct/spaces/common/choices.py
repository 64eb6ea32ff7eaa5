# SPDX-License-Identifier: BSD-3-Clause
"""Rows that may be one of a few outputs each: as the user writes them, and as what is decoded."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct._arrays.rows import dense
from skstruct.saving import savable
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.solving import Solving


class OneOf:
    """One of these outputs is true; which one is not known.

    Stands in the place of an output in ``Y``, among others that are known.

    Parameters
    ----------
    outputs : sequence of outputs
        In the format of the other rows; repeated ones count once.

    Examples
    --------
    >>> from skstruct.spaces import Known, Rankings
    >>> Y = [["tea", "milk", "rum"], OneOf([["rum", "tea", "milk"], ["rum", "milk", "tea"]])]
    >>> space = Rankings()
    >>> partial = Known.of(space).read(Y)
    >>> partial.complete
    array([ True, False])
    >>> space.restore(partial.allowed.rows([1]).enumerate()).tolist()
    [['rum', 'tea', 'milk'], ['rum', 'milk', 'tea']]
    """

    def __init__(self, outputs: Iterable[Any]) -> None:
        if isinstance(outputs, (str, bytes)) or not hasattr(outputs, "__iter__"):
            raise ValueError(f"OneOf takes a list of outputs; got {outputs!r}.")
        self.outputs = list(outputs)
        if not self.outputs:
            raise ValueError("OneOf needs at least one output; got none.")

    def __len__(self) -> int:
        return len(self.outputs)

    def __repr__(self) -> str:
        return f"OneOf({self.outputs!r})"


@savable
class ListedChoices:
    """For every row a list of outputs of a space, one of which is right.

    What a space that is narrowed row by row offers to decoders, for lists.

    Parameters
    ----------
    space : fitted space, or a view of it
    listed : array of shape (m, ...)
        All lists, one after the other, in canonical form.
    starts : int array of shape (n + 1,)
        Where the list of each row begins, and the end of the last one.
    """

    _saved_arguments = ("space", "listed", "starts")

    def __init__(self, space: Any, listed: np.ndarray, starts: np.ndarray) -> None:
        self.space, self.listed, self.starts = space, listed, np.asarray(starts, np.int64)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def rows(self, index: Any) -> Self:
        """The lists of some rows, by their numbers."""
        chosen = np.atleast_1d(np.arange(len(self))[index])
        sizes = np.diff(self.starts)[chosen]
        at = [np.arange(self.starts[i], self.starts[i + 1]) for i in chosen]
        places = np.concatenate([np.empty(0, np.int64), *at])
        other = copy.copy(self)
        other.listed, other.starts = self.listed[places], np.append(0, np.cumsum(sizes))
        return other

    def embed(self, Z: np.ndarray) -> Any:
        return self.space.embed(Z)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each output is on the list of its row; shape (n,)."""
        Z = np.asarray(Z)
        same = self.listed == np.repeat(Z, np.diff(self.starts), axis=0)
        same = same.reshape(len(same), -1).all(axis=1)
        return np.logical_or.reduceat(same, self.starts[:-1])

    def enumerate(self, limit: int | None = None) -> np.ndarray:
        """The outputs of all lists, one after the other."""
        return self.listed

    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over the outputs of all lists: of one row, take ``rows([i])`` first."""
        return dense(self.embed(self.listed)).mean(axis=0)

    def uniform_means(self, n: int) -> np.ndarray:
        """Mean of psi over the list of each row; shape (n, d)."""
        psi = dense(self.embed(self.listed))
        sums = np.add.reduceat(psi, self.starts[:-1], axis=0)
        return np.asarray(sums / np.diff(self.starts)[:, None])

    @property
    def _owner(self) -> np.ndarray:
        """The row of each output that is listed; shape (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def least(self, values: np.ndarray) -> Decoded:
        """The best output of each list, given the cost of each that is listed; shape (m,)."""
        order = np.lexsort((np.arange(len(values)), values, self._owner))
        best = order[self.starts[:-1]]
        return Decoded(self.listed[best], values[best], values[best])

    def argmin(self, costs: np.ndarray) -> Decoded:
        """The output of least cost on the list of each row."""
        psi = dense(self.embed(self.listed))
        costs = check_costs(costs, psi.shape[1], used_by="OneOf")
        if len(costs) != len(self):
            raise ValueError(f"There are lists for {len(self)} rows; got costs of {len(costs)}.")
        return self.least(np.einsum("ij,ij->i", costs[self._owner], psi))

    def minimize(self, curves: Any) -> Decoded:
        """The same for numbers that cost a curve each; see :mod:`~.curves`."""
        values = curves.rows(self._owner).at(np.asarray(self.listed, dtype=np.float64))
        return self.least(values.sum(axis=1))


@savable
class RowChoices:
    """Rows of several kinds: narrowed spaces for some of them, lists for others.

    Parameters
    ----------
    parts : list of narrowed spaces and lists
        Each for its rows, in order.
    numbers : list of int arrays
        The rows of each part; together 0, ..., n - 1.
    """

    _saved_arguments = ("parts", "numbers")

    def __init__(self, parts: list[Any], numbers: list[np.ndarray]) -> None:
        self.parts, self.numbers = parts, numbers

    def __len__(self) -> int:
        return sum(map(len, self.numbers))

    def rows(self, index: Any) -> RowChoices:
        """The same of some rows, by their numbers."""
        chosen = np.atleast_1d(np.arange(len(self))[index])
        parts, numbers = [], []
        for rows, part in zip(self.numbers, self.parts):
            place = np.full(len(self), -1)
            place[rows] = np.arange(len(rows))
            here = np.flatnonzero(place[chosen] >= 0)
            if len(here):
                parts.append(part.rows(place[chosen[here]]))
                numbers.append(here)
        return RowChoices(parts, numbers)

    def embed(self, Z: np.ndarray) -> Any:
        return self.parts[0].embed(Z)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each output is allowed in its row; shape (n,)."""
        inside = np.empty(len(self), bool)
        for rows, part in zip(self.numbers, self.parts):
            inside[rows] = part.contains(np.asarray(Z)[rows])
        return inside

    def _only(self) -> Any:
        """The part of a single row."""
        if len(self) != 1:
            raise ValueError("This differs from row to row; take rows([i]) of it first.")
        return self.parts[0]

    def size(self) -> int:
        return int(self._only().size())

    def enumerate(self, limit: int | None = None) -> Any:
        part = self._only()
        return part.enumerate() if limit is None else part.enumerate(limit)

    def mean_embedding(self) -> Any:
        """Mean of psi over what is allowed in a single row."""
        return self._only().mean_embedding()

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the output of least cost among those that are allowed."""
        found = [(rows, part.argmin(costs[rows])) for rows, part in zip(self.numbers, self.parts)]
        values, bounds = np.empty((2, len(costs)))
        for rows, decoded in found:
            values[rows], bounds[rows] = decoded.values, decoded.bounds
        outputs = joined([(rows, decoded.outputs) for rows, decoded in found], len(costs))
        return Decoded(outputs, values, bounds)


def joined(parts: list[tuple[np.ndarray, np.ndarray]], n: int) -> np.ndarray:
    """Outputs of n rows, from those of some rows each; sequences are padded with -1."""
    arrays = [np.asarray(Z) for _, Z in parts]
    width = max((Z.shape[1:] for Z in arrays), default=())
    outputs = np.full((n, *width), -1, dtype=np.result_type(*arrays))
    for (rows, _), Z in zip(parts, arrays):
        if width:
            outputs[rows, : Z.shape[1]] = Z
        else:
            outputs[rows] = Z
    return outputs


class SolvingOfRows(Solving):
    """Rows of several kinds, which are all discrete or none is."""

    __slots__ = ()

    @property
    def discrete(self) -> bool:
        return Solving.of(self.space.parts[0]).discrete


Solving.at(RowChoices, SolvingOfRows)


class EmbeddingsOfLists(Embeddings):
    """The same lists in another embedding of their space."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        other = copy.copy(self.space)
        other.space = Embeddings.of(other.space).view(name, outputs, candidates)
        return other


class EmbeddingsOfRows(Embeddings):
    """Of all kinds of rows the same embedding."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        parts = [Embeddings.of(p).view(name, outputs, candidates) for p in self.space.parts]
        return RowChoices(parts, self.space.numbers)


Embeddings.at(ListedChoices, EmbeddingsOfLists)
Embeddings.at(RowChoices, EmbeddingsOfRows)
