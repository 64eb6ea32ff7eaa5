# SPDX-License-Identifier: BSD-3-Clause
"""Tokens in the forms in which people have them, as columns: texts, numbers and vectors."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas

Columns = dict[str, list[Any]]  # values of all tokens by the name of their column


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of all sentences, one after the other.

    Attributes
    ----------
    columns : dict of lists of n_tokens values
    starts : int array of shape (n_sentences + 1,)
        Sentence i owns the tokens starts[i] to starts[i + 1].
    """

    columns: Columns
    starts: np.ndarray

    def place(self, t: int) -> str:
        """Where a token is in X."""
        i = int(np.searchsorted(self.starts, t, side="right")) - 1
        return f"X[{i}][{t - self.starts[i]}]"


def is_numeric(sentence: Any) -> bool:
    """Whether a sentence comes as rows of numbers, which are features already."""
    if sparse.issparse(sentence) or is_pandas(sentence, "DataFrame"):
        return True
    return isinstance(sentence, np.ndarray) and sentence.ndim == 2 and sentence.dtype != object


def are_words(X: Any) -> bool:
    """Whether rows of X are lists of texts, as sentences are; empty ones among them.

    >>> are_words([["A", "word"], []]), are_words([[("A", "DT")]]), are_words(["A word"])
    (True, False, False)
    """
    if isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__len__") or hasattr(X, "columns"):
        return False
    if sparse.issparse(X) or getattr(X, "ndim", 1) != 1:
        return False
    sentences = [x for x in X if not isinstance(x, (list, tuple, np.ndarray)) or len(x)]
    kinds = (list, tuple, np.ndarray)
    return bool(sentences) and all(
        isinstance(x, kinds) and all(isinstance(word, str) for word in x) for x in sentences
    )


def read_tokens(X: Any, names: tuple[str, ...] | None = None) -> Tokens:
    """Words, tuples or dictionaries per token, by columns.

    Parameters
    ----------
    X : list of sentences
        Lists of words, of tuples (word, tag, ...), or of dictionaries.
    names : tuple of str, default=None
        The columns of training; further ones are left out. Those of the first token when None.
    """
    starts = np.cumsum([0, *(_length(i, x) for i, x in enumerate(X))])
    tokens = list(chain.from_iterable(X))
    wrap = Tokens({}, starts)
    if names is None:
        names = _names(tokens[0], wrap) if tokens else ("word",)
    if not tokens:
        return Tokens({name: [] for name in names}, starts)
    kinds = set(map(type, tokens))
    if all(issubclass(kind, str) for kind in kinds):
        columns: Iterable[Any] = [tokens]
        _check_width(1, names, wrap, 0)
    elif all(issubclass(kind, Mapping) for kind in kinds):
        columns = _of_dictionaries(tokens, names, wrap)
    elif all(issubclass(kind, (tuple, list)) for kind in kinds):
        columns = _of_tuples(tokens, names, wrap)
    else:
        raise _mixed(tokens, wrap)
    return Tokens({name: list(values) for name, values in zip(names, columns)}, starts)


def _length(i: int, x: Any) -> int:
    if isinstance(x, (str, bytes)) or not hasattr(x, "__len__"):
        raise ValueError(f"X[{i}] is {x!r}; a sentence is the list of its words.")
    return len(x)


def _names(token: Any, tokens: Tokens) -> tuple[str, ...]:
    if isinstance(token, Mapping):
        return tuple(map(str, token))
    if not isinstance(token, (str, tuple, list)):
        raise _unknown(token, tokens.place(0))
    n = 1 if isinstance(token, str) else len(token)
    return ("word", *(f"column{j}" for j in range(1, n)))[:n]


def _of_tuples(tokens: list[Any], names: tuple[str, ...], where: Tokens) -> Iterable[Any]:
    widths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    short = np.flatnonzero(widths < len(names))
    if len(short):
        _check_width(int(widths[short[0]]), names, where, int(short[0]))
    return zip(*tokens)  # as short as the shortest


