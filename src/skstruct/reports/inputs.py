# SPDX-License-Identifier: BSD-3-Clause
"""What an input looks like: its most unusual features, or its tokens."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_pandas
from skstruct.inspection.drawing import written
from skstruct.reports.pages import number
from skstruct.reports.subject import row_of

MOST_FEATURES = 6
MOST_TOKENS = 40


def input_facts(subject, i: int) -> list[tuple[str, str]]:
    """Facts about one input, as names and values."""
    X = subject.X
    if hasattr(X, "shape") and len(X.shape) == 2:
        return [("unusual features", _unusual(subject, i))] if X.shape[1] else []
    words = _words(row_of(X, i))
    return [("input", words)] if words else []


def _unusual(subject, i) -> str:
    """Features farthest from their mean, in standard deviations of the rows of the report."""
    X = subject.X
    row = X.iloc[[i]] if is_pandas(X, "DataFrame") else X[[i]]
    row = row.toarray()[0] if sparse.issparse(row) else np.asarray(row)[0]
    try:
        row = row.astype(float)
    except (TypeError, ValueError):
        return ", ".join(written(value, 30) for value in row[:MOST_FEATURES])
    mean, deviation = moments(subject)
    far = np.where(deviation > 0, (row - mean) / np.where(deviation > 0, deviation, 1.0), 0.0)
    names = feature_names(subject, len(row))
    order = np.argsort(-np.abs(far), kind="stable")[:MOST_FEATURES]
    return ", ".join(f"{names[j]} = {number(row[j])} ({far[j]:+.1f} σ)" for j in order)


def moments(subject) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of the features, over the training rows if they are there."""
    X = subject.options.get("X_train")
    X = subject.X if X is None else X
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))
    X = np.asarray(X, dtype=float)
    return X.mean(axis=0), X.std(axis=0)


def feature_names(subject, p: int) -> list[str]:
    """Names of the features: given, known to the model, or numbers."""
    names = subject.options.get("feature_names")
    if names is None:
        names = getattr(subject.model, "feature_names_in_", None)
    if names is None or len(names) != p:
        return [f"feature {j + 1}" for j in range(p)]
    return [written(name, 40) for name in names]


def _words(x) -> str:
    """A text, features by name, or a sequence of tokens, where tokens have words."""
    if isinstance(x, str):
        return written(x, 300)
    if isinstance(x, Mapping):
        shown = list(x.items())[:MOST_TOKENS]
        more = " …" if len(x) > MOST_TOKENS else ""
        return ", ".join(f"{written(name, 30)} = {_token(value)}" for name, value in shown) + more
    if not isinstance(x, (list, tuple)) or not len(x):
        shape = getattr(x, "shape", (len(x),) if hasattr(x, "__len__") else ())
        return f"{number(shape[0])} positions" if shape else ""
    texts = [_token(token) for token in x[:MOST_TOKENS]]
    return " ".join(texts) + (" …" if len(x) > MOST_TOKENS else "")


def _token(token) -> str:
    if isinstance(token, Mapping):
        token = next(iter(token.values()), "")
    elif isinstance(token, (set, frozenset)):
        token = min(map(str, token), default="")
    elif isinstance(token, (list, tuple)) and token:
        # Features by name with places around the token: "0.0=word" is the token itself.
        own = [part[4:] for part in token if isinstance(part, str) and part.startswith("0.0=")]
        token = own[0] if own else token[0]
    return number(token) if isinstance(token, (float, np.floating)) else written(token, 30)
