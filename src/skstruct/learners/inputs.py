# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of any kind as what a learner reads: arrays, strings, sequences of tokens, or as they
are.
"""

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.methods import advise_all
from skstruct._arrays.rows import copied_rows, known_rows, narrow_indices
from skstruct._arrays.weights import check_sample_weight
from skstruct.backends import on_host
from skstruct.encoding import TableEncoder
from skstruct.encoding.arrays import as_floats, as_objects
from skstruct.encoding.frames import are_records, is_frame, is_plain
from skstruct.encoding.statistics import medians
from skstruct.encoding.tables import Table
from skstruct.features.token_columns import are_words
from skstruct.learners.tokens import TokenBatch, TokenReader, are_tokens
from skstruct.smoothing import Weighing
from skstruct.spaces import Solving

MEDIAN_ROWS = 5000


def takes_raw_inputs(smoother: Any) -> Any:
    """Whether what reads the inputs first says that it takes more than finite numbers.

    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.linear_model import Ridge
    >>> takes_raw_inputs(RandomForestRegressor()), takes_raw_inputs(Ridge())
    (True, False)
    """
    if smoother is None or isinstance(smoother, str):
        return False
    reader = _first_reader(smoother)
    if hasattr(reader, "transformers"):  # each of its columns has a reader of its own
        return True
    try:
        tags = get_tags(reader)
    except (AttributeError, TypeError):  # no estimator of scikit-learn
        return False
    inputs = tags.input_tags
    return tags.no_validation or inputs.allow_nan or inputs.categorical or inputs.string


_HANDING_ON = (
    ("sklearn.model_selection._search", "BaseSearchCV"),
    ("sklearn.multioutput", "MultiOutputClassifier"),
    ("sklearn.multioutput", "MultiOutputRegressor"),
)
_TRANSFORMING = ("sklearn.compose", "TransformedTargetRegressor")


def _is_of(smoother: Any, module: str, name: str) -> bool:
    """Whether this is of a class whose module, slow to import, is there if anything is of it."""
    return module in sys.modules and isinstance(smoother, getattr(sys.modules[module], name))


def _first_reader(smoother: Any) -> Any:
    """The first step of a pipeline, and what others hand their inputs on to untouched."""
    from skstruct.smoothing import ClassifierMeans

    while True:
        if hasattr(smoother, "steps"):
            steps = [step for _, step in smoother.steps if step not in (None, "passthrough")]
            if not steps:
                return smoother
            smoother = steps[0]
        elif any(_is_of(smoother, *place) for place in _HANDING_ON):
            smoother = smoother.estimator
        elif _is_of(smoother, *_TRANSFORMING) and smoother.regressor is not None:
            smoother = smoother.regressor
        elif isinstance(smoother, ClassifierMeans):
            smoother = smoother.classifier
        else:
            return smoother


def checked_raw(model: Any, X: Any, reset: bool) -> Any:
    """Inputs as they are, once names and number of features are those that the model knows.

    Frames stay frames; numbers may be missing, but not infinite; texts are an array of objects.
    """
    if is_pandas(X, "DataFrame"):
        if X.shape[0] == 0:
            raise ValueError("X has no rows.")
        validate_data(model, X, reset=reset, skip_check_array=True)
        return X
    if not sparse.issparse(X):
        X = as_objects(X)
        if X.ndim == 1 and len(X) and all(isinstance(text, str) for text in X):
            return X
    dtype = np.float64 if X.dtype.kind in "biuf" else None
    validated = partial(validate_data, reset=True) if reset else known_rows
    return validated(model, X, accept_sparse="csr", dtype=dtype, ensure_all_finite="allow-nan")


def rows_of(X: Any, rows: slice) -> Any:
    """Some rows, by their numbers whatever their labels are."""
    return X.iloc[rows] if is_pandas(X, "DataFrame") else X[rows]


# Inputs of any kind as what a smoother reads: arrays, strings, sequences of tokens.


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a model learns from, read and checked."""

    X: Any  # an array or CSR of shape (n, p); a TokenBatch where inputs have a row per position
    outputs: np.ndarray  # n outputs in canonical form
    sample_weight: np.ndarray | None = None  # shape: (n,)
    groups: Any = None  # n of them; rows of the same group are left out together

    @property
    def rows(self) -> Any:
        """What is regressed on: the inputs, or the tokens of all of them."""
        return self.X.tokens if isinstance(self.X, TokenBatch) else self.X

    @property
    def row_weight(self) -> Any:
        """Weights of these rows: a token weighs what its sequence does."""
        if self.sample_weight is None or not isinstance(self.X, TokenBatch):
            return self.sample_weight
        return self.sample_weight[self.X.sequence]

    @property
    def is_single(self) -> bool:
        """Whether one row alone counts, so that there is nothing to leave out."""
        weight = self.sample_weight
        return len(self.outputs) == 1 or (weight is not None and np.count_nonzero(weight) == 1)