def _of_dictionaries(tokens: list[Any], names: tuple[str, ...], where: Tokens) -> Iterable[Any]:
    for name in names:
        try:
            yield [token[name] for token in tokens]
        except KeyError:
            t = next(t for t, token in enumerate(tokens) if name not in token)
            raise ValueError(
                f"{where.place(t)} has no column {name!r}; its columns are "
                f"{', '.join(map(repr, list(tokens[t])[:5]))}."
            ) from None


def _check_width(n: int, names: tuple[str, ...], where: Tokens, t: int) -> None:
    if n < len(names):
        raise ValueError(
            f"{where.place(t)} has {n} columns; the first token of training has {len(names)}: "
            f"{', '.join(names[:5])}."
        )


def _unknown(token: Any, place: str) -> ValueError:
    return ValueError(
        f"{place} is {token!r}; a token is a word, a tuple (word, tag, ...) or a dictionary."
    )


def _mixed(tokens: list[Any], where: Tokens) -> ValueError:
    """The error of the first token that has not the form of the first one."""
    forms: tuple[Any, ...] = (str, Mapping, (tuple, list))
    form = next((form for form in forms if isinstance(tokens[0], form)), ())
    t = next(t for t, token in enumerate(tokens) if not isinstance(token, form))
    if not any(isinstance(tokens[t], form) for form in forms):
        return _unknown(tokens[t], where.place(t))
    return ValueError(
        f"{where.place(t)} is a {type(tokens[t]).__name__}, and X begins with a "
        f"{type(tokens[0]).__name__}; give all tokens in the same form."
    )


# Kinds of columns.


def kind_of(name: str, tokens: Tokens) -> str:
    """What a column holds by its first value: "text", "number" or "vector"."""
    values = tokens.columns[name]
    t = next((t for t, value in enumerate(values) if value is not None), None)
    if t is None or isinstance(values[t], str):
        return "text"
    if isinstance(values[t], (Number, np.number, np.bool_)):
        return "number"
    if np.ndim(values[t]) == 1:
        return "vector"
    raise ValueError(
        f"{tokens.place(t)}, column {name!r} is {values[t]!r}; a column holds texts, numbers or "
        "vectors."
    )


def check_texts(name: str, tokens: Tokens) -> list[str]:
    """Texts of a column, where None is none."""
    values = tokens.columns[name]
    if not all(kind is type(None) or issubclass(kind, str) for kind in set(map(type, values))):
        t = next(t for t, v in enumerate(values) if not isinstance(v, (str, type(None))))
        raise ValueError(
            f"{tokens.place(t)}, column {name!r} is {values[t]!r}; training had texts there."
        )
    return values


def numbers_of(name: str, tokens: Tokens, width: int) -> np.ndarray:
    """Numbers or vectors of a column, None as zeros; shape (n_tokens, width)."""
    values = tokens.columns[name]
    block = np.zeros((len(values), width))
    for t, value in enumerate(values):
        if value is None:
            continue
        row = np.ravel(value)
        if row.dtype.kind not in "biuf" or len(row) != width or not np.isfinite(row).all():
            what = "a finite number" if width == 1 else f"{width} finite numbers"
            raise ValueError(f"{tokens.place(t)}, column {name!r} is {value!r}; {what} is wanted.")
        block[t] = row
    return block


def numbered(values: Iterable[str | None]) -> dict[str, int]:
    """A number for every value but None, in the order in which they come.

    >>> numbered(["b", None, "a", "b"])
    {'b': 0, 'a': 1}
    """
    found = dict.fromkeys(value for value in values if value is not None)
    return dict(zip(found, range(len(found))))


def coded(values: Collection[str | None], number: dict[str, int]) -> np.ndarray:
    """Numbers of values, -1 for unknown ones; shape (n,)."""
    get: Callable[..., int] = number.get
    return np.fromiter(map(get, values, repeat(-1)), np.int64, len(values))
