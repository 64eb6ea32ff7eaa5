# SPDX-License-Identifier: BSD-3-Clause
"""Tokens that are lists of the names of the features they have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.features import TokenFeatures
from skstruct.features.token_columns import are_words
from skstruct.saving import check_numbered, require, savable, whole_numbers


@savable
class NameVocabulary:
    """Indicators of feature names; names that were not seen in ``fit`` are ignored.

    Reads tens of millions of names in seconds: no loop in Python touches them.

    Examples
    --------
    >>> X = [[["word=the", "short"], ["word=cat"]], [["short"]]]
    >>> NameVocabulary().fit(X).transform(X).toarray()
    array([[1., 1., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """

    def _check_saved(self) -> None:
        check_numbered(self.columns_)

    def fit(self, X: Any) -> Self:
        names = dict.fromkeys(chain.from_iterable(chain.from_iterable(X)))  # in order, once
        self.columns_ = dict(zip(names, range(len(names))))
        return self

    def transform(self, X: Any) -> sparse.csr_array:
        """Indicators of the tokens of all sequences; shape (n_tokens, n_names)."""
        tokens = list(chain.from_iterable(X))
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
        names = chain.from_iterable(tokens)
        column = np.fromiter(map(self.columns_.get, names, repeat(-1)), np.int32, int(sizes.sum()))
        known = column >= 0
        before = np.concatenate([[0], np.cumsum(known)])
        starts = before[np.concatenate([[0], np.cumsum(sizes)])]
        shape = len(tokens), len(self.columns_)
        matrix = sparse.csr_array((np.ones(int(starts[-1])), column[known], starts), shape)
        matrix.sum_duplicates()  # a name that is given twice counts once
        matrix.data[:] = 1.0
        return matrix


def are_names(X: Any) -> bool:
    """Whether every token is a list, tuple or set of texts."""
    kinds = (list, tuple, set, frozenset)
    return all(isinstance(token, kinds) for x in X for token in x) and all(
        isinstance(name, str) for name in chain.from_iterable(chain.from_iterable(X))
    )


# Inputs with one row of features per position: arrays, or dictionaries per token.


@savable
@dataclass(frozen=True, eq=False)
class TokenBatch:
    """The positions of several sequences, one after the other.

    Attributes
    ----------
    tokens : array or CSR of shape (n_tokens, n_features)
    starts : int array of shape (n_sequences + 1,)
        Sequence i owns the rows starts[i] to starts[i + 1].
    """

    tokens: Any
    starts: np.ndarray

    def _check_saved(self) -> None:
        starts = whole_numbers(self.starts, 0, self.tokens.shape[0] + 1, "starts of sequences")
        runs_on = starts.ndim == 1 and bool((np.diff(starts) >= 0).all())
        require(runs_on, "sequences that run backwards")

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.starts) - 1, self.tokens.shape[1])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: slice) -> "TokenBatch":
        first, last, step = rows.indices(len(self))
        assert step == 1
        starts = self.starts[first : last + 1]
        return TokenBatch(self.tokens[starts[0] : starts[-1]], starts - starts[0])

    @property
    def sequence(self) -> np.ndarray:
        """The sequence of every token; shape (n_tokens,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def are_tokens(X: Any) -> bool:
    """Whether every row of X is itself a list of rows: a sequence of tokens."""
    if isinstance(X, np.ndarray) and X.ndim != 1:
        return X.ndim == 3 and X.dtype != object
    if sparse.issparse(X) or is_pandas(X, "DataFrame") or not hasattr(X, "__len__"):
        return False
    first = next((x for x in X if not hasattr(x, "__len__") or len_of(x)), None)
    if isinstance(first, np.ndarray) and first.dtype != object:
        return first.ndim == 2
    if sparse.issparse(first) or is_pandas(first, "DataFrame"):
        return True
    if not isinstance(first, (list, tuple, np.ndarray)):
        return False
    return isinstance(first[0], (Mapping, list, tuple, set, frozenset, np.ndarray))


def len_of(x: Any) -> int:
    """Number of positions of a sequence."""
    return x.shape[0] if getattr(x, "shape", ()) else len(x)


@savable
class TokenReader:
    """Stacks sequences of tokens; learns the names of features that are given by name.

    Words without features get those of :class:`~skstruct.TokenFeatures`.
    """

    # TokenFeatures, NameVocabulary, NamedFeatures, or None where features have no names
    names_: Any
    columns_: list[Any] | None
    n_features_: int

    def fit(self, X: Any) -> Self:
        for i, x in enumerate(X):
            _check_sequence(i, x)
        self.names_ = self.columns_ = None
        frames = [x for x in X if is_pandas(x, "DataFrame")]
        if frames:
            self.columns_ = list(frames[0].columns)
        if are_words(X):
            self.names_ = TokenFeatures().fit(X)
        elif any(_by_name(x) for x in X):
            self.names_ = NameVocabulary() if are_names(X) else NamedFeatures()
            self.names_.fit(X)
        return self

    def read(self, X: Any) -> TokenBatch:
        if hasattr(X, "__len__") and len_of(X) == 0:
            raise ValueError("X has no sequences.")
        empty = hasattr(X, "__len__") and all(hasattr(x, "__len__") and not len_of(x) for x in X)
        words = isinstance(self.names_, TokenFeatures) and are_words(X)
        if not are_tokens(X) and not words and not empty:
            raise ValueError(
                "The model was fitted to sequences of tokens: every row of X is an array with a "
                f"row per position, or a list of dictionaries; got {_described(X)}."
            )
        for i, x in enumerate(X):
            _check_sequence(i, x)
        starts = np.concatenate([[0], np.cumsum([len_of(x) for x in X])]).astype(np.int64)
        if starts[-1] == 0 and hasattr(self, "n_features_"):
            return TokenBatch(np.zeros((0, self.n_features_)), starts)
        if self.names_ is not None:
            tokens = self._named(X)
        else:
            tokens = _stacked([self._ordered(i, x) for i, x in enumerate(X)])
        if not hasattr(self, "n_features_"):
            self.n_features_ = tokens.shape[1]
        return TokenBatch(tokens, starts)

    def _named(self, X: Any) -> Any:
        if isinstance(self.names_, TokenFeatures):
            return self.names_.stacked(X)[0]
        if isinstance(self.names_, NameVocabulary) and not are_names(X):
            raise ValueError(
                "The tokens of training were lists of names of features; those of X are not all."
            )
        return self.names_.transform(X)

    def _ordered(self, i: int, x: Any) -> Any:
        """The columns of a frame in the order of training."""
        if self.columns_ is None or not is_pandas(x, "DataFrame"):
            return x
        if list(x.columns) == self.columns_:
            return x
        if set(x.columns) != set(self.columns_) or len(x.columns) != len(self.columns_):
            raise ValueError(
                f"X[{i}] has the columns {list(x.columns)[:5]}; those of training are "
                f"{self.columns_[:5]}."
            )
        return x[self.columns_]


def _check_sequence(i: int, x: Any) -> None:
    if isinstance(x, str) or not (hasattr(x, "__len__") or sparse.issparse(x)):
        raise ValueError(f"X[{i}] is {x!r}; a sequence has a row of features per position.")


def _stacked(X: Any) -> Any:
    """All rows of all sequences below each other."""
    arrays = [x if sparse.issparse(x) else _matrix(i, x) for i, x in enumerate(X)]
    widths = [x.shape[1] for x in arrays if x.shape[0]]
    for i, x in enumerate(arrays):
        if x.shape[0] and x.shape[1] != widths[0]:
            raise ValueError(
                f"X[{i}] has {x.shape[1]} features per position; the first sequence has "
                f"{widths[0]}."
            )
    arrays = [x for x in arrays if x.shape[0]]
    if not arrays:
        raise ValueError("All sequences of X are empty.")
    if any(sparse.issparse(x) for x in arrays):
        return _stacked_sparse(arrays)
    together = _as_one(arrays)
    return np.vstack(arrays) if together is None else together


def _stacked_sparse(arrays: list[Any]) -> Any:
    """CSR below each other: three concatenations, where scipy goes through coordinates."""
    rows = [sparse.csr_array(x) for x in arrays]
    sizes = np.cumsum([0, *(len(x.data) for x in rows)])
    bounds = [x.indptr[1:] + size for x, size in zip(rows, sizes)]
    parts = [x.data for x in rows], [x.indices for x in rows], [np.zeros(1, sizes.dtype), *bounds]
    data, indices, indptr = map(np.concatenate, parts)
    shape = len(indptr) - 1, rows[0].shape[1]
    return sparse.csr_array((data, indices, indptr), shape=shape)


def _as_one(arrays: list[np.ndarray]) -> np.ndarray | None:
    """The array that sequences are the rows of, one after the other, if memory has them so."""
    first = arrays[0]
    whole = first.base
    if not isinstance(whole, np.ndarray) or not whole.flags.c_contiguous:
        return None
    if whole.dtype != first.dtype or whole.size % first.shape[1]:
        return None
    begin = at = first.ctypes.data
    for x in arrays:
        if x.base is not whole or not x.flags.c_contiguous or x.ctypes.data != at:
            return None
        at += x.nbytes
    table, width = whole.reshape(-1, first.shape[1]), first.shape[1] * first.itemsize
    row, rest = divmod(begin - whole.ctypes.data, width)
    return None if rest else table[row : row + (at - begin) // width]


def _matrix(i: int, x: np.ndarray) -> np.ndarray:
    array = np.asarray(x, dtype=np.float64) if len_of(x) else np.zeros((0, 0))
    if array.ndim != 2:
        raise ValueError(
            f"X[{i}] has shape {array.shape}; a sequence is an array (n_positions, n_features)."
        )
    return array


def _by_name(x: Any) -> bool:
    """Whether the tokens of a sequence are dictionaries or collections of feature names."""
    if sparse.issparse(x) or is_pandas(x, "DataFrame"):
        return False
    if isinstance(x, np.ndarray) and x.dtype != object:
        return False
    return any(
        isinstance(token, Mapping)
        or (
            isinstance(token, (list, tuple, set, frozenset))
            and any(isinstance(name, str) for name in token)
        )
        for token in x
    )


@savable
class NamedFeatures:
    """Features of dictionaries: numbers as they are, texts as indicators."""

    def fit(self, X: Any) -> Self:
        from sklearn.feature_extraction import DictVectorizer

        self.vectorizer_ = DictVectorizer(sort=False).fit(_dictionaries(X))
        return self

    def transform(self, X: Any) -> Any:
        return self.vectorizer_.transform(_dictionaries(X))


def _dictionaries(X: Any) -> Iterator[Mapping[Any, Any]]:
    for i, x in enumerate(X):
        for t, token in enumerate(x):
            if isinstance(token, Mapping):
                yield token
            elif isinstance(token, (list, tuple, set, frozenset)):
                yield dict.fromkeys(token, 1.0)
            else:
                raise ValueError(
                    f"X[{i}][{t}] is {token!r}; a token is a dictionary of features, or a list "
                    "of the names of those it has."
                )


def _described(X: Any) -> str:
    return f"an array of shape {X.shape}" if hasattr(X, "shape") else f"a {type(X).__name__}"
