# SPDX-License-Identifier: BSD-3-Clause
"""Vectorizers of texts of scikit-learn in model files: how they are kept, and what is checked.

A vectorizer could read files, or run any expression on every text that comes: of a file from
elsewhere only those are made that do neither.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.saving import check_numbered, require

HOME = "sklearn.feature_extraction.text"
NAMES = "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer"
PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b", r"\w+", r"\S+")
LONGEST_NGRAM = 32
MOST_FEATURES = 2**24
CHOICES: dict[str, tuple[Any, ...]] = {
    "input": ("content",),
    "analyzer": ("word", "char", "char_wb"),
    "strip_accents": (None, "ascii", "unicode"),
    "preprocessor": (None,),
    "tokenizer": (None,),
    "token_pattern": PATTERNS,
    "norm": (None, "l1", "l2"),
}


def _state(vectorizer: Any) -> dict[Any, Any]:
    """Its attributes, without the id of an object in memory."""
    refused = _wrong_choice(vectorizer)
    if refused:
        known = CHOICES[refused.partition("=")[0]]
        raise ModelFileError(
            f"{type(vectorizer).__name__}: model files hold no vectorizer with {refused}, but "
            f"those with {', '.join(map(repr, known))}. Take one, or keep this model with pickle."
        )
    state = vectorizer.__getstate__()
    return {k: v for k, v in state.items() if k not in ("_sklearn_version", "_stop_words_id")}


def _wrong_choice(vectorizer: Any) -> str:
    """A parameter with a value that files may not have, or nothing."""
    for key, allowed in CHOICES.items():
        value = getattr(vectorizer, key, allowed[0])
        if not (value is None or isinstance(value, str)) or value not in allowed:
            return f"{key}={value!r:.60}"
    return ""


def _check_text(vectorizer: Any) -> None:
    require(not _wrong_choice(vectorizer), f"a vectorizer with {_wrong_choice(vectorizer)}")
    require(
        np.dtype(vectorizer.dtype).kind in "biuf", "a vectorizer to something else than numbers"
    )
    shortest, longest = vectorizer.ngram_range
    plain = type(shortest) is int and type(longest) is int
    require(plain and 1 <= shortest <= longest <= LONGEST_NGRAM, "n-grams of an odd length")
    stop = vectorizer.stop_words
    words = isinstance(stop, (list, tuple, set, frozenset)) and all(type(w) is str for w in stop)
    require(stop is None or stop == "english" or words, "stop words that are no words")
    if hasattr(vectorizer, "vocabulary_"):
        check_numbered(vectorizer.vocabulary_)


def _check_hashing(vectorizer: Any) -> None:
    _check_text(vectorizer)
    n = vectorizer.n_features
    require(type(n) is int and 1 <= n <= MOST_FEATURES, "a vectorizer of too many features")


def _check_tfidf(vectorizer: Any) -> None:
    from sklearn.feature_extraction.text import TfidfTransformer

    _check_text(vectorizer)
    require(type(vectorizer._tfidf) is TfidfTransformer, "weights of words by something else")
    weights = getattr(vectorizer._tfidf, "idf_", None)
    if weights is not None:
        require(len(weights) == len(vectorizer.vocabulary_), "weights of other words")


def _check_weights(transformer: Any) -> None:
    weights = getattr(transformer, "idf_", None)
    if weights is not None:
        plain = isinstance(weights, np.ndarray) and weights.dtype.kind == "f"
        require(plain and weights.ndim == 1, "weights of words that are no numbers")


TEXT_STATES: dict[str, Callable[[Any], dict[Any, Any]]] = {
    "sklearn.CountVectorizer": _state,
    "sklearn.HashingVectorizer": _state,
    "sklearn.TfidfVectorizer": _state,
}
TEXT_CHECKS: dict[str, Callable[..., Any]] = {
    "sklearn.CountVectorizer": _check_text,
    "sklearn.HashingVectorizer": _check_hashing,
    "sklearn.TfidfTransformer": _check_weights,
    "sklearn.TfidfVectorizer": _check_tfidf,
}
