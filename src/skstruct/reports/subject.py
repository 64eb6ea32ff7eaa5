# SPDX-License-Identifier: BSD-3-Clause
"""The model that a report is about, with its predictions and what they lose."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.imports import is_pandas
from skstruct.encoding.frames import FrameSource, is_frame, is_plain
from skstruct.fitted import Fitted
from skstruct.inspection.risks import judged, risks_and_losses
from skstruct.learners.tokens import are_tokens
from skstruct.losses import PartlyKnown, pair, resolve_loss
from skstruct.losses.base import same_width
from skstruct.spaces import Description, Targets
from skstruct.spaces.truth import check_some_told, seen_by


@dataclass(frozen=True)
class Subject:
    """All that sections need, computed once."""

    model: Any  # as it was given
    learner: Any  # what decides: the model, or the last step of a pipeline
    X: Any  # as the model takes them; rows of numbers as a table
    inner: Any  # as the learner takes them
    y: Any
    space: Any
    kind: str
    predicted: np.ndarray  # in canonical form
    truth: np.ndarray
    loss: Any  # of the learner, bound to its space
    losses: np.ndarray  # shape (n,)
    risks: np.ndarray | None  # estimated, with what they were estimated for
    risk_losses: np.ndarray | None
    why_no_risks: str
    seconds: dict[Any, Any]  # what took how long
    options: dict[Any, Any] = field(default_factory=dict)
    known: np.ndarray | None = None  # parts of the truth, shape (n, d), where not all are known
    unknown: str = ""  # how much is not, in a sentence
    every: Any = None  # inputs and outputs of all rows, those that say nothing included

    @property
    def n(self) -> int:
        return len(self.losses)

    @property
    def fitted(self) -> Fitted:
        """What the fit has found."""
        return Fitted.of(self.learner)

    @property
    def has_gaps(self) -> bool:
        """Whether parts are not known of rows that say something."""
        return self.known is not None and not bool(self.known.all())

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.options.get("random_state", 0))

    def input_of(self, i: int) -> Any:
        """One input, as displays take it."""
        return row_of(self.inner, i)


def read_subject(model: Any, X: Any, y: Any, **options: Any) -> Subject:
    """Predict, and compare with true outputs.

    Parameters
    ----------
    model : fitted learner, or pipeline that ends in one
    X, y : rows that the model was not trained on, with their true outputs
        Rows of which nothing is known have no part but in the ends of losses.
    **options
        Those of :func:`skstruct.reports.write_report`.
    """
    X = known_rows(X)
    fitted = Fitted.of(model)
    learner, inner = fitted.decider(X)
    if not fitted.can("fit") or not fitted.can("predict"):
        raise ValueError(f"A report is about a learner of skstruct; got {fitted.name}.")
    check_is_fitted(learner)
    space = fitted.space
    if space is None:
        raise ValueError(
            f"A report is about a learner of skstruct, which has a space_; {fitted.name} has none."
        )
    if len_of_rows(X) == 0:
        raise ValueError("A report needs rows to judge predictions by; X has none.")
    start = time.perf_counter()
    outputs = model.predict(X)
    seconds = {"prediction": time.perf_counter() - start}
    loss = own_loss(learner)
    if fitted.several_outputs:
        y = _nearest(space, loss, outputs, y)
    predicted, read = judged(space, outputs, y, learner)
    check_some_told(read)
    inner = inner.tocsr() if sparse.issparse(inner) else inner  # so that it has rows
    every, says = (inner, y), read.says
    losses = PartlyKnown.of(loss).against(predicted, read)
    known = None if read.is_whole else read.known
    if not says.all():
        rows = np.flatnonzero(says)
        X, inner, y = (_safe_indexing(part, rows) for part in (X, inner, y))
    right = Targets.of(seen_by(learner)).outputs_of(read.outputs)
    predicted, truth, losses = (
        predicted[says],
        _of_width(right, predicted)[says],
        losses[says],
    )
    risks, risk_losses, why = _risks(learner, inner, y)
    by_symbols = model is learner and fitted.features is not None
    X = X if by_symbols else table_of(X)
    kind = Description.of(space).output_kind
    return Subject(
        model, learner, X, inner, y, space, kind, predicted, truth, loss, losses,
        risks, risk_losses, why, seconds, options,
        None if known is None else _of_width(known, predicted)[says],
        read.in_words(space) or "", every,
    )  # fmt: skip


def _of_width(parts: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Truths, or which of their parts are known, as wide as predictions; padding is no part."""
    if parts.dtype != bool:
        return same_width(parts, predicted)[0]
    missing = (predicted.shape[1] if predicted.ndim == 2 else 1) - parts.shape[1]
    return np.pad(parts, [(0, 0), (0, max(0, missing))], constant_values=False)


def own_loss(learner: Any) -> Any:
    """The loss that the learner is judged by, bound to its space."""
    problem = Fitted.of(learner).problem
    if problem is not None:
        return problem.loss
    asked, space = learner.get_params(deep=False).get("loss"), learner.space_
    return pair(resolve_loss(asked or space.default_loss), space, learner.outputs_)[1]


def _risks(learner: Any, X: Any, y: Any) -> tuple[np.ndarray | None, np.ndarray | None, str]:
    try:
        risks, losses = risks_and_losses(learner, X, y)
    except ValueError as error:
        return None, None, str(error)
    if not (np.isfinite(risks).all() and np.isfinite(losses).all()):
        return None, None, "Estimated risks are not finite."
    return risks, losses, ""


def _nearest(space: Any, loss: Any, outputs: Any, y: Any) -> Any:
    """Of several correct outputs of each row, the one nearest to the prediction."""
    predicted = space.validate(outputs)
    chosen = []
    for z, correct in zip(predicted, y):
        truths = space.validate(list(correct))
        losses = loss(np.broadcast_to(z, truths.shape), truths)
        chosen.append(list(correct)[int(np.argmin(losses))])
    return chosen


def len_of_rows(X: Any) -> int:
    """Number of inputs, whatever holds them."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def row_of(X: Any, i: int) -> Any:
    """One input in the form that it had among others."""
    if is_pandas(X, "DataFrame"):
        return X.iloc[[i]]
    if is_pandas(X, "Series"):
        return X.iloc[i]
    return X[[i]] if sparse.issparse(X) else X[i]


def known_rows(X: Any) -> Any:
    """A frame of polars or pyarrow as what has rows: an array of numbers, or dictionaries."""
    if is_pandas(X, "DataFrame") or not is_frame(X):
        return X
    source = FrameSource(X)
    columns = [source.cells(name) for name in source.names]
    if is_plain(X):
        return np.array(columns, dtype=float).T
    return [dict(zip(source.names, cells)) for cells in zip(*columns)]


def table_of(X: Any) -> Any:
    """Lists of rows of numbers as an array, sparse matrices by rows, and all else as it is.

    >>> table_of([[1.0, 2.0], [3.0, 4.0]]).shape, table_of(["a b", "c"])
    ((2, 2), ['a b', 'c'])
    """
    if sparse.issparse(X):
        return X.tocsr()
    if not isinstance(X, (list, tuple)) or are_tokens(X):
        return X
    if not all(isinstance(row, (list, tuple, np.ndarray)) for row in X):
        return X
    try:
        table = np.asarray(X)
    except ValueError:  # rows of several lengths
        return X
    return table if table.ndim == 2 and table.dtype.kind in "biuf" else X
