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
from skstruct.facets import Facet
from skstruct.features import TokenFeatures
from skstruct.fitted import Fitted
from skstruct.learners.inputs import InputReader, has_features
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
    known = Fitted.of(model)
    if known.task is not None:
        return known.inputs(X)
    return X if known.encoder is None else known.encoder.as_table(X)


def predict_with_values(model: Any, X: Any) -> dict[Any, Any]:
    """Predictions for X, with the numbers that decided them where the model tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted, X = _deciding(model, X)
        learner = fitted.learner
        if fitted.can("decode"):
            decoded = learner.decode(X)
            return {"outputs": decoded.outputs, "values": np.asarray(decoded.values)}
        outputs = learner.predict(X)
        values = learner.decision_function(X) if fitted.can("decision_function") else None
        return {"outputs": outputs, "values": None if values is None else np.asarray(values)}


def _deciding(model: Any, X: Any) -> tuple[Fitted, Any]:
    """What decides, and what it is asked for: a TaskModel has read its rows already."""
    fitted = Fitted.of(model)
    return fitted, X if fitted.task is not None else fitted.inputs(X)


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
    (fitted, X), unknown = _deciding(model, X), np.ones(n_rows, dtype=bool)
    if not fitted.can("kbest"):
        return unknown
    try:
        values = np.asarray(fitted.learner.kbest(X, 2).values)
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
    return OwnRows.of(model).drawn(np.random.default_rng(SEED))


class OwnRows(Facet):
    """Rows that what reads inputs first can read, without any at hand."""

    __slots__ = ()

    def drawn(self, rng: np.random.Generator) -> Any:
        return rng.random((N_ROWS, self.space.n_features_in_))


class _OfSteps(OwnRows):
    __slots__ = ()

    def drawn(self, rng: np.random.Generator) -> Any:
        first, *rest = (step for _, step in self.space.steps)
        passes = isinstance(first, TokenFeatures) and first.columns_ is None and rest
        return OwnRows.of(rest[0] if passes else first).drawn(rng)


class _OfEncoder(OwnRows):
    __slots__ = ()

    def drawn(self, rng: np.random.Generator) -> Any:
        return self.space.example_rows(N_ROWS, rng)


class _OfTexts(OwnRows):
    __slots__ = ()

    def drawn(self, rng: np.random.Generator) -> Any:
        """Some words that it knows, in a row; of one that hashes, any."""
        words = sorted(getattr(self.space, "vocabulary_", ()))[:1000] or ["one", "two", "three"]
        return [" ".join(map(str, rng.choice(words, length))) for length in (1, 2, 4)]


class _OfNames(OwnRows):
    __slots__ = ()

    def drawn(self, rng: np.random.Generator) -> Any:
        known = self.space.categories_
        rows = [[rng.choice(values) for values in known] for _ in range(N_ROWS)]
        return np.array(rows, dtype=object)


class _OfWords(OwnRows):
    __slots__ = ()

    def drawn(self, rng: np.random.Generator) -> Any:
        if self.space.columns_ is None:
            return super().drawn(rng)
        return [_words(self.space, rng, length) for length in (1, 2, 4)]


class _OfLearner(OwnRows):
    __slots__ = ()

    def drawn(self, rng: np.random.Generator) -> Any:
        fitted = Fitted.of(self.space)
        if fitted.encoder is not None:
            return fitted.encoder.example_rows(N_ROWS, rng)
        if fitted.tokens is not None:
            return [_tokens(fitted.tokens, rng, length) for length in (1, 2, 4)]
        if has_features(fitted.features):
            return _strings(fitted.features.tokens_, rng)
        kept = fitted.kept_inputs
        if kept is not None and kept.shape[0] >= N_ROWS:
            return kept[:N_ROWS]
        return super().drawn(rng)


OwnRows.at("sklearn.pipeline:Pipeline", _OfSteps)
OwnRows.at("sklearn.feature_extraction.text:_VectorizerMixin", _OfTexts)
OwnRows.at("sklearn.preprocessing._encoders:_BaseEncoder", _OfNames)
OwnRows.at("skstruct.tasks.model:TaskModel", lambda model: OwnRows.of(model.learner_))
OwnRows.at(TableEncoder, _OfEncoder)
OwnRows.at(TokenFeatures, _OfWords)
OwnRows.at(InputReader, _OfLearner)


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
