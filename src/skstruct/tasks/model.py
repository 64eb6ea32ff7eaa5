# SPDX-License-Identifier: BSD-3-Clause
"""A learner together with how its data are read: what a model file of the command line holds."""

from __future__ import annotations

from time import perf_counter

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skstruct.datasets.table import Table
from skstruct.datasets.training_blocks import TrainingBlocks
from skstruct.exceptions import DataFormatError
from skstruct.model_selection.evaluation import loss_name
from skstruct.tasks.choice import loss_of
from skstruct.tasks.learners import default_learner, make_learner, takes_landmarks
from skstruct.tasks.outputs import outputs_for_learning, space_for
from skstruct.tasks.seen_rows import overlap, remembered, row_digests
from skstruct.tasks.table_encoder import TableEncoder
from skstruct.tasks.table_source import TableSource
from skstruct.tasks.token_encoder import TokenEncoder


class TaskModel(BaseEstimator):
    """Fitted to a whole data set, predicts from another in the names of the first.

    Parameters
    ----------
    learner : str, default="auto"
        A name of :data:`skstruct.tasks.LEARNERS`.
    loss : str, default=None
        What a mistake costs; the usual loss of the task when None.
    parameters : dict, default=None
        Of the learner.
    scale : {"standard", "none"}, default="standard"
        As in TableEncoder.
    verbose : int, default=0

    Attributes
    ----------
    task_, format_ : str
    encoder_ : TableEncoder or TokenEncoder
    learner_ : the fitted learner
    reading_ : dict
        How columns of data files were named: ``targets``, ``id_column``.
    targets_ : tuple of str or None
        Names of the columns that were predicted.
    about_ : dict
        Where the model comes from and what was chosen, in words and numbers.
    seen_ : uint64 array of shape (k, 2), or None
        By which rows of training are known again; see :mod:`skstruct.tasks.seen_rows`.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.datasets.dataset import Dataset
    >>> inputs = Table(("warmth",), (None,), np.array([[0.0], [0.1], [1.0], [1.1]]))
    >>> data = Dataset("toy", "csv", "classes", inputs, np.array(["no", "no", "yes", "yes"]))
    >>> TaskModel().fit(data).predict(data)
    array(['no', 'no', 'yes', 'yes'], dtype='<U3')
    """

    seen_ = None  # of a model file of an earlier version

    def __init__(self, learner="auto", loss=None, parameters=None, scale="standard", verbose=0):
        self.learner = learner
        self.loss = loss
        self.parameters = parameters
        self.scale = scale
        self.verbose = verbose

    def fit(self, data, checkpoint=None):
        """Learn from a Dataset with outputs, or from TrainingBlocks, which are not held."""
        in_blocks = isinstance(data, TrainingBlocks)
        outputs = None if in_blocks else outputs_for_learning(data)
        if len(data) == 0:
            raise DataFormatError(f"{data.name} has no rows")
        name, why = self._chosen(data)
        self.task_, self.format_, self.targets_ = data.task, data.format, data.labels
        self.learner_name_ = name
        self.reading_ = {"targets": [], "id_column": None}
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

    def _fitted(self):
        """The learner, its space and loss, and the numbers that it chose."""
        learner = self.learner_
        told = {
            "learner": f"{self.learner_name_} ({type(learner).__name__})",
            "space": type(learner.space_).__name__,
        }
        if getattr(learner, "loss_", None) is not None:
            told["loss"] = loss_name(learner.loss_)
        for name in ("alpha_", "gamma_", "C_", "objective_", "gap_"):
            value = getattr(learner, name, None)
            if isinstance(value, (int, float)):
                told[name.rstrip("_")] = float(value)
        return told

    def new_encoder(self, data):
        """The encoder of such data, fitted to all of their rows."""
        if isinstance(data, TrainingBlocks):
            return TableEncoder(self.scale).fit_moments(data.inputs, data.moments)
        is_table = isinstance(data.inputs, Table)
        return (TableEncoder(self.scale) if is_table else TokenEncoder()).fit(data.inputs)

    def new_learner(self, data, name):
        """The learner of this name for such data, not yet fitted."""
        space = space_for(data)
        learner = make_learner(name, space, self.loss, self.verbose, **(self.parameters or {}))
        if takes_landmarks(name, learner, loss_of(learner, space), len(data)):
            learner.set_params(system="nystroem")
        return learner

    def _chosen(self, data):
        if self.learner != "auto":
            return self.learner, f"learner {self.learner}, as asked"
        name, why = default_learner(data)
        return name, f"learner {name}: {why}"

    def inputs(self, data):
        """What the learner reads of a Dataset."""
        check_is_fitted(self, "learner_")
        if len(data) == 0:
            raise DataFormatError("there are no rows")
        if isinstance(data.inputs, Table) != isinstance(self.encoder_, TableEncoder):
            raise DataFormatError(
                f"the model was fitted to {self.format_} data for {self.task_}; "
                f"{data.format} data came"
            )
        return self.encoder_.transform(data.inputs)

    def outputs(self, data):
        """Outputs of a Dataset as the learner reads them, columns in the order of training."""
        check_is_fitted(self, "learner_")
        return outputs_for_learning(data, self.targets_)

    def overlap(self, data):
        """How many rows of a Dataset were rows of training, or None where that is not known."""
        check_is_fitted(self, "learner_")
        if self.seen_ is None:
            return None
        is_table = isinstance(data.inputs, Table)
        return overlap(self.seen_, row_digests(self.inputs(data) if is_table else data.inputs))

    def predict(self, data, **options):
        """Outputs in the names of the data of training; options as of the learner."""
        return self.learner_.predict(self.inputs(data), **options)

    def predict_batches(self, blocks, **options):
        """Outputs of every block of rows, one after the other, as they are asked for.

        Parameters
        ----------
        blocks : iterable of Datasets
            Such as those of :func:`skstruct.datasets.blocks.read_blocks`.
        **options
            As of the learner.
        """
        for block in blocks:
            yield self.predict(block, **options)
