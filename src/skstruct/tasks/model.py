# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a table file as a learner reads them, in blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.imports import is_pandas
from skstruct.datasets import Dataset, Table
from skstruct.datasets.tasks import outputs_for_learning, space_for
from skstruct.datasets.training_blocks import TrainingBlocks
from skstruct.encoding import TableEncoder
from skstruct.exceptions import DataFormatError
from skstruct.features import TokenFeatures
from skstruct.fitted import Fitted, Holding
from skstruct.learners.marginals import named_marginals
from skstruct.model_selection.evaluation import loss_name
from skstruct.saving import savable
from skstruct.spaces import Decoded
from skstruct.streaming import Block, Partition, Source
from skstruct.streaming.blocks import block_of, check_rows, joined, rows_text
from skstruct.tasks.learners import (
    default_learner,
    loss_of,
    make_learner,
    takes_landmarks,
)
from skstruct.tasks.records import labelled, sequences_of, with_index
from skstruct.tasks.row_digests import overlap, remembered, row_digests


class TableSource(Source):
    """The rows of TrainingBlocks, encoded.

    Parameters
    ----------
    data : TrainingBlocks
    encoder : TableEncoder
        Fitted to all rows.

    Attributes
    ----------
    seen : uint64 array of shape (k, 2), or None
        What a model remembers of the rows, once a pass over them is over.
    """

    n_rows: int

    def __init__(self, data: TrainingBlocks, encoder: Any) -> None:
        self.data, self.encoder = data, encoder
        self.n_rows = len(data)
        self.seen: np.ndarray | None = None

    def partitions(self, count: int | None = None) -> list[Partition]:
        """One partition, whatever the count: the rows of a text file are found in order."""
        return [TablePartition(self, self.n_rows)]

    def blocks(self, what: str, rows: int | None = None) -> Iterator[Block]:
        """All rows in order; ``what`` they are read for is what progress reports."""
        seen: np.ndarray | None = None
        start = 0
        for data in self.data.datasets(what, rows):
            n = len(data)
            if not n:
                continue
            X = self.encoder.transform(data.inputs)
            y = outputs_for_learning(data, self.data.labels)
            if self.seen is None:
                seen = remembered(row_digests(X), seen)
            yield Block(X, y, None, start, rows_text(start, start + n))
            start += n
        self.seen = seen if self.seen is None else self.seen

    def sample(self, n: int, random_state: Any = None) -> Block:
        """n rows, all sets of n rows being equally likely; all rows if there are fewer."""
        rows = np.arange(self.n_rows)
        if n < self.n_rows:
            rng = check_random_state(random_state)
            rows = np.sort(sample_without_replacement(self.n_rows, n, random_state=rng))
        kept = []
        for block in self.blocks("a sample of rows"):
            first, last = np.searchsorted(rows, [block.start, block.start + len(block)])
            if last > first:
                kept.append(block_of(block.values, rows[first:last] - block.start))
        return replace(joined(kept, ""), where=f"a sample of {len(rows):,} rows")


@dataclass(frozen=True)
class TablePartition(Partition):
    """All rows of a table."""

    source: Any
    n_rows: int
    start: int = 0

    def blocks(self, rows: int) -> Any:
        """At most so many rows at a time."""
        return self.source.blocks("sums over all rows", check_rows(rows))


def _has(method: str) -> Callable[..., Any]:
    return lambda model: Fitted.of(model).can(method)


