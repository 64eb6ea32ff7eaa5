# SPDX-License-Identifier: BSD-3-Clause
"""Tables as the numbers that learners read, the same way for all later rows."""

from collections import Counter
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skstruct._arrays.checks import is_count
from skstruct.encoding.arrays import checked_array
from skstruct.encoding.columns import WORDS
from skstruct.encoding.dates import DateColumn, expanded
from skstruct.encoding.frames import (
    ArraySource,
    FrameSource,
    are_records,
    first_table,
    is_frame,
    source_of,
    table_of,
)
from skstruct.encoding.matching import check_finite, check_size, matched, merged, translated
from skstruct.encoding.quick_records import quick_table
from skstruct.encoding.statistics import ColumnFacts, facts_of
from skstruct.encoding.tables import Table
from skstruct.exceptions import DataFormatError
from skstruct.saving import require, savable

SCALES = ("standard", "none", "auto")
MISSING = "<missing>"


@savable
class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Numbers from columns of numbers, truth values, names, dates and durations.

    ======================  ====================================================================
    column                  features
    ======================  ====================================================================
    numbers, truth values   the number, scaled; a missing one is the median of training
    names                   1 in the column of the name, else 0 (two names: one column); 0 for a
                            name that training did not have
    dates                   days since the first date of training; year, month, weekday and hour
                            where they vary
    durations               days
    missing in training     for each such column one more: 1 where the cell is missing
    ======================  ====================================================================

    A number :math:`x` of a column with mean :math:`m` and variance :math:`v` in training becomes
    :math:`(x - m) / \sqrt v`; columns of 0 and 1 stay as they are, and sparse ones are only
    divided by the root of their mean square, so that they stay sparse.

    Columns of frames and records are found by name, whatever their order; further columns are
    ignored, and missing ones are an error. Columns of arrays are found by position.

    Parameters
    ----------
    scale : {"standard", "none", "auto"}, default="standard"
        Whether columns are scaled; "auto" does so where not all columns hold numbers or truth
        values, since then there is no common unit.
    rare : int, default=3
        Names of fewer rows share a column, where a column has ``many`` names.
    many : int, default=20
        Of up to so many names each has its own column.

    Attributes
    ----------
    names_, values_ : of the columns of training, as in Table
    others_ : dict
        Kind of the columns that hold neither numbers nor names: boolean, date, duration or empty.
    dates_ : dict of DateColumn
    rare_ : dict
        Of columns with rare names, these.
    flagged_ : tuple of str
        Columns with missing cells in training.
    feature_names_ : tuple of str, of the columns of the result
    fill_, mean_, centre_, width_ : arrays of shape (n_features,)
        What fills gaps, the mean in training, what is subtracted, what divides.

    Examples
    --------
    >>> rows = [{"size": 1.0, "sky": "sun"}, {"size": 3.0, "sky": "rain"}, {"sky": "snow"}]
    >>> encoder = TableEncoder().fit(rows)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'sky=rain', 'sky=snow', 'sky=sun', 'size=<missing>']
    >>> encoder.transform(rows)
    array([[-1.,  0.,  0.,  1.,  0.],
           [ 1.,  1.,  0.,  0.,  0.],
           [ 0.,  0.,  1.,  0.,  1.]])
    >>> print(encoder.describe())
    1 column of numbers, scaled, and 1 of names, one-hot; missing in 1: 5 features
    """

    def __init__(self, scale: str = "standard", rare: int = 3, many: int = 20) -> None:
        self.scale = scale
        self.rare = rare
        self.many = many

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a DataFrame, a Table, a list of dictionaries, an array or a sparse one."""
        self._check_parameters()
        table, self.others_ = self._first_table(X)
        check_finite(table.data, table.names)
        self.dates_ = {
            name: DateColumn.of(table.data[:, table.names.index(name)])
            for name, kind in self.others_.items()
            if kind == "date"
        }
        return self._settle(table, facts_of(expanded(table, self.dates_)))

    def fit_facts(self, table: Table, facts: ColumnFacts) -> Self:
        """From facts on rows that are not here; ``table`` has names and values of the columns."""
        self._check_parameters()
        self.others_, self.dates_ = {}, {}
        self._keep_names(table.names)
        return self._settle(table, facts)

    def _check_parameters(self) -> None:
        if self.scale not in SCALES:
            raise ValueError(f"scale is one of {', '.join(SCALES)}; got {self.scale!r}.")
        for name in ("rare", "many"):
            if not is_count(getattr(self, name)):
                value = getattr(self, name)
                raise ValueError(f"{name} is a whole number from 1; got {value!r}.")

    def _first_table(self, X: Any) -> tuple[Table, dict[str, str]]:
        """The rows of training as a table; their number of columns and their names are kept."""
        if isinstance(X, Table):
            self._keep_names(X.names)
            return X, {}
        if is_frame(X) or are_records(X):
            source = source_of(X)
            _check_once(source)
            _check_rows(len(source))
            if is_frame(X):
                validate_data(self, X, reset=True, skip_check_array=True)
            else:
                self._keep_names(source.names)
            return first_table(source)
        X = checked_array(self, X, reset=True)
        names = tuple(f"x{j}" for j in range(X.shape[1]))
        if X.dtype == object:
            return first_table(ArraySource(X, names))
        return Table(names, (None,) * len(names), X), {}

    def _keep_names(self, names: Any) -> None:
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)

    def _settle(self, table: Table, facts: ColumnFacts) -> Self:
        """What follows from names and values of the columns, and from facts on their rows."""
        if not table.names:
            raise DataFormatError("the data have no columns left to predict from")
        self.names_, self.values_ = table.names, table.values
        self.is_sparse_ = sparse.issparse(table.data)
        wide = expanded(table.rows(slice(0, 0)), self.dates_)
        self.rare_ = self._rare_names(wide, facts)
        missing = dict(zip(wide.names, facts.n_missing))
        self.flagged_ = tuple(name for name in self.names_ if missing[self._first_of(name)])
        self._settle_features(wide, facts)
        return self

    def _rare_names(self, table: Table, facts: ColumnFacts) -> dict[str, tuple[str, ...]]:
        found = {}
        for name, values, counts in zip(table.names, table.values, facts.counts):
            if values is not None and len(values) > self.many:
                few = tuple(v for v, n in zip(values, counts.tolist()) if n < self.rare)
                if few:
                    found[name] = few
        return found

    def _first_of(self, name: str) -> str:
        """The column of the numbers of a column of training, which is missing where that is."""
        return f"{name}.days" if name in self.dates_ else name

    def _settle_features(self, table: Table, facts: ColumnFacts) -> None:
        kept = merged(table, self.rare_)
        _, names = kept.one_hot()
        column = np.repeat(np.arange(len(kept.names)), [_width(values) for values in kept.values])
        number = np.array([values is None for values in table.values])[column]
        mean, variance, fill = (
            np.where(number, part[column], 0.0)
            for part in (facts.mean, facts.variance, facts.median)
        )
        spread = number & ~facts.binary[column] & (variance > 1e-20 * np.maximum(1.0, mean**2))
        if not self._is_scaled():
            spread[:] = False
        zeros = np.zeros(len(self.flagged_))
        self.feature_names_ = (*names, *(f"{name}={MISSING}" for name in self.flagged_))
        self.fill_, self.mean_ = np.append(fill, zeros), np.append(mean, zeros)
        self.width_ = np.append(np.where(spread, np.sqrt(variance), 1.0), zeros + 1.0)
        centred = spread & (not self.is_sparse_)
        self.centre_ = np.append(np.where(centred, mean, 0.0), zeros)

    def _is_scaled(self) -> bool:
        if self.scale != "auto":
            return self.scale == "standard"
        named = any(values is not None for values in self.values_)
        return named or not {"date", "duration"}.isdisjoint(self.others_.values())

    # ------------------------------------------------------------------ transforming
    def transform(self, X: Any) -> Any:
        """Numbers of shape (n, n_features), dense or CSR as the data of training were."""
        check_is_fitted(self)
        table = self.as_table(X)
        flags = self._flags(table)
        table = expanded(translated(table, self.values_), self.dates_)
        X, _ = merged(table, self.rare_).one_hot()
        with np.errstate(over="ignore"):
            X = self._scaled(X, flags)
        if (self.width_ != 1.0).any():  # rows of training are a few widths from their mean
            check_size(X, self.feature_names_)
        return X

    def _scaled(self, X: Any, flags: Any) -> Any:
        if sparse.issparse(X):
            return self._scaled_sparse(sparse.hstack([X, flags], format="csr"))
        X = np.hstack([X, flags]) if self.flagged_ else X
        gaps = np.isnan(X)
        X = np.where(gaps, self.fill_, X) if gaps.any() else X
        if not self.centre_.any() and (self.width_ == 1.0).all():
            return X
        return (X - self.centre_) / self.width_

    def as_table(self, X: Any) -> Table:
        """Rows as a table with the columns of training: what is encoded, and model files hold."""
        table = matched(self._table(X), self.names_)
        check_finite(table.data, self.names_)
        return table

    def example_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Made-up rows: names of training, and numbers about its means."""
        column = dict(zip(self.feature_names_, range(len(self.feature_names_))))
        data = np.empty((n, len(self.names_)))
        for j, (name, values) in enumerate(zip(self.names_, self.values_)):
            if values is None:
                at = column[self._first_of(name)]
                data[:, j] = self.mean_[at] + self.width_[at] * rng.standard_normal(n)
                data[:, j] += self.dates_[name].origin if name in self.dates_ else 0.0
            else:
                data[:, j] = rng.integers(len(values), size=n) if values else np.nan
        return Table(self.names_, self.values_, data)

    def _table(self, X: Any) -> Table:
        """The rows as a table with the columns of training, maybe in another order."""
        if isinstance(X, Table):
            return X
        named = hasattr(self, "feature_names_in_")
        if is_frame(X) and not named:  # by position, as scikit-learn does, and warns
            validate_data(self, X, reset=False, skip_check_array=True)
            X = FrameSource(X)
            X.frame = X.frame.rename(dict(zip(X.names, self.names_)))
            X.names = list(self.names_)
        elif not (is_frame(X) or are_records(X)):
            X = checked_array(self, X, reset=False)
            if X.dtype != object and all(values is None for values in self.values_):
                return Table(self.names_, self.values_, X)
            X = ArraySource(X.toarray() if sparse.issparse(X) else X, self.names_)
        table = self.by_name(X)
        _check_rows(len(table))
        return table

    def by_name(self, X: Any) -> Table:
        """Rows whose columns have names, as a table; records without a look at every cell where
        they are just as training has them.
        """
        quick = quick_table(X, self)
        if quick is not None:
            return quick
        like = Table(self.names_, self.values_, np.empty((0, len(self.names_))))
        return table_of(X, like, self.others_, is_sparse=self.is_sparse_)

    def _flags(self, table: Table) -> Any:
        """1 where a cell is missing, of the columns that had missing cells in training."""
        data = table.data[:, [self.names_.index(name) for name in self.flagged_]]
        if not sparse.issparse(data):
            return np.isnan(data).astype(np.float64)
        flags = sparse.csr_array(data)
        flags.data = np.isnan(flags.data).astype(np.float64)
        flags.eliminate_zeros()
        return flags

    def _scaled_sparse(self, X: Any) -> Any:
        gaps = np.isnan(X.data)
        X.data[gaps] = self.fill_[X.indices[gaps]]
        X.eliminate_zeros()
        if self.centre_.any():  # sparse now, and dense in training
            return (X.toarray() - self.centre_) / self.width_
        X.data /= self.width_[X.indices]
        return X

    # ------------------------------------------------------------------ describing
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: column, column=name, column.part or column=<missing>."""
        check_is_fitted(self)
        return np.array(self.feature_names_, dtype=object)

    def describe(self) -> str:
        """What the columns are and how many features they become, in a line."""
        check_is_fitted(self)
        kinds = Counter(
            self.others_.get(name, "number" if values is None else "names")
            for name, values in zip(self.names_, self.values_)
        )
        how = {"number": "scaled" if self._is_scaled() else "as they are", "names": "one-hot"}
        parts: list[str] = []
        for kind, word in WORDS.items():
            if kinds[kind]:
                counted = f"{kinds[kind]:,}"
                if not parts:
                    counted += " column" if kinds[kind] == 1 else " columns"
                parts.append(f"{counted} of {word}" + (f", {how[kind]}" if kind in how else ""))
        line = ", and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
        line += f"; missing in {len(self.flagged_):,}" if self.flagged_ else ""
        n = len(self.feature_names_)
        return f"{line}: {n:,} {'feature' if n == 1 else 'features'}"

    # ------------------------------------------------------------------ model files
    def _check_saved(self) -> None:
        """One size of all; a file of earlier versions has fewer attributes."""
        if not hasattr(self, "names_"):
            return
        if not hasattr(self, "fill_"):  # gaps were filled by means, and not flagged
            self.fill_, self.flagged_ = self.mean_, ()
            self.others_, self.dates_, self.rare_ = {}, {}, {}
            self._keep_names(self.names_)
        n = len(self.feature_names_)
        arrays = (self.fill_, self.mean_, self.centre_, self.width_)
        require(all(np.shape(array) == (n,) for array in arrays), "features of several numbers")
        require(len(self.names_) == len(self.values_), "columns without their values")
        inside = {*self.flagged_, *self.rare_, *self.dates_, *self.others_} <= set(self.names_)
        require(inside, "columns that are none")


def _width(values: tuple[str, ...] | None) -> int:
    """Features of a column."""
    return 1 if values is None or len(values) < 3 else len(values)


def _check_once(source: Any) -> None:
    repeated = getattr(source, "n_repeated", {})
    for name, n in repeated.items():
        raise DataFormatError(f"{n} columns are called {name!r}; give each column its own name")


def _check_rows(n: int) -> None:
    if n == 0:
        raise DataFormatError("there are no rows")
