# SPDX-License-Identifier: BSD-3-Clause
"""Tables and words as the numbers that learners read, the same way for every later file."""

from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skstruct.datasets.blocks import missing_columns
from skstruct.datasets.dataset import Table
from skstruct.exceptions import DataFormatError
from skstruct.saving import savable

SCALES = ("standard", "none")


@savable
class TableEncoder(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Numbers from a table: nominal columns one-hot, missing numbers filled, columns scaled.

    Columns are found by name, whatever their order; further columns are ignored. A two-valued
    nominal column becomes one 0/1 column. A nominal value that training did not have gives
    zeros, a missing number the mean of its column in training.

    Parameters
    ----------
    scale : {"standard", "none"}, default="standard"
        Whether columns of other numbers than 0 and 1 are brought to mean 0 and variance 1;
        sparse ones are only divided, so that they stay sparse.

    Attributes
    ----------
    names_, values_ : of the columns of training, as in Table
    feature_names_ : tuple of str, of the columns of the result
    mean_, centre_, width_ : arrays of shape (n_features,)
        What fills gaps, what is subtracted, what divides.

    Examples
    --------
    >>> table = Table(("a", "b"), (None, ("x", "y")), np.array([[1.0, 0], [3.0, 1]]))
    >>> TableEncoder().fit(table).transform(table)
    array([[-1.,  0.],
           [ 1.,  1.]])
    """

    def __init__(self, scale: str = "standard") -> None:
        self.scale = scale

    def fit(self, table: Table) -> "TableEncoder":
        X, names = self._checked(table).one_hot()
        _check_finite(X, names)
        return self._settled(X, names, *_moments(X))

    def fit_moments(self, table: Table, moments: list[tuple[float, float, bool]]) -> "TableEncoder":
        """From moments of rows that are not here; ``table`` has names and values of the columns.

        Parameters
        ----------
        moments : list of (mean, variance, whether all are 0 or 1), one for every feature
        """
        X, names = self._checked(table).one_hot()
        mean, variance, binary = (np.array(part) for part in zip(*moments))
        return self._settled(X, names, mean, variance, binary)

    def _checked(self, table: Table) -> Table:
        if self.scale not in SCALES:
            raise ValueError(f"scale is one of {', '.join(SCALES)}; got {self.scale!r}.")
        if not table.names:
            raise DataFormatError("the data have no columns left to predict from")
        self.names_, self.values_ = table.names, table.values
        return table

    def _settled(
        self,
        X: Any,
        names: tuple[Any, ...],
        mean: np.ndarray,
        variance: np.ndarray,
        binary: np.ndarray,
    ) -> Self:
        self.feature_names_, self.mean_ = names, mean
        self.is_sparse_ = sparse.issparse(X)
        self.centre_, self.width_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if self.scale == "standard":
            spread = ~binary & (variance > 1e-20 * np.maximum(1.0, self.mean_**2))
            self.width_[spread] = np.sqrt(variance[spread])
            if not self.is_sparse_:
                self.centre_[spread] = self.mean_[spread]
        return self

    def transform(self, table: Table) -> Any:
        """Numbers of shape (n, n_features), dense or CSR as the table is."""
        check_is_fitted(self)
        X, _ = self._matched(table).one_hot()
        _check_finite(X, self.feature_names_)
        if sparse.issparse(X):
            return self._scaled_sparse(sparse.csr_array(X))
        X = np.where(np.isnan(X), self.mean_, X)
        return (X - self.centre_) / self.width_

    def _scaled_sparse(self, X: Any) -> Any:
        X = X.copy()
        gaps = np.isnan(X.data)
        X.data[gaps] = self.mean_[X.indices[gaps]]
        if self.centre_.any():
            return (X.toarray() - self.centre_) / self.width_
        X.data /= self.width_[X.indices]
        return X

    def _matched(self, table: Table) -> Table:
        """The columns of training, in their order and with their nominal values."""
        if sparse.issparse(table.data):
            table = _with_zeros(table, self.names_)
        index = {name: j for j, name in enumerate(table.names)}
        missing = [name for name in self.names_ if name not in index]
        if missing:
            raise missing_columns(self.names_, missing)
        columns = [index[name] for name in self.names_]
        taken = table if columns == list(range(len(table.names))) else table.take(columns)
        if taken.values == self.values_:
            return taken
        data = taken.data.toarray() if sparse.issparse(taken.data) else taken.data.copy()
        for j, (now, then) in enumerate(zip(taken.values, self.values_)):
            if now != then:
                data[:, j] = _translated(data[:, j], now, then, self.names_[j])
        return Table(self.names_, self.values_, data)


def _check_finite(X: Any, names: tuple[Any, ...]) -> None:
    """Raise for the first number that is infinite; gaps are filled."""
    numbers = X.data if sparse.issparse(X) else X
    if not np.isinf(numbers).any():
        return
    if sparse.issparse(X):
        X = X.tocoo()
        first = int(np.isinf(X.data).argmax())
        row, column = int(X.row[first]), int(X.col[first])
    else:
        row, column = np.argwhere(np.isinf(X))[0]
    raise DataFormatError(f"row {row + 1}, column {names[column]!r} is infinite")


def _with_zeros(table: Table, names: tuple[Any, ...]) -> Table:
    """A sparse table with empty columns for numbered features beyond its last one.

    Such files (LIBSVM) tell only features that are not zero, and end with the last of them.
    """
    missing = [name for name in names if name not in set(table.names)]
    if not missing or not all(name.isdecimal() for name in (*missing, *table.names)):
        return table
    empty = sparse.csr_array((len(table), len(missing)))
    data = sparse.hstack([table.data, empty], format="csr")
    return Table((*table.names, *missing), (*table.values, *[None] * len(missing)), data)


def _moments(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of the known numbers of each column, and whether all are 0 or 1."""
    if sparse.issparse(X):
        X = X.tocsc()
        gaps = np.isnan(X.data)
        column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        filled = np.where(gaps, 0.0, X.data)
        add = partial(np.bincount, column, minlength=X.shape[1])
        known = np.maximum(1, X.shape[0] - add(gaps))
        other = add(~gaps & ~np.isin(X.data, (0.0, 1.0)))
        # Zeros stay zeros, so that the mean square is what tells the size of a column.
        return add(filled) / known, add(filled**2) / known, other == 0
    known = ~np.isnan(X)
    n = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, X, 0.0)
    mean = filled.sum(axis=0) / n
    variance = (np.where(known, X - mean, 0.0) ** 2).sum(axis=0) / n
    return mean, variance, (~known | (X == 0) | (X == 1)).all(axis=0)