@savable
class TaskModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fitted to a whole data set, predicts from another in the names of the first.

    Where a method takes ``X``, it may be a :class:`~skstruct.datasets.dataset.Dataset`, as
    ``read_data`` gives it; a DataFrame of pandas or polars, a table of pyarrow, or a list of
    dictionaries, with the columns of training by name (further ones are ignored); for sequences a
    list of lists of words, of tuples or dictionaries of words, or of arrays, as in the file of
    training. All are encoded as the command line encodes a file. Outputs for a DataFrame of pandas
    have its index.

    Parameters
    ----------
    learner : str, default="auto"
        A name of :data:`skstruct.tasks.LEARNERS`.
    loss : str, default=None
        The loss; the usual one of the task when None.
    parameters : dict, default=None
        Of the learner.
    scale : {"standard", "none"}, default="standard"
        As in TableEncoder.
    verbose : int, default=0

    Attributes
    ----------
    task_, format_ : str
    encoder_ : TableEncoder or TokenFeatures
    learner_ : the fitted learner
    reading_ : dict
        How columns of data files were named: ``targets``, ``id_column``.
    targets_ : tuple of str or None
        Names of the columns that were predicted.
    about_ : dict
        Where the model comes from and what was chosen, in words and numbers.
    seen_ : uint64 array of shape (k, 2), or None
        By which rows of training are known again; see :mod:`skstruct.tasks.row_digests`.
    control_ : RiskControl, PredictionSets or None
        What ``skstruct calibrate`` found, for ``control_.predict(model.inputs(X))``.
    abstention_ : Abstention or None
        Likewise, of rows or parts that are withheld.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.datasets.dataset import Dataset
    >>> inputs = Table(("warmth",), (None,), np.array([[0.0], [0.1], [1.0], [1.1]]))
    >>> data = Dataset("toy", "csv", "classes", inputs, np.array(["no", "no", "yes", "yes"]))
    >>> model = TaskModel().fit(data)
    >>> model.predict(data)
    array(['no', 'no', 'yes', 'yes'], dtype='<U3')
    >>> model.predict([{"warmth": 0.9, "wind": "north"}])
    array(['yes'], dtype='<U3')
    """

    seen_ = None  # of a model file of an earlier version
    control_: Any = None  # of a model that was not calibrated
    abstention_: Any = None

    def __init__(
        self,
        learner: str = "auto",
        loss: Any = None,
        parameters: dict[str, Any] | None = None,
        scale: str = "standard",
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.parameters = parameters
        self.scale = scale
        self.verbose = verbose

    def fit(self, data: Any, checkpoint: Any = None) -> Self:
        """Learn from a Dataset with outputs, or from TrainingBlocks, which are not held."""
        in_blocks = isinstance(data, TrainingBlocks)
        outputs = None if in_blocks else outputs_for_learning(data)
        if len(data) == 0:
            raise DataFormatError(f"{data.name} has no rows")
        name, why = self._chosen(data)
        self.task_, self.format_, self.targets_ = data.task, data.format, data.labels
        self.learner_name_ = name
        self.control_ = self.abstention_ = None
        self.reading_: dict[str, Any] = {"targets": [], "id_column": None}
        start = perf_counter()
        is_table = isinstance(data.inputs, Table)
        self.encoder_ = self.new_encoder(data)
        X = TableSource(data, self.encoder_) if in_blocks else self.encoder_.transform(data.inputs)
        encoded = perf_counter()
        self.learner_ = self.new_learner(data, name)
        options = {} if checkpoint is None else {"checkpoint": checkpoint}
        self.learner_.fit(X, outputs, **options)
        self.seen_ = (
            X.seen if in_blocks else remembered(row_digests(X if is_table else data.inputs))
        )
        seconds = {"encode": encoded - start, "fit": perf_counter() - encoded}
        self.about_ = {
            "task": data.task,
            "data": data.name,
            "format": data.format,
            "rows": len(data),
            **self._fitted(),
            "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
            "remarks": [*data.remarks, why],
        }
        return self

    def _fitted(self) -> dict[str, Any]:
        """The learner, its space and loss, and the numbers that it chose."""
        learner = self.learner_
        summary: dict[str, Any] = {
            "learner": f"{self.learner_name_} ({type(learner).__name__})",
            "space": type(learner.space_).__name__,
        }
        loss = Fitted.of(learner).loss
        if loss is not None:
            summary["loss"] = loss_name(loss)
        for name in ("alpha_", "gamma_", "objective_", "gap_"):
            value = getattr(learner, name, None)
            if isinstance(value, (int, float)):
                summary[name.rstrip("_")] = float(value)
        return summary

    def new_encoder(self, data: Any) -> Any:
        """The encoder of such data, fitted to all of their rows."""
        if isinstance(data, TrainingBlocks):
            return TableEncoder(self.scale).fit_facts(data.inputs, data.facts)
        is_table = isinstance(data.inputs, Table)
        return (TableEncoder(self.scale) if is_table else TokenFeatures()).fit(data.inputs)

    def new_learner(self, data: Dataset, name: str) -> Any:
        """The learner of this name for such data, not yet fitted."""
        space = space_for(data)
        learner = make_learner(name, space, self.loss, self.verbose, **(self.parameters or {}))
        if takes_landmarks(name, learner, loss_of(learner, space), len(data)):
            learner.set_params(solver="nystroem")
        return learner

    def _chosen(self, data: Dataset) -> tuple[str, str]:
        if self.learner != "auto":
            return self.learner, f"learner {self.learner}, as asked"
        name, why = default_learner(data)
        return name, f"learner {name}: {why}"

    def inputs(self, X: Any) -> Any:
        """What the learner reads of ``X``."""
        check_is_fitted(self, "learner_")
        is_table = isinstance(self.encoder_, TableEncoder)
        found = X.inputs if isinstance(X, Dataset) else X
        if not (isinstance(X, Dataset) and (is_table or isinstance(found, Table))):
            found = self._read(found, is_table)
        if len(found) == 0:
            raise DataFormatError("there are no rows")
        if isinstance(found, Table) != is_table:
            raise DataFormatError(
                f"the model was fitted to {self.format_} data for {self.task_}; got {X.format} data"
            )
        return self.encoder_.transform(found)

    def _read(self, X: Any, is_table: bool) -> Any:
        """Inputs in memory as a file of them would be read."""
        encoder = self.encoder_
        if not is_table:
            n_columns = None if encoder.columns_ is None else len(encoder.columns_)
            return sequences_of(X, n_columns, self.reading_["targets"])
        return encoder.by_name(X)

    def outputs(self, X: Any) -> Any:
        """Outputs that ``X`` has as the learner reads them, columns in the order of training."""
        check_is_fitted(self, "learner_")
        if not isinstance(X, Dataset):
            X = labelled(X, self.task_, tuple(self.reading_["targets"]))
        return outputs_for_learning(X, self.targets_)

    def overlap(self, data: Any) -> Any:
        """How many rows of a Dataset were rows of training, or None where that is not known."""
        check_is_fitted(self, "learner_")
        if self.seen_ is None:
            return None
        is_table = isinstance(data.inputs, Table)
        return overlap(self.seen_, row_digests(self.inputs(data) if is_table else data.inputs))

    def predict(self, X: Any, **options: Any) -> Any:
        """Outputs in the names of the data of training; options as of the learner."""
        return self._named(self.learner_.predict(self.inputs(X), **options), X)

    def _named(self, outputs: np.ndarray, X: Any) -> Any:
        targets = self.reading_["targets"]
        return with_index(outputs, X, self.targets_, targets[0] if len(targets) == 1 else None)

    @available_if(_has("decode"))  # type: ignore[untyped-decorator]
    def decode(self, X: Any, **options: Any) -> Decoded:
        """Outputs with their values and bounds, as of the learner."""
        found = self.learner_.decode(self.inputs(X), **options)
        return Decoded(self._named(found.outputs, X), found.values, found.bounds)

    @available_if(_has("kbest"))  # type: ignore[untyped-decorator]
    def kbest(self, X: Any, k: int = 3, **options: Any) -> Decoded:
        """The ``k`` best outputs, as of the learner: ``outputs`` has an entry for each rank."""
        found = self.learner_.kbest(self.inputs(X), k, **options)
        return Decoded([self._named(rank, X) for rank in found.outputs], found.values, found.bounds)

    @available_if(_has("predict_risk"))  # type: ignore[untyped-decorator]
    def predict_risk(self, X: Any, **options: Any) -> Any:
        """Estimated risks of the predictions, shape (n,)."""
        return self.learner_.predict_risk(self.inputs(X), **options)

    @available_if(_has("predict_marginals"))  # type: ignore[untyped-decorator]
    def predict_marginals(self, X: Any, **options: Any) -> Any:
        """How probable the parts of outputs are, as of the learner; a DataFrame for one of
        pandas, with its index and the names of labels, classes, levels or items.
        """
        found = self.learner_.predict_marginals(self.inputs(X), **options)
        return self._named_marginals(found, X, options.get("parts"))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes (n, k), or of every label (n, d), as of the learner."""
        return self._named_marginals(self.learner_.predict_proba(self.inputs(X)), X)

    def _named_marginals(self, found: Any, X: Any, parts: str | None = None) -> Any:
        if not is_pandas(X, "DataFrame"):
            return found
        if hasattr(found, "set_axis"):  # a frame already, as ``set_output`` asked for
            return found.set_axis(X.index)
        return named_marginals(self.learner_, [found], self.learner_.space_, parts, X.index)

    @available_if(_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self, X: Any, **options: Any) -> Any:
        """Which rows of training speak for and against, as of the learner."""
        return self.learner_.explain(self.inputs(X), **options)

    @available_if(_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Any:
        """Minus the mean loss, as of the learner.

        Parameters
        ----------
        y : outputs in the format of ``predict``, default=None
            Taken from ``X`` when None: a Dataset has them, and a frame or records in the columns
            that the command line was asked to predict.
        """
        y = self.outputs(X) if y is None else y
        return self.learner_.score(self.inputs(X), y, sample_weight, **options)


class _TaskModel(Holding):
    __slots__ = ()
    task = property(attrgetter("model.task_"))
    about = property(attrgetter("model.about_"))
    targets = property(attrgetter("model.targets_"))
    predicted_columns = property(lambda fitted: fitted.model.reading_["targets"])
    control = property(attrgetter("model.control_"))
    abstention = property(attrgetter("model.abstention_"))

    def __init__(self, model: TaskModel) -> None:
        super().__init__(model, model.encoder_, model.learner_)

    def inputs(self, X: Any) -> Any:
        return self.model.inputs(X)

    def encode(self, X: Any) -> Any:
        return self.model.encoder_.transform(X)


Fitted.at(TaskModel, _TaskModel)
