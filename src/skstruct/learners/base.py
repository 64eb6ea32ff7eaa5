# SPDX-License-Identifier: BSD-3-Clause
"""What learners that smooth and then decide have in common."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.optional import is_pandas
from skstruct._arrays.progress import watching
from skstruct.backends import backend_for
from skstruct.learners.batches import decide_in_blocks
from skstruct.learners.inputs import read_inputs
from skstruct.spaces import Decoded
from skstruct.spaces.base import check_k
from skstruct.spaces.limits import check_n_rows


class BlockPredictor(BaseEstimator):
    """Predictions from a fitted ``space_``, in blocks of rows.

    A child has the parameters ``memory``, ``n_jobs`` and ``verbose``, and asks with a
    problem and a smoother of its targets.
    """

    _kernel_parameter = "kernel"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed
        tags.target_tags.required = True
        return tags

    @property
    def _precomputed(self) -> bool:
        kernel = getattr(self, self._kernel_parameter)
        return isinstance(kernel, str) and kernel == "precomputed"

    def _checked(self, X):
        """Inputs as the smoother reads them, and the index of their rows, if they have one."""
        check_is_fitted(self)
        index = X.index if is_pandas(X, "DataFrame", "Series") else None
        return read_inputs(self, X, reset=False), index

    def _check_limits(self, problem, n: int) -> None:
        """Raise where limits that differ from row to row are not those of n new rows."""
        limits = getattr(problem.space, "limits_", None)
        if getattr(limits, "of_training", False):
            raise ValueError(
                f"{type(self.space_).__name__}: the constraints differ from row to row, and were "
                "given for training; give those of the new rows: restrict={...}."
            )
        check_n_rows(limits, n, type(self.space_).__name__)

    def _in_blocks(self, X, problem, smoother, decide):
        self._check_limits(problem, X.shape[0])
        budget = {"memory": self.memory, "n_jobs": self.n_jobs, "verbose": self.verbose}
        smooth = partial(problem.smooth, smoother)
        with watching(self.verbose):
            return decide_in_blocks(X, smooth, decide, problem.bytes_per_row(), **budget)

    def _decided(self, X, problem, smoother) -> Decoded:
        """Decisions on the device that smooths, where it can decode, and else on the host."""
        device = getattr(self, "device_", None)
        if device is not None:
            from skstruct.learners.on_device import decide_on_device

            self._check_limits(problem, X.shape[0])
            decoded = decide_on_device(problem, smoother, X, backend_for(device), self.memory)
            if decoded is not None:
                return decoded
        return self._in_blocks(X, problem, smoother, problem.decode)

    def _decode(self, X, problem, smoother) -> Decoded:
        X, index = self._checked(X)
        decoded = self._decided(X, problem, smoother)
        outputs = self.space_.restore(decoded.outputs, index)
        return Decoded(outputs, decoded.values, decoded.bounds)

    def predict_batches(self, batches, **choices):
        """Predictions for one batch of rows after another; a generator, in order.

        While one batch is decided the next one is read and smoothed, so that a source of rows,
        matrix products and decoding work at the same time, and no more than some batches are
        held. An error says in which batch it is.

        Parameters
        ----------
        batches : iterable of inputs as in ``predict``, or a source of :mod:`skstruct.streaming`
        **choices
            Of ``predict``, such as ``restrict``.

        Yields
        ------
        outputs of each batch, in the form of ``predict``
        """
        return (decoded.outputs for decoded in self.decode_batches(batches, **choices))

    def decode_batches(self, batches, **choices):
        """The same with estimated risks and bounds; yields :class:`~skstruct.spaces.Decoded`."""
        from skstruct.learners.batch_streams import decode_batches, inputs_of, prepared

        problem, smoother = prepared(self, choices)
        return decode_batches(self, inputs_of(self, batches), problem, smoother)

    def predict_parquet(self, X, folder, *, engine=None, n_partitions=None, **choices) -> int:
        """Write predictions for a source of rows to a folder of Parquet files.

        Each partition of the source becomes one file, written whole by the process that predicts
        it: here, or on the workers of a cluster. Columns are ``row``, the output (one column a
        label, or ``prediction``), ``risk`` and its lower ``bound``, both as of ``decode``: their
        difference is the certificate.

        Parameters
        ----------
        X : source of :mod:`skstruct.streaming`, path of Parquet files, memory-mapped array, array
        folder : str or path
            Made if it is not there; it must be empty.
        engine : None, "dask", client or engine, default=None
        n_partitions : int, default=None
        **choices
            Of ``predict``, such as ``restrict``.

        Returns
        -------
        int
            Number of rows.
        """
        from skstruct.learners.batch_streams import inputs_source
        from skstruct.learners.prediction_files import PredictedColumns
        from skstruct.streaming.writing import predict_partitions

        check_is_fitted(self)
        return predict_partitions(
            PredictedColumns(self, choices), inputs_source(self, X), folder, engine, self.verbose,
            count=n_partitions,
        )  # fmt: skip

    def _kbest(self, X, k, problem, smoother) -> Decoded:
        check_k(k, type(self).__name__)
        X, index = self._checked(X)
        best = self._in_blocks(
            X, problem, smoother, lambda means, rows: problem.kbest(means, k, rows)
        )
        ranks = range(best.outputs.shape[1])
        outputs = [self.space_.restore(best.outputs[:, rank], index) for rank in ranks]
        return Decoded(outputs, best.values, best.bounds)

    def _score(self, X, y, sample_weight, problem, smoother) -> float:
        losses = self._losses(X, y, problem, smoother, sample_weight)
        return 0.0 - float(np.average(losses, weights=sample_weight))

    def _losses(self, X, y, problem, smoother, sample_weight=None) -> np.ndarray:
        """Losses of the predictions for X, row by row."""
        X, _ = self._checked(X)
        check_consistent_length(X, y, sample_weight)
        truth = self.space_.validate(y)
        problem.check_truth(X, truth)
        return problem.loss(self._decided(X, problem, smoother).outputs, truth)
