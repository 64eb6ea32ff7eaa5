# SPDX-License-Identifier: BSD-3-Clause
"""Features of words and of what stands around them, for every token of a sentence."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.checks import is_count
from skstruct.features.templates import (
    BORDERS,
    N_BORDERS,
    Around,
    Template,
    column_templates,
    word_templates,
)
from skstruct.features.token_columns import (
    Tokens,
    check_texts,
    coded,
    is_numeric,
    kind_of,
    numbered,
    numbers_of,
    read_tokens,
)
from skstruct.features.word_vectors import check_vectors, vector_width, word_vectors
from skstruct.features.words import describe_word, word_attributes
from skstruct.fitted import Fitted
from skstruct.saving import check_numbered, savable

FEW_TOKENS = 10_000  # of which every feature is kept
POSITIONS = ("first", "last")  # flags of the ends of a sentence


@savable
class TokenFeatures(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]  # scikit-learn has no types
    """Sparse features of the tokens of sentences, for learners that read a row per position.

    A word gives itself in small letters and as written, its prefixes and suffixes, its shape,
    whether it has a digit or a hyphen, whether it is first or last, the words around it, and its
    pairs with both neighbours. Every further column of texts, such as a part of speech, gives its
    values around the token, pairs of neighbours, and the three in the middle together. A further
    column of numbers or of vectors is taken as it is. What training does not have is left out.

    Sentences that are arrays already, of a row per token, pass as they are.

    Parameters
    ----------
    window : int, default=2
        How far around a token other tokens are seen.
    prefixes, suffixes : int, default=3 and 4
        Length of the longest one.
    pairs : bool, default=True
        Whether neighbours give features together.
    min_count : int or "auto", default="auto"
        In how many tokens of training a feature must be. "auto" is 1 up to ten thousand tokens,
        and 2 beyond: features of a single token are most of all, and then decide little.
    vectors : mapping or callable word -> array, default=None
        Word vectors, which become features of the token: of the word as written, else in small
        letters, else zeros. Vectors that depend on the sentence are a column of the tokens.

    Attributes
    ----------
    columns_ : tuple of str, or None
        Of the tokens; those of tuples are "word", "column1", and so on. None for arrays.
    codes_ : dict
        Numbers of the values of every attribute.
    templates_ : list of Template
        What makes a feature, and which features training has.

    Examples
    --------
    >>> X = [["The", "cat", "sleeps"], ["A", "dog"]]
    >>> features = TokenFeatures(window=1, prefixes=0, suffixes=1).fit(X)
    >>> matrix = features.transform([["The", "dog"]])[0]
    >>> matrix.shape
    (2, 32)
    >>> names = features.get_feature_names_out()
    >>> names[matrix[[1]].indices].tolist()
    ['word=dog', 'suffix1=g', 'shape=xx', 'last', 'word[-1]=the', 'word|word[+1]=dog|</s>']
    """

    columns_: tuple[str, ...] | None
    codes_: dict[str, dict[str, int]]
    templates_: list[Template]

    def __init__(
        self,
        *,
        window: int = 2,
        prefixes: int = 3,
        suffixes: int = 4,
        pairs: bool = True,
        min_count: Any = "auto",
        vectors: Any = None,
    ) -> None:
        self.window = window
        self.prefixes = prefixes
        self.suffixes = suffixes
        self.pairs = pairs
        self.min_count = min_count
        self.vectors = vectors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.no_validation = True
        return tags

    def _check_saved(self) -> None:
        for codes in getattr(self, "codes_", {}).values():
            check_numbered(codes)

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which features there are.

        Parameters
        ----------
        X : list of sentences
            Lists of words, of tuples (word, tag, ...) or of dictionaries by column, the one of
            words being called "word", or the first of texts; or arrays of a row per token.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> list[Any]:
        """The same as ``fit(X).transform(X)``, reading X once."""
        tokens = self._fit(X)
        return list(X) if tokens is None else _split(self._matrix(tokens), tokens.starts)

    def _fit(self, X: Any) -> Tokens | None:
        self._check_parameters()
        _check_sentences(X)
        if any(is_numeric(x) for x in X):
            self.columns_, self.codes_, self.templates_ = None, {}, []
            return None
        tokens = read_tokens(X)
        self.columns_ = tuple(tokens.columns)
        self.kinds_ = {name: kind_of(name, tokens) for name in self.columns_}
        texts = [name for name in self.columns_ if self.kinds_[name] == "text"]
        self.word_ = "word" if "word" in texts else next(iter(texts), None)
        self._check_names(texts)
        self.widths_ = self._widths(tokens)
        self._learn(tokens)
        return tokens

    def _check_parameters(self) -> None:
        for name in ("window", "prefixes", "suffixes"):
            value = getattr(self, name)
            if not (is_count(value) or (value == 0 and not isinstance(value, bool))):
                raise ValueError(f"{name} is a whole number from 0; got {value!r}.")
        auto = isinstance(self.min_count, str) and self.min_count == "auto"
        if not (auto or is_count(self.min_count)):
            raise ValueError(
                f'min_count is a whole number from 1, or "auto"; got {self.min_count!r}.'
            )
        check_vectors(self.vectors)

    def _attributes(self) -> tuple[str, ...]:
        return word_attributes(self.prefixes, self.suffixes)

    def _check_names(self, texts: list[str]) -> None:
        for name in texts:
            if name != self.word_ and name in (*self._attributes(), *POSITIONS):
                raise ValueError(
                    f"The column {name!r} has the name of a feature of words: call it otherwise."
                )

    def _widths(self, tokens: Tokens) -> dict[str, int]:
        """How many features each column of numbers gives, and the vectors of words."""
        widths = {}
        for name, kind in self.kinds_.items():
            if kind != "text":
                values = tokens.columns[name]
                widths[name] = np.size(next(value for value in values if value is not None))
        if self.vectors is not None and self.word_ is not None:
            widths["vectors"] = vector_width(self.vectors, tokens.columns[self.word_])
        return widths

    def _learn(self, tokens: Tokens) -> None:
        """Numbers of the values, and features that occur often enough."""
        others = [n for n, kind in self.kinds_.items() if kind == "text" and n != self.word_]
        parts = [((flag, 0),) for flag in POSITIONS]
        if self.word_ is not None:
            parts = word_templates((*self._attributes(), *POSITIONS), self.window, self.pairs)
        for name in others:
            parts += column_templates(name, self.window, self.pairs)
        self.codes_ = self._values(tokens, others)
        self.templates_ = [Template(part, np.zeros(0, np.int64)) for part in parts]
        around, sizes = Around(self._codes(tokens), tokens.starts), self._sizes()
        self.min_count_ = 2 if tokens.starts[-1] > FEW_TOKENS else 1
        if not isinstance(self.min_count, str):
            self.min_count_ = int(self.min_count)
        for template in self.templates_:
            template.learn(template.combine(around, sizes), self.min_count_)

    def _values(self, tokens: Tokens, others: list[str]) -> dict[str, dict[str, int]]:
        values: dict[str, Any] = dict.fromkeys(POSITIONS, ("",))
        if self.word_ is not None:
            words = dict.fromkeys(check_texts(self.word_, tokens))
            values |= self._described(words)
        for name in others:
            values[name] = check_texts(name, tokens)
        return {name: numbered(found) for name, found in values.items()}

    def _described(self, words: Any) -> dict[str, list[str | None]]:
        """Values of all words by attribute."""
        rows = [
            () if word is None else describe_word(word, self.prefixes, self.suffixes)
            for word in words
        ]
        return {
            name: [row[k] if row else None for row in rows]
            for k, name in enumerate(self._attributes())
        }

    # ------------------------------------------------------------------ transforming
    def transform(self, X: Any) -> list[Any]:
        """A sparse matrix (n_tokens, n_features) for every sentence; arrays as they came."""
        check_is_fitted(self, "templates_")
        if self.columns_ is None:
            return list(X)
        matrix, starts = self.stacked(X)
        return _split(matrix, starts)

    def stacked(self, X: Any) -> tuple[sparse.csr_array, np.ndarray]:
        """The tokens of all sentences below each other, and where each sentence begins.

        Sentence i owns the rows starts[i] to starts[i + 1].
        """
        check_is_fitted(self, "templates_")
        _check_sentences(X)
        tokens = read_tokens(X, self.columns_)
        return self._matrix(tokens), tokens.starts

    def _matrix(self, tokens: Tokens) -> sparse.csr_array:
        n = int(tokens.starts[-1])
        around, sizes = Around(self._codes(tokens), tokens.starts), self._sizes()
        column = np.full((n, len(self.templates_)), -1, dtype=np.int32)
        first = 0
        for k, template in enumerate(self.templates_):
            found = template.find(template.combine(around, sizes))
            column[:, k] = np.where(found >= 0, found + first, -1)
            first += len(template.keys)
        known = column >= 0
        starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        indices = column[known]
        matrix = sparse.csr_array((np.ones(len(indices)), indices, starts), (n, first))
        blocks = [self._block(name, width, tokens) for name, width in self.widths_.items()]
        return sparse.hstack([matrix, *blocks], format="csr") if blocks else matrix

    def _block(self, name: str, width: int, tokens: Tokens) -> sparse.csr_array:
        if name == "vectors":
            return sparse.csr_array(
                word_vectors(self.vectors, tokens.columns[str(self.word_)], width)
            )
        return sparse.csr_array(numbers_of(name, tokens, width))

    def _codes(self, tokens: Tokens) -> dict[str, np.ndarray]:
        """Numbers of the values of every attribute, above the borders; -1 for unknown ones."""
        codes = {}
        if self.word_ is not None:
            words = check_texts(self.word_, tokens)
            number = numbered(words)
            own = coded(words, number)  # -1 for no word, which is behind the last one
            for name, values in self._described(number).items():
                codes[name] = _shifted(np.append(coded(values, self.codes_[name]), -1)[own])
        for name, kind in self.kinds_.items():
            if kind == "text" and name != self.word_:
                codes[name] = _shifted(coded(check_texts(name, tokens), self.codes_[name]))
        starts, full = tokens.starts, np.diff(tokens.starts) > 0
        for flag, at in zip(POSITIONS, (starts[:-1][full], starts[1:][full] - 1)):
            codes[flag] = np.full(starts[-1], -1)
            codes[flag][at] = N_BORDERS
        return codes

    def _sizes(self) -> dict[str, int]:
        return {name: len(codes) + N_BORDERS for name, codes in self.codes_.items()}

    # ------------------------------------------------------------------ names
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features, such as "word[-1]=the" or "suffix3=ing"."""
        check_is_fitted(self, "templates_")
        if self.columns_ is None:
            raise ValueError("TokenFeatures was fitted to arrays, whose features have no names.")
        values = {name: [*BORDERS, *codes] for name, codes in self.codes_.items()}
        names = [name for template in self.templates_ for name in template.names(values)]
        for name, width in self.widths_.items():
            plain = width == 1 and self.kinds_.get(name) == "number"
            names += [name] if plain else [f"{name}{k}" for k in range(width)]
        return np.array(names, dtype=object)


def _check_sentences(X: Any) -> None:
    if isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__len__"):
        raise ValueError(f"X is a list of sentences, each a list of words; got {X!r:.60}.")


def _shifted(codes: np.ndarray) -> np.ndarray:
    return np.where(codes >= 0, codes + N_BORDERS, -1)


def _split(matrix: sparse.csr_array, starts: np.ndarray) -> list[Any]:
    """A matrix of its own for every sentence."""
    at, width = matrix.indptr, matrix.shape[1]
    parts = []
    for first, end in zip(starts[:-1].tolist(), starts[1:].tolist()):
        inside = slice(at[first], at[end])
        own = (matrix.data[inside], matrix.indices[inside], at[first : end + 1] - at[first])
        parts.append(sparse.csr_array(own, (end - first, width)))
    return parts


class _WordColumns(Fitted):
    __slots__ = ()
    of_sequences = True
    token_columns = property(attrgetter("model.columns_"))


Fitted.at(TokenFeatures, _WordColumns)
