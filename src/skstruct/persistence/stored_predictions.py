# SPDX-License-Identifier: BSD-3-Clause
"""A few predictions that travel with a model, and are made again wherever it is read."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.encoding import TableEncoder
from skstruct.encoding.tables import Table
from skstruct.exceptions import ModelFileError
from skstruct.features import TokenFeatures
from skstruct.learners.inputs import has_features
from skstruct.smoothing import Weighing
from skstruct.tolerances import STORED_PREDICTION

N_ROWS = 3
SEED = 20240229


def some_rows(X: Any) -> Any:
    """The first rows of inputs of any format."""
    if isinstance(X, Table):
        return X.rows(slice(N_ROWS))
    if is_pandas(X, "DataFrame", "Series"):
        return X.iloc[:N_ROWS]
    if sparse.issparse(X):
        return X.tocsr()[:N_ROWS]
    return X[:N_ROWS]


def check_few(X: Any) -> None:
    """Raise for more rows than are ever written: each takes its time and memory."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows > N_ROWS:
        raise ModelFileError(f"its predictions are for {n_rows:,} rows; {N_ROWS} are written")


def readable(model: Any, X: Any) -> Any:
    """What the deciding part of a model reads: a TaskModel takes data sets, its learner rows.

    Rows that an encoder reads are a table, which a file can hold whatever library they are of.
    """
    if hasattr(model, "inputs"):
        return model.inputs(X)
    first = model.steps[0][1] if hasattr(model, "steps") else model
    encoder = first if isinstance(first, TableEncoder) else getattr(first, "encoder_", None)
    return X if encoder is None else encoder.as_table(X)


def predict_with_values(model: Any, X: Any) -> dict[Any, Any]:
    """Predictions for X, with the numbers that decided them where the model tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(model, "steps"):  # a Pipeline: the last step decides
            for _, step in model.steps[:-1]:
                X = X if step is None or step == "passthrough" else step.transform(X)
            return predict_with_values(model.steps[-1][1], X)
        if hasattr(model, "learner_"):
            return predict_with_values(model.learner_, X)
        if hasattr(model, "decode"):
            decoded = model.decode(X)
            return {"outputs": decoded.outputs, "values": np.asarray(decoded.values)}
        outputs = model.predict(X)
        values = model.decision_function(X) if hasattr(model, "decision_function") else None
        return {"outputs": outputs, "values": None if values is None else np.asarray(values)}


def check_stored_predictions(model: Any, X: Any, expected: dict[Any, Any]) -> None:
    """Raise unless the model predicts what it did when it was saved.

    Where the deciding numbers agree, outputs may differ between equally good ones only.
    """
    found = predict_with_values(model, X)
    values = expected["values"]
    if values is not None and not close(values, found["values"]):
        raise ModelFileError("its predictions are not those that it was saved with")
    if same(expected["outputs"], found["outputs"]):
        return
    if values is None or not _same_but_for_ties(
        expected["outputs"], found["outputs"], _tied(model, X, len(values))
    ):
        raise ModelFileError("its predictions are not those that it was saved with")


def _tied(model: Any, X: Any, n_rows: int) -> np.ndarray:
    """Which rows have several best outputs, as far as the model can tell."""
    model, unknown = getattr(model, "learner_", model), np.ones(n_rows, dtype=bool)
    if not hasattr(model, "kbest"):
        return unknown
    try:
        values = np.asarray(model.kbest(X, 2).values)
    except ValueError:  # the second best is not known
        return unknown
    if values.shape[1] < 2:
        return ~unknown
    return np.isclose(values[:, 0], values[:, 1], rtol=STORED_PREDICTION)


def _same_but_for_ties(a: Any, b: Any, tied: np.ndarray) -> bool:
    """Whether outputs have one format, and differ in tied rows only."""
    if type(a) is not type(b):
        return False
    a, b = (_rows_of(outputs) for outputs in (a, b))
    return len(a) == len(b) == len(tied) and all(
        same(x, y) or (may_differ and type(x) is type(y)) for x, y, may_differ in zip(a, b, tied)
    )


def _rows_of(outputs: Any) -> Any:
    if is_pandas(outputs, "DataFrame", "Series"):
        return outputs.to_numpy()
    return outputs.toarray() if sparse.issparse(outputs) else outputs


def close(a: Any, b: Any) -> bool:
    """Whether two arrays of numbers agree up to rounding."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return False
    finite = np.abs(a[np.isfinite(a)])
    scale = float(finite.max(initial=0.0))
    return bool(
        np.allclose(
            a, b, rtol=STORED_PREDICTION, atol=STORED_PREDICTION * 1e-3 * scale, equal_nan=True
        )
    )


