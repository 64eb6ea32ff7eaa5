# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that are known in part: how a structure reads them, and what they tell of others."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct._arrays.foreign import read_in_memory
from skstruct.facets import Facet
from skstruct.spaces.common.choices import ListedChoices, RowChoices
from skstruct.spaces.common.narrowing import naming_all
from skstruct.spaces.common.reading_choices import read_choices
from skstruct.spaces.embeddings import Embeddings, whole_of
from skstruct.spaces.partial import PartialOutputs, are_choices, are_partial, check_some_known

READERS = ("read", "has_gaps", "masked")


class Known(Facet):
    r"""Outputs of a space of which only some parts are known.

    What is known of row i allows the outputs :math:`S_i \subseteq \mathcal{Y}`; a row that is known
    as a whole allows one. Every space reads rows that are :class:`~skstruct.spaces.OneOf` several
    outputs, or a dictionary with arguments of ``restrict``. A structure whose outputs have parts
    that may be missing one by one brings ``read``, and ``targets`` for embeddings whose columns
    are known one by one.

    Parameters
    ----------
    space : space
        ``read`` fits it, as ``space.fit`` does.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.spaces import Known, LabelSets
    >>> space = LabelSets(["cat", "dog"])
    >>> partial = Known.of(space).read(np.array([[1, np.nan], [0, 1]]))
    >>> partial.known
    array([[ True, False],
           [ True,  True]])
    >>> space.restore(partial.allowed.rows([0]).enumerate()).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        read_in_memory(cls, READERS)

    # ------------------------------------------------------------- reading
    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """Outputs of which some parts may be missing, once what was left open is learned from them.

        Parameters
        ----------
        Y : outputs with None, NaN or NA where a part is not known, or a masked array
        known : bool array of the shape of Y, default=None
            Parts that are known, where Y does not say so itself.

        Returns
        -------
        partial : PartialOutputs
            Its ``allowed`` is the space, narrowed row by row to the outputs that agree.

        Notes
        -----
        A row may also be :class:`~skstruct.spaces.OneOf` several outputs, a dictionary with
        arguments of ``restrict`` that the output is known to obey, or None.
        """
        if known is not None and not are_choices(Y):
            raise ValueError(
                f"{type(self.space).__name__} does not read outputs of which parts are missing; "
                "leave out the rows that have missing parts."
            )
        return read_choices(self.space, Y, self._read_whole, known)

    def _read_whole(self, Y: Any) -> PartialOutputs:
        """Outputs of which no part may be missing."""
        Z = self.space.fit_validate(Y)
        known = np.ones((len(Z), 1), bool)
        return PartialOutputs(Z, known, known)

    def has_gaps(self, Y: Any) -> bool:
        """Whether parts of these outputs are missing in a form that ``read`` reads."""
        return are_partial(Y) if self.answers("read") else are_choices(Y)

    def read_gaps(self, Y: Any, known: Any = None) -> PartialOutputs | None:
        """``read`` where some outputs leave something open; None, and nothing is learned or read,
        where none does.
        """
        if known is None and not self.has_gaps(Y):
            return None
        found = self.read(Y, known)
        if found.by_parts and found.observed.all():
            return None
        if found.by_parts and len(found.known):
            names = getattr(self.space, "labels_", ())
            check_some_known(found.known, names, type(self.space).__name__)
        return found

    def read_further(self, Y: Any, known: Any = None) -> PartialOutputs:
        """``read`` of a fitted space, which learns nothing and keeps its names."""
        return Known.of(naming_all(self.space)).read(Y, known)

    def masked(self, Y: Any, known: Any) -> Any:
        """Y without what is not known, where that is an output, too; None where it is none."""
        return None

    # ------------------------------------------------------------- what is known of psi
    def targets(self, known: np.ndarray) -> np.ndarray | None:
        """Which columns of psi were observed, given which parts of the outputs were.

        Whether a column is known must follow from *what* was looked at, not from what was seen:
        else the rows that know it are no fair sample.

        Parameters
        ----------
        known : bool array of shape (n, d)

        Returns
        -------
        bool array of shape (n, width of psi), or None
            None where only outputs that are known as a whole have an embedding.
        """
        return None

    def columns(self, known: np.ndarray, width: int) -> np.ndarray:
        """``targets``, or all and nothing of rows where only whole outputs have an embedding; bool
        array of shape (n, width).
        """
        found = self.targets(known)
        if found is None:
            return np.repeat(np.asarray(known.all(axis=1, keepdims=True)), width, axis=1)
        return found

    def where_known(self, marginals: Any, known: np.ndarray) -> np.ndarray:
        """Marginals of true outputs, in any shape (n, ...), NaN where parts are not known."""
        found = np.asarray(marginals, dtype=np.float64)
        seen = self.columns(known, int(np.prod(found.shape[1:])))
        return np.where(seen.reshape(found.shape), found, np.nan)

    def filled(self, means: np.ndarray, partial: PartialOutputs) -> np.ndarray | None:
        """Means of psi given, beside the inputs, what is known of each output.

        Parameters
        ----------
        means : array of shape (n, width of psi)
            Estimates given the inputs alone.
        partial : PartialOutputs of n rows

        Returns
        -------
        array of shape (n, width of psi), or None
            None where one part of an output says nothing of another, given the inputs.
        """
        return None

    @property
    def estimates_targets(self) -> bool:
        """Whether the targets of outputs have the mean of psi, and are not psi of the outputs."""
        return False

    # ------------------------------------------------------------- what is left open
    def agreeing(self, partial: PartialOutputs) -> Any:
        """The space with its constraints, narrowed row by row to what is known of outputs.

        As ``partial.allowed``, which may leave constraints behind: outputs of training need not be
        within those of predictions, but to have a probability they must.
        """
        return partial.allowed

    def are_complete(self, Z: np.ndarray) -> np.ndarray:
        """Which outputs of training stand for themselves alone, not for several; shape (n,)."""
        return np.ones(len(Z), bool)

    def limits(self, partial: PartialOutputs) -> tuple[np.ndarray, np.ndarray]:
        """Numbers between which every coordinate of the outputs lies that agree with what is known.

        Limits that were learned do not bind other outputs.

        Returns
        -------
        low, high : arrays of shape (n, d)
        """
        self.refuse("limits of numbers that are not known")

    def in_parts(self, n: int) -> Iterator[tuple[np.ndarray, Any]]:
        """Numbers of rows that are decoded together, of n, and the space for these."""
        yield np.arange(n), self.space

    def seen_by(self, view: Any) -> Any:
        """The space, which may be narrowed, with the embedding of a view of it."""
        if whole_of(view) is not view:
            return view._over(self.space)
        return Embeddings.of(self.space).view(view.embedding)

    def within_range(self, outputs: np.ndarray) -> Any:
        """The space, with the range of some outputs in place of limits that are infinite."""
        return self.space


read_in_memory(Known, READERS)


class KnownOfViews(Known):
    """Outputs of the whole space, read by it."""

    __slots__ = ()

    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        return Known.of(whole_of(self.space)).read(Y, known)


class KnownOfLists(Known):
    """A list of outputs for each row, in the place of a space that is narrowed."""

    __slots__ = ()

    def seen_by(self, view: Any) -> ListedChoices:
        return ListedChoices(view, self.space.listed, self.space.starts)


class KnownOfRows(Known):
    """Rows of several kinds: narrowed spaces for some, lists for others."""

    __slots__ = ()

    def in_parts(self, n: int) -> Iterator[tuple[np.ndarray, Any]]:
        yield from zip(self.space.numbers, self.space.parts)


Known.at(ListedChoices, KnownOfLists)
Known.at(RowChoices, KnownOfRows)
