# SPDX-License-Identifier: BSD-3-Clause
"""Sets of sequences over an alphabet: symbols, lengths, constraints, counts, samples, lists."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.spaces.base import CountedSpace, ListedOutputs
from skstruct.spaces.common.counting import LIMIT, check_few
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.entries import Entries, Symbols
from skstruct.spaces.known import Known
from skstruct.spaces.sequence_sets.chains.counting import ChainCounts
from skstruct.spaces.sequence_sets.constraints import (
    SequenceConstraints,
    read_forbidden,
    read_known,
    read_length,
)
from skstruct.spaces.sequence_sets.formats import (
    SequenceFormat,
    read_alphabet,
    read_sequences,
    sequence_lengths,
    widened,
)


class UniformSequences(CountedSpace):
    """Sequences within constraints: how many there are, samples and the list."""

    @property
    @abstractmethod
    def constraints_(self) -> SequenceConstraints:
        """What sequences must obey."""

    @property
    @abstractmethod
    def length_(self) -> int:
        """The longest length, T."""

    def _counts(self) -> ChainCounts:
        return count_sequences(self._one_row())

    def _some(self) -> ChainCounts:
        """Counts, where there is a sequence at all."""
        counts = self._counts()
        if counts.total == 0:
            raise InfeasibleError(f"{type(self).__name__}: no sequence meets the constraints.")
        return counts

    def size(self) -> int:
        """Exact number of sequences."""
        return self._counts().total

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All sequences in canonical form; shape (size, T)."""
        counts = self._counts()
        check_few(counts.total, limit, self, "sequences")
        return widened(counts.listed(), self.length_)

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` sequences drawn uniformly and independently; shape (n, T)."""
        drawn = self._some().sample(n, np.random.default_rng(rng))
        return widened(drawn, self.length_)


def count_sequences(constraints: SequenceConstraints) -> ChainCounts:
    """Counts of the sequences within constraints that are the same in every row."""
    q, longest = constraints.n_symbols, int(constraints.longest[0])
    allowed = np.ones((longest, q), bool)
    known, barred = constraints.known[0], constraints.forbidden[0]
    for t in np.flatnonzero(known[:longest] >= 0):
        allowed[t] = np.arange(q) == known[t]
    if longest:
        allowed[0] &= ~barred[q, :q]
    proposals = ~barred[:q, :q]
    return ChainCounts(
        allowed,
        None if proposals.all() else proposals,
        ends=~barred[:q, q],
        shortest=int(constraints.least_lengths()[0]),
    )


def given_lengths(length: Any, used_by: str) -> tuple[int | None, int | None]:
    """The shortest and the longest length that a space was given, None where it was not."""
    low, high = read_length(length, used_by)
    if len(low) > 1:
        raise ValueError(
            f"{used_by}: length is a number or a pair (shortest, longest); got {length!r}. "
            "Lengths row by row are for restrict(length=...)."
        )
    if high[0] == 0:
        raise ValueError(f"{used_by}: the longest length is at least 1; got 0.")
    shortest, longest = (int(bound[0]) if bound[0] >= 0 else None for bound in (low, high))
    return shortest, longest


class SequenceSet(UniformSequences):
    """All sequences of symbols, of one length or of several, whatever their embedding.

    A space of sequences has the parameters ``alphabet``, ``length`` and ``constraints``, and adds
    its embedding and decoder. Canonical outputs are int64 arrays (n, T) of symbol numbers,
    padded at the end with -1; T is the longest length, or more where an output is longer.
    """

    default_loss = "hamming"
    _named_by: ClassVar = {"alphabet": "symbols_"}
    _constraints_kind = SequenceConstraints
    _pairs_of = ("alphabet", "learned_symbols_")
    alphabet: Any
    length: Any
    constraints: SequenceConstraints | None

    # ------------------------------------------------------------- symbols and lengths
    @property
    def symbols_(self) -> tuple[Any, ...]:
        """The alphabet, in the order of the symbol numbers."""
        if "learned_symbols_" in self.__dict__:
            return self.learned_symbols_
        if self.alphabet is None:
            check_is_fitted(self, "learned_symbols_")
        return read_alphabet(self.alphabet, type(self).__name__)

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self.symbols_

    def _given_lengths(self) -> tuple[int | None, int | None]:
        return given_lengths(self.length, type(self).__name__)

    @property
    def lengths_(self) -> tuple[int, int]:
        """The shortest and the longest length, as given or as seen."""
        low, high = self._given_lengths()
        if low is not None and high is not None:
            return low, high
        check_is_fitted(self, "learned_lengths_")
        low = self.learned_lengths_[0] if low is None else low
        high = self.learned_lengths_[1] if high is None else high
        return low, max(low, high, 1)

    @property
    def length_(self) -> int:
        """The longest length, T."""
        return self.lengths_[1]

    # ------------------------------------------------------------- the user's format
    def fit(self, Y: Any) -> Self:
        """Learn what was left open: the alphabet, the lengths, and how outputs are written."""
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return widened(self._fit(Y), self.length_)

    def _fit(self, Y: Any) -> np.ndarray:
        used_by, (low, high) = type(self).__name__, self._given_lengths()
        symbols = None if self.alphabet is None else read_alphabet(self.alphabet, used_by)
        Z, symbols, format = read_sequences(Y, symbols, used_by=used_by)
        lengths = sequence_lengths(Z)
        self._check_lengths(lengths, low, high)
        self.learned_symbols_, self.format_ = symbols, format
        self.learned_lengths_ = int(lengths.min()), int(lengths.max())
        return Z

    def _check_lengths(self, lengths: np.ndarray, low: int | None, high: int | None) -> None:
        used_by = type(self).__name__
        empty = np.flatnonzero(lengths == 0)
        if len(empty) and low != 0:
            raise ValueError(
                f"{used_by}: Y[{empty[0]}] is empty. Where sequences may be empty, say so: "
                "length=(0, None)."
            )
        if low is not None and low == high:
            other = np.flatnonzero(lengths != low)
            if len(other):
                raise ValueError(
                    f"{used_by} expects sequences of {low} symbols; Y[{other[0]}] has "
                    f"{lengths[other[0]]}."
                )

    def validate(self, Y: Any) -> np.ndarray:
        """Canonical outputs, an int array of shape (n, T), wider where one is longer."""
        Z, _, _ = read_sequences(Y, self.symbols_, used_by=type(self).__name__)
        low, high = self._given_lengths()
        self._check_lengths(sequence_lengths(Z), self.lengths_[0] if low is None else low, high)
        return widened(Z, self.length_)

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        format = SequenceFormat("text" if isinstance(self.alphabet, str) else "list")
        return getattr(self, "format_", format).write(np.asarray(Z), self.symbols_, index)

    # ------------------------------------------------------------- constraints

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return (len(self.symbols_),)

    @property
    def constraints_(self) -> SequenceConstraints:
        """What predicted sequences must obey."""
        q = len(self.symbols_)
        constraints = SequenceConstraints.none(q) if self.constraints is None else self.constraints
        if constraints.n_symbols != q:
            raise ValueError(
                f"{type(self).__name__}: the constraints are those of {constraints.n_symbols} "
                f"symbols; there are {q}."
            )
        return constraints.within(*self.lengths_, given=self._given_lengths()[0] is not None)

    def restrict(
        self, *, length: ArrayLike | None = None, known: Any = None, forbidden: Any = None
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        length : int, pair (shortest, longest), or array with one int per row
            How long sequences are. May be shorter than any seen in ``fit``.
        known : {position: symbol}, one such mapping per row, or rows of symbols
            Known symbols, which are then there; positions count from 0. Rows of symbols
            have None where nothing is known.
        forbidden : list of pairs (a, b), or one such list per row
            Transitions that may not occur: b right after a. (None, a) is a sequence that
            begins with a, (a, None) one that ends with it.
        """
        used_by, symbols = type(self).__name__, self.symbols_
        low, high = read_length(length, used_by)
        if (np.maximum(low, high) > self.length_).any():
            raise ValueError(
                f"{used_by}: length is at most {self.length_}; got {max(low.max(), high.max())}."
            )
        constraints = (
            SequenceConstraints.none(len(symbols)) if self.constraints is None else self.constraints
        )
        at, pairs = (
            read_known(known, symbols, used_by), read_forbidden(forbidden, symbols, used_by)
        )  # fmt: skip
        return self._limited(constraints.narrow(low, high, at, pairs))

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is a sequence of this space, constraints included; shape (n,)."""
        Z = np.asarray(Z)
        self._check_outputs(Z, None, "symbol numbers of shape (n, T)", "iu")
        constraints, size = self.constraints_, sequence_lengths(Z)
        inside = np.arange(Z.shape[1]) < size[:, None]
        good: np.ndarray = np.all(np.where(inside, len(self.symbols_) > Z, Z == -1), axis=1)
        good[good] = (constraints if constraints.n_rows is None else constraints.rows(good)).allow(
            Z[good]
        )
        return good


@savable
class ListedSequences(ListedOutputs):
    """Listed sequences, whatever the width of the arrays they come in."""

    @property
    def symbols_(self) -> Any:
        return self.space.symbols_

    @property
    def length_(self) -> Any:
        return self.space.length_

    def embed(self, Z: np.ndarray) -> Any:
        width = self.listed_.shape[1]
        Z = widened(np.asarray(Z, dtype=np.int64), width)
        if Z.shape[1] == width:
            return super().embed(Z)
        fits = sequence_lengths(Z) <= width
        cut = np.where(fits[:, None], Z[:, :width], -2)  # -2: no sequence, hence not listed
        return super().embed(np.ascontiguousarray(cut))


EMBEDDINGS = ("positions", "bigrams")


Entries.at(SequenceSet, Symbols)
Entries.at(ListedSequences, Symbols)
Known.at(SequenceSet, "skstruct.spaces.sequence_sets.known:KnownOfSequenceSets")
Description.at(SequenceSet, "skstruct.spaces.sequence_sets.description:DescriptionOfSequences")
Embeddings.at(SequenceSet, "skstruct.spaces.sequence_sets.embeddings:EmbeddingsOfSequenceSets")