@dataclass(frozen=True)
class InputReaders:
    """What new inputs are read by; None for what the inputs of training do not need."""

    features: Any = None  # a kernel that is the inner product of features, fitted
    tokens: TokenReader | None = None  # of sequences of tokens
    encoder: TableEncoder | None = None  # of names, dates and missing cells


def input_readers(
    X: Any, kernel: Any, raw: bool = False, encode: bool = True, words: bool = False
) -> InputReaders:
    """The readers that inputs of training ask for.

    Parameters
    ----------
    X : inputs of any kind
    kernel : kernel, or its name
    raw : bool, default=False
        Whether the smoother takes inputs as they are.
    encode : bool, default=True
        Whether inputs that are no finite numbers are encoded; else they are refused later.
    words : bool, default=False
        Whether lists of texts are sentences; else they are rows of a table.
    """
    X = on_host(X)
    if not raw:
        _check_kernel_of_strings(X, kernel)
    if has_features(kernel):
        return InputReaders(features=clone(kernel).fit(X))
    sentences = not raw and are_words(X)
    if sentences and not words:
        _check_lengths(X)
    if are_tokens(X) or (sentences and words):
        return InputReaders(tokens=TokenReader().fit(X))
    if encode and needs_encoder(X):
        return InputReaders(encoder=TableEncoder(scale="auto").fit(X))
    return InputReaders()


def _check_lengths(X: Any) -> None:
    """Texts in rows of one length are a table; of several they are sentences."""
    if len({len(x) for x in X}) > 1:
        raise ValueError(
            f"X holds texts, such as {_first_text(X)!r}, and its rows differ in length: give "
            "space=Sequences() to learn a symbol for every word, or turn texts into numbers first."
        )


def needs_encoder(X: Any) -> bool:
    """Whether inputs have names, dates or missing cells: more than an array of numbers has.

    >>> needs_encoder([[1.0, 2.0]]), needs_encoder([[1.0, np.nan]]), needs_encoder([["a", 1.0]])
    (False, True, True)
    """
    if isinstance(X, Table) or are_records(X):
        return True
    if is_frame(X):
        return min(X.shape) > 0 and not is_plain(X)
    if sparse.issparse(X):
        return X.dtype.kind == "f" and _has_gaps(X.tocsr().data)
    if are_tokens(X):
        return False
    try:
        X = as_objects(X)
    except (TypeError, ValueError):  # rows of several lengths
        return False
    if X.ndim != 2 or X.dtype.kind not in "fO":
        return False
    floats = as_floats(X) if X.dtype == object else X
    return floats is None or _has_gaps(floats)


