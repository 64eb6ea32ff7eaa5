# SPDX-License-Identifier: BSD-3-Clause
"""Vectors of words, from a mapping or a function that the user has."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skstruct.features.token_columns import coded, numbered


def check_vectors(vectors: Any) -> None:
    """Raise unless these are a mapping or a function from words to arrays, or None."""
    if not (vectors is None or callable(vectors) or _is_mapping(vectors)):
        raise ValueError(
            f"vectors is a mapping or a function from words to arrays; got {vectors!r}."
        )


def _is_mapping(vectors: Any) -> bool:
    """Also of libraries whose word vectors are no Mapping, but look like one."""
    return isinstance(vectors, Mapping) or hasattr(vectors, "__getitem__")


def vector_of(vectors: Any, word: str) -> np.ndarray | None:
    """The vector of a word, as written or in small letters; None where it has none.

    >>> vector_of({"cat": [1.0, 2.0]}, "Cat")
    array([1., 2.])
    """
    if not _is_mapping(vectors):
        found = vectors(word)
    else:
        known = next((form for form in (word, word.lower()) if form in vectors), None)
        found = None if known is None else vectors[known]
    return None if found is None else np.asarray(found, dtype=np.float64)


def vector_width(vectors: Any, words: list[Any]) -> int:
    """How many numbers the vector of the first word has that has one."""
    for word in numbered(words):
        vector = vector_of(vectors, word)
        if vector is not None:
            return len(vector)
    raise ValueError("vectors: no word of X has one.")


def word_vectors(vectors: Any, words: list[Any], width: int) -> np.ndarray:
    """Vectors of all words, zeros where there is none; shape (n_tokens, width)."""
    number = numbered(words)
    table = np.zeros((len(number) + 1, width))  # the last one for no word
    for word, k in number.items():
        vector = vector_of(vectors, word)
        if vector is None:
            continue
        if vector.shape != (width,) or not np.isfinite(vector).all():
            raise ValueError(
                f"vectors: {word!r} has one of shape {vector.shape}, or it is not finite; that of "
                f"the first word of training has {width} numbers."
            )
        table[k] = vector
    return table[coded(words, number)]
