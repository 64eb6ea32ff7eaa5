# SPDX-License-Identifier: BSD-3-Clause
"""Predictions for more rows than fit into memory, as files."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.optional import is_pandas
from skstruct.smoothing.onepass.reading import restated

OWN = ("row", "risk", "bound")


class PredictedColumns:
    """Called with a block of rows, gives the columns of its predictions; it can be pickled.

    Parameters
    ----------
    model : fitted learner
    choices : dict
        Arguments of its ``decode``.
    """

    def __init__(self, model, choices):
        self.model, self.choices = model, choices

    def __call__(self, block) -> dict:
        try:
            decoded = self.model.decode(block.X, **self.choices)
        except (ValueError, TypeError) as error:
            raise restated(error, f"In {block.where}: {error}") from error
        row = np.arange(block.start, block.start + len(block))
        columns = {"row": row, **output_columns(decoded.outputs, self.model.space_)}
        return {**columns, "risk": decoded.values, "bound": decoded.bounds}


def output_columns(outputs, space) -> dict:
    """Columns of outputs: one a label where these are arrays, and else a single one.

    >>> output_columns(np.array(["a", "b"]), None)
    {'prediction': ['a', 'b']}
    """
    if is_pandas(outputs, "DataFrame"):
        named = {str(name): outputs[name].to_numpy() for name in outputs.columns}
    elif isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype != object:
        names = getattr(space, "labels_", None)
        names = range(outputs.shape[1]) if names is None else names
        if len(names) != outputs.shape[1]:
            names = range(outputs.shape[1])
        named = {str(name): outputs[:, j] for j, name in enumerate(names)}
    else:
        return {"prediction": [_plain(output) for output in outputs]}
    clash = sorted(set(OWN) & set(named))
    return {(f"{n}_prediction" if n in clash else n): column for n, column in named.items()}


def _plain(output):
    """Sets and tuples as lists, numbers of numpy as those of Python."""
    if isinstance(output, (set, frozenset)):
        return sorted(output, key=str)
    if isinstance(output, (tuple, np.ndarray)):
        return np.asarray(output).tolist()
    return output.item() if isinstance(output, np.generic) else output