def same(a: Any, b: Any) -> bool:
    """Whether outputs in the user's format are equal, numbers up to rounding."""
    if is_pandas(a, "DataFrame", "Series"):
        return type(a) is type(b) and same(a.to_numpy(), b.to_numpy())
    if sparse.issparse(a):
        return sparse.issparse(b) and same(a.toarray(), b.toarray())
    if isinstance(a, np.ndarray) and a.dtype.kind in "biuf":
        return isinstance(b, np.ndarray) and close(a, b)
    if isinstance(a, (list, tuple, np.ndarray)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (float, np.floating)):
        return isinstance(b, (float, np.floating)) and close(a, b)
    if hasattr(a, "adj"):  # a graph
        return hasattr(b, "adj") and dict(a.adj) == dict(b.adj)
    return bool(a == b)


# ---------------------------------------------------------------------- rows of our own
def own_rows(model: Any) -> Any:
    """Inputs that the model can read: rows of its training, or drawn ones."""
    rng = np.random.default_rng(SEED)
    if hasattr(model, "steps"):
        first, *rest = (step for _, step in model.steps)
        passes = isinstance(first, TokenFeatures) and first.columns_ is None and rest
        return own_rows(rest[0] if passes else first)
    if hasattr(model, "learner_"):
        return own_rows(model.learner_)
    encoder = model if isinstance(model, TableEncoder) else getattr(model, "encoder_", None)
    if encoder is not None:
        return encoder.example_rows(N_ROWS, rng)
    if hasattr(model, "build_analyzer"):  # a vectorizer of texts
        return _texts(model, rng)
    if hasattr(model, "categories_"):
        rows = [[rng.choice(values) for values in model.categories_] for _ in range(N_ROWS)]
        return np.array(rows, dtype=object)
    if isinstance(model, TokenFeatures) and model.columns_ is not None:
        return [_words(model, rng, length) for length in (1, 2, 4)]
    if getattr(model, "tokens_", None) is not None and hasattr(model, "space_"):
        return [_tokens(model.tokens_, rng, length) for length in (1, 2, 4)]
    if has_features(getattr(model, "features_", None)):
        return _strings(model.features_.tokens_, rng)
    kept = Weighing.of(getattr(model, "smoother_", None)).rows
    if kept is not None and kept.shape[0] >= N_ROWS and not getattr(model, "_precomputed", False):
        return kept[:N_ROWS]
    return rng.random((N_ROWS, model.n_features_in_))


def _texts(vectorizer: Any, rng: np.random.Generator) -> list[str]:
    """Some words that it knows, in a row; of one that hashes, any."""
    known = sorted(getattr(vectorizer, "vocabulary_", ()))[:1000] or ["one", "two", "three"]
    return [" ".join(map(str, rng.choice(known, length))) for length in (1, 2, 4)]


def _tokens(reader: Any, rng: Any, length: Any) -> Any:
    """One sequence in the format of training."""
    names = reader.names_
    if names is None:
        return rng.random((length, reader.n_features_))
    if isinstance(names, TokenFeatures):
        return [token["word"] for token in _words(names, rng, length)]
    if hasattr(names, "columns_"):
        known = list(names.columns_)
        return [[str(rng.choice(known))] for _ in range(length)]
    known = names.vectorizer_.feature_names_
    tokens = [str(known[rng.integers(len(known))]) for _ in range(length)]
    return [dict([name.split("=", 1)]) if "=" in name else {name: 0.5} for name in tokens]


def _words(features: Any, rng: Any, length: int) -> Any:
    """Tokens with known values in every column."""

    def value(name: str) -> Any:
        if features.kinds_[name] == "number":
            return 0.5
        if features.kinds_[name] == "vector":
            return rng.random(features.widths_[name])
        known = list(features.codes_["word" if name == features.word_ else name])
        return known[rng.integers(len(known))] if known else ""

    return [{name: value(name) for name in features.columns_} for _ in range(length)]


def _strings(tokens: Any, rng: Any) -> Any:
    """Strings of known tokens, long enough to hold n-grams."""
    drawn = [[tokens[i] for i in rng.integers(len(tokens), size=12)] for _ in range(N_ROWS)]
    text = all(isinstance(token, str) and len(token) == 1 for token in tokens)
    return ["".join(row) for row in drawn] if text else drawn