def _has_gaps(numbers: np.ndarray) -> bool:
    """Whether some are NaN; their sum tells that there is none without an array of answers."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(numbers.sum()):
            return False
    return bool(np.isnan(numbers).any())


def filling(X: Any) -> np.ndarray | None:
    """What fills cells that are missing in later rows only: medians of the rows of training.

    Of every k-th row where there are many: most models never use them.
    """
    if not isinstance(X, np.ndarray) and not sparse.issparse(X):
        return None
    found = medians(X[:: -(-X.shape[0] // MEDIAN_ROWS)])
    return found if found.any() else np.zeros(1)  # as of most sparse inputs


def _first_text(X: Any) -> str:
    return str(next(x[0] for x in X if len(x)))[:30]


def read_inputs(model: Any, X: Any, *, reset: bool = False) -> Any:
    """X as an array or CSR of floats; as a :class:`TokenBatch` where rows are sequences.

    By ``encoder_``, ``features_`` and ``tokens_`` of the model, see :func:`input_readers`. With
    ``reset`` number and names of the features are those of X; otherwise X must have those of
    training.
    """
    X = on_host(X)
    if model.encoder_ is not None:
        return narrow_indices(model.encoder_.transform(X))
    if model.features_ is not None:
        X = model.features_.transform(X)
        if X.shape[1] == 0:
            raise ValueError(
                f"{type(model.features_).__name__}: no string of the training X is long enough to "
                "have an n-gram."
            )
    if model.tokens_ is None:
        return checked(model, X, reset)
    batch = model.tokens_.read(X)
    if not reset and batch.tokens.shape[0] == 0:  # empty sequences only
        return batch
    return TokenBatch(checked(model, batch.tokens, reset), batch.starts)


# Methods that take new rows: where memory is short they say what to do, as ``fit`` does.
ANSWERS = (
    "predict", "decode", "kbest", "decision_function", "predict_marginals", "predict_risk",
    "predict_pairs", "log_proba", "sample", "explain", "score",
)  # fmt: skip


class InputReader:
    """Reads inputs of training, and keeps what later ones are read by.

    Attributes
    ----------
    features_, tokens_, encoder_ : see :class:`InputReaders`
    fill_ : array of shape (p,) or (1,), or None
        Medians of the features, for cells that only later rows miss.
    """

    features_: Any = None
    tokens_: Any = None
    encoder_: Any = None
    fill_: Any = None
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        advise_all(cls, ANSWERS)

    def _read_first(self, X: Any, kernel: Any = None, encode: bool = True) -> Any:
        """Inputs of training as the smoother reads them; see :func:`input_readers`."""
        raw = raw_inputs(self)
        encode = encode and not (raw or getattr(self, "_precomputed", False))
        words = Solving.of(getattr(self, "space", None)).decodes_chains  # a symbol for each
        readers = input_readers(X, kernel, raw, encode, words)
        self.features_, self.tokens_ = readers.features, readers.tokens
        self.encoder_, self.fill_ = readers.encoder, None
        if self.encoder_ is not None:
            self._keep_columns(self.encoder_)
            return read_inputs(self, X)
        X = read_inputs(self, X, reset=True)
        if encode and self.features_ is None:
            self.fill_ = filling(X)
        return X

    def _keep_columns(self, encoder: Any) -> None:
        """Number and names of the columns that were given, not of what they became."""
        self.n_features_in_ = encoder.n_features_in_
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def n_read(model: Any) -> int:
    """How many features :func:`read_inputs` gives of a row."""
    encoder = model.encoder_
    return int(model.n_features_in_ if encoder is None else len(encoder.feature_names_))


def given_outputs(y: Any, used_by: str) -> Any:
    """y, if there is one, as something that has a length; frames as those of pandas."""
    if y is None:
        raise ValueError(f"{used_by} requires y to be passed, but the target y is None.")
    y = in_memory(y)
    return y if hasattr(y, "__len__") else np.asarray(y)


def row_weights(sample_weight: Any, n: int) -> Any:
    """Weights of n rows, finite and not negative: ones where none were given."""
    return check_sample_weight(sample_weight, np.empty((n, 0)))


def _check_kernel_of_strings(X: Any, kernel: Any) -> None:
    """A text is no row of numbers, and a list of kernels is tried on numbers only."""
    if isinstance(kernel, (list, tuple)) and any(map(has_features, kernel)):
        raise ValueError("String kernels are tried one at a time: give a single one.")
    rows = isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1)
    first = X[0] if rows and len(X) else None
    if isinstance(first, str) and not has_features(kernel):
        raise ValueError(
            f"X[0] is the text {first[:30]!r}. Give a kernel between strings, such as "
            "SpectrumKernel(3), or turn texts into numbers first."
        )


def checked(model: Any, X: Any, reset: bool) -> Any:
    """An array or CSR of finite floats, with the features that the model knows.

    As it is where the model has a smoother that says what it takes. Cells that are missing now,
    and were not in training, are filled where the model knows by what.
    """
    if raw_inputs(model):
        return narrow_indices(checked_raw(model, X, reset))
    fill = None if reset else model.fill_
    finite = True if fill is None else "allow-nan"
    validated = partial(validate_data, reset=True) if reset else known_rows
    X = validated(model, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite)
    return narrow_indices(X if fill is None else _filled(X, fill))


def _filled(X: Any, fill: np.ndarray) -> Any:
    """The inputs with numbers for what is missing, as they are where nothing is."""
    numbers = X.data if sparse.issparse(X) else X
    if not _has_gaps(numbers):
        return X
    X = X.copy()
    if not sparse.issparse(X):
        return np.where(np.isnan(X), fill, X)
    gaps = np.isnan(X.data)
    X.data[gaps] = np.broadcast_to(fill, X.shape[1])[X.indices[gaps]]
    return X


def raw_inputs(model: Any) -> Any:
    """Whether a model has a smoother that takes inputs as they are."""
    return takes_raw_inputs(getattr(model, "smoother", None))


def has_features(kernel: Any) -> bool:
    """Whether a kernel is the inner product of features that it can write down."""
    return hasattr(kernel, "transform") and hasattr(kernel, "fit")


def plain_kernel(model: Any, kernel: Any) -> Any:
    """The kernel between what ``read_inputs`` gave."""
    return "linear" if model.features_ is not None else kernel


# Whether rows are those that a model was fitted to.


def are_training_rows(model: Any, X: Any, y: Any) -> bool:
    """Whether a model was fitted to these rows, in this order; an error where to some of them.

    Outputs are compared, and inputs where the model keeps them.
    """
    if X is None or y is None:
        return True  # the bounds say what they need
    truth, known = np.asarray(model.observation_space_.validate(y)), np.asarray(model.outputs_)
    rows = Weighing.of(model.smoother_).rows
    given = None if rows is None else read_inputs(model, X)
    if getattr(given, "shape", None) is None or hasattr(given, "tokens"):
        given = None
    if np.array_equal(truth, known, equal_nan=known.dtype.kind == "f") and (
        given is None or _same(given, rows)
    ):
        return True
    if given is not None and truth.shape[1:] == known.shape[1:]:
        _check_unseen(given, truth, rows, known)
    return False


def refuse_training_rows(trained: bool) -> None:
    """An error where a bound from held-out rows was asked for, and these are not."""
    if trained:
        raise ValueError(
            'bound="held_out": these are the rows of training; give rows that had no part in it.'
        )


def held_out_options(options: dict[Any, Any]) -> dict[Any, Any]:
    """What a bound from held-out rows may be given."""
    unknown = set(options) - {"loss_bound", "method"}
    if unknown:
        raise ValueError(
            f"certify: {', '.join(sorted(unknown))} belong to bounds from training rows; these "
            "rows are others, and take loss_bound and method."
        )
    return {"loss_bound": options.get("loss_bound"), "used_by": "certify"}


def _same(A: Any, B: Any) -> bool:
    if A.shape != B.shape:
        return False
    return not (A != B).nnz if sparse.issparse(A) and sparse.issparse(B) else bool((A == B).all())


def _check_unseen(X: Any, y: Any, rows: Any, outputs: np.ndarray) -> None:
    """Refuse rows of training among others; where inputs are discrete, nobody can know."""
    both = sparse.vstack([rows, X]) if sparse.issparse(X) else np.vstack([rows, X])
    number = copied_rows(both, np.concatenate([outputs, y]))
    if number is None:
        return
    seen = np.flatnonzero(np.isin(number[len(outputs) :], number[: len(outputs)]))
    if len(seen):
        raise ValueError(
            f"certify: row {seen[0]} of X and y is a row of training ({len(seen)} such rows). Give "
            "rows that had no part in training, or all rows of training and no others."
        )
