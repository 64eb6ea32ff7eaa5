# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of which only some parts are known, as all spaces read them and tell of them."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import clone

from skstruct._arrays.foreign import read_in_memory
from skstruct.spaces.partial import PartialOutputs, are_choices, are_partial


@read_in_memory
class KnownParts:
    """What a space says of outputs that are known in part; most spaces say little.

    A child that reads such outputs brings ``read_partial``, and ``known_targets`` for embeddings
    whose columns are known one by one.
    """

    reads_partial: ClassVar[bool] = False  # has a ``read_partial`` of its own
    constraints_: Any
    embedding: str
    fit_validate: Callable[[Any], Any]
    rows: Callable[[Any], Any]
    with_embedding: Callable[..., Any]
    _keep_names: Callable[[], None]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.reads_partial = cls.read_partial is not KnownParts.read_partial

    def read_partial(self, Y: Any, known: Any = None) -> PartialOutputs:
        """Outputs of which some parts may be missing, once what was left open is learned from them.

        Parameters
        ----------
        Y : outputs with None, NaN or NA where a part is not known, or a masked array
        known : bool array of the shape of Y, default=None
            Parts that are known, where Y does not say so itself.

        Notes
        -----
        A row may also be :class:`~skstruct.spaces.OneOf` several outputs, a dictionary with
        arguments of ``restrict`` that the output is known to obey, or None.
        """
        from skstruct.spaces.common.reading_choices import read_choices

        if known is not None and not are_choices(Y):
            raise ValueError(
                f"{type(self).__name__} does not read outputs of which parts are missing; leave "
                "out the rows that have missing parts."
            )
        return read_choices(self, Y, self._read_whole, known)

    def _read_whole(self, Y: Any) -> PartialOutputs:
        """Outputs of which no part may be missing."""
        Z = self.fit_validate(Y)
        known = np.ones((len(Z), 1), bool)
        return PartialOutputs(Z, known, known)

    def leaves_gaps(self, Y: Any) -> bool:
        """Whether parts of these outputs are missing in a form that ``read_partial`` reads."""
        return self.leaves_open or (are_partial(Y) if self.reads_partial else are_choices(Y))

    def with_gaps(self, Y: Any, known: Any) -> Any:
        """Y without what is not known, where that is an output, too; None where it is none."""
        return None

    def agreeing(self, partial: PartialOutputs) -> Any:
        """The space with its constraints, narrowed row by row to what is known of outputs.

        As ``partial.allowed``, which may leave constraints behind: outputs of training need not be
        within those of predictions, but to have a probability they must.
        """
        return partial.allowed

    @property
    def leaves_open(self) -> bool:
        """Whether outputs leave something open even where no cell of them is missing."""
        return False

    def known_targets(self, known: np.ndarray) -> np.ndarray | None:
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

    def known_columns(self, known: np.ndarray, width: int) -> np.ndarray:
        """``known_targets``, or all and nothing of rows where only whole outputs have an
        embedding; bool array of shape (n, width).
        """
        found = self.known_targets(known)
        if found is None:
            return np.repeat(np.asarray(known.all(axis=1, keepdims=True)), width, axis=1)
        return found

    def where_known(self, marginals: Any, known: np.ndarray) -> np.ndarray:
        """Marginals of true outputs, in any shape (n, ...), NaN where parts are not known."""
        found = np.asarray(marginals, dtype=np.float64)
        seen = self.known_columns(known, int(np.prod(found.shape[1:])))
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
        """Whether ``targets`` have the mean of psi, and are not psi of the outputs given."""
        return False

    def in_parts(self, n: int) -> Iterator[tuple[np.ndarray, Any]]:
        """Numbers of rows that are decoded together, of n, and the space for these."""
        yield np.arange(n), self

    def as_seen_by(self, view: Any) -> Any:
        """This space, which may be narrowed, with the embedding of a view of it."""
        if view.whole is not view:
            return view._over(self)
        return self.with_embedding(view.embedding)

    def within_range(self, outputs: np.ndarray) -> Any:
        """This space, with the range of some outputs in place of limits that are infinite."""
        return self

    def uniform_means(self, n: int) -> np.ndarray:
        """Mean of psi over all outputs that each of n rows allows; shape (n, d).

        Of a sample of them, where these are many and cannot be counted.
        """
        from skstruct.spaces.common.uniform_means import mean_of_outputs

        if getattr(self.constraints_, "n_rows", None) is None:
            return np.repeat(mean_of_outputs(self)[None], n, axis=0)
        return np.array([mean_of_outputs(self.rows([i])) for i in range(n)])

    def with_learned_names(self) -> Self:
        """The same space, not fitted, with names that it has learned as parameters: fitted to some
        of the rows, it knows the names of all.
        """
        return cast(Self, clone(self.naming_all()))

    def naming_all(self) -> Self:
        """A copy whose names are given, so that further outputs cannot bring others."""
        named = copy.copy(self)
        named._keep_names()
        return named