def _translated(
    column: np.ndarray, now: tuple[Any, ...] | None, then: tuple[Any, ...] | None, name: str
) -> np.ndarray:
    """Positions in the values of one file as positions in those of training; NaN if new."""
    if now is None:  # numbers here, texts in training
        texts = [None if np.isnan(value) else _as_text(value) for value in column]
        return _positions(texts, then)
    if then is None:  # texts here, numbers in training
        return _numbers(now, name)[np.where(np.isnan(column), len(now), column).astype(np.intp)]
    codes = np.append(_positions(now, then), np.nan)
    return codes[np.where(np.isnan(column), len(now), column).astype(np.intp)]


def _positions(texts: Any, values: tuple[Any, ...] | None) -> np.ndarray:
    number = {text: j for j, text in enumerate(values or ())}
    return np.array([number.get(text, np.nan) for text in texts], dtype=np.float64)


def _numbers(texts: tuple[Any, ...], name: str) -> np.ndarray:
    """Declared values that are all numbers as these, and NaN behind them."""
    try:
        return np.array([*map(float, texts), np.nan])
    except ValueError:
        raise DataFormatError(
            f"the column {name!r} held numbers when the model was fitted; here it holds "
            f"{next(text for text in texts if not _is_number(text))!r}"
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_text(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


@savable
class TokenEncoder(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Names of features for each word of a sentence, from the words around it.

    Sequences of numbers pass as they are. Of words with further columns (a part of speech...)
    every column at up to ``window`` positions before and after becomes a feature, pairs of
    neighbours too, and of the word itself its ends and shape; unseen ones are ignored later.

    Parameters
    ----------
    window : int, default=2

    Examples
    --------
    >>> TokenEncoder(window=1).fit([]).transform([[("Rolls", "NN")]])[0][0][:4]
    ['-1.0=^', '-1.1=^', '0.0=Rolls', '0.1=NN']
    """

    def __init__(self, window: int = 2) -> None:
        self.window = window

    def fit(self, sequences: list[Any]) -> Self:
        """Learn how many columns there are."""
        first: Any = next((tokens for tokens in sequences if len(tokens)), None)
        by_name = first is not None and not isinstance(first, np.ndarray)
        self.n_columns_ = len(first[0]) if by_name else None
        return self

    def transform(self, sequences: list[Any]) -> list[Any]:
        """A list of arrays, or of lists of lists of names."""
        check_is_fitted(self, "n_columns_")
        return [self._one(i, tokens) for i, tokens in enumerate(sequences)]

    def _one(self, i: int, tokens: Any) -> Any:
        if isinstance(tokens, np.ndarray):
            return tokens
        if self.n_columns_ is not None and len(tokens) and len(tokens[0]) < self.n_columns_:
            raise DataFormatError(
                f"sequence {i + 1} has {len(tokens[0])} columns; the model reads {self.n_columns_}"
            )
        return [self._features(tokens, t) for t in range(len(tokens))]

    def _features(self, tokens: list[Any], t: int) -> list[str]:
        n = self.n_columns_ or len(tokens[t])
        names = []
        for offset in range(-self.window, self.window + 1):
            inside = 0 <= t + offset < len(tokens)
            words = tokens[t + offset] if inside else "^" * n
            names += [f"{offset}.{column}={words[column]}" for column in range(n)]
        word = tokens[t][0]
        before = tokens[t - 1] if t else "^" * n
        names += [f"pair.{c}={before[c]}|{tokens[t][c]}" for c in range(n)]
        names += [f"end={word[-k:]}" for k in (2, 3)] + [f"begin={word[:2]}"]
        names.append(f"shape={_shape(word)}")
        return names


def _shape(word: str) -> str:
    """Capitals, small letters and digits as A, a and 0, runs of them once."""
    kinds = [
        "A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word
    ]
    return "".join(kind for kind, before in zip(kinds, ["", *kinds]) if kind != before)


class RowLearner(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Reads row numbers of a table; means and values come from the rows of training only.

    Parameters
    ----------
    table : Table
    learner : learner of this library
    scale : as in TableEncoder
    """

    def __init__(self, table: Table, learner: Any, scale: str = "standard") -> None:
        self.table = table
        self.learner = learner
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Self:
        rows = self._rows(X)
        self.encoder_ = TableEncoder(self.scale).fit(rows)
        self.learner_ = clone(self.learner).fit(self.encoder_.transform(rows), y)
        return self

    def _rows(self, X: Any) -> Table:
        return self.table.rows(np.ravel(X))

    def predict(self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None) -> Any:
        options = {"loss": loss, "restrict": restrict}
        given = {key: value for key, value in options.items() if value is not None}
        return self.learner_.predict(self.encoder_.transform(self._rows(X)), **given)

    def __getattr__(self, name: str) -> Any:
        if name in ("space_", "loss_", "outputs_") and "learner_" in self.__dict__:
            return getattr(self.learner_, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
