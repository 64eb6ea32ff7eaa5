# SPDX-License-Identifier: BSD-3-Clause
"""Words of sentences as features, and rows of a table that a learner looks up by number."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skstruct.encoding import TableEncoder
from skstruct.encoding.tables import Table
from skstruct.exceptions import DataFormatError
from skstruct.saving import savable


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
