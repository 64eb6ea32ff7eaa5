# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a model as MLflow has them: frames, or arrays where columns have no names."""

from typing import Any

import numpy as np

from skstruct._arrays.imports import require
from skstruct.serving import Served


def pandas() -> Any:
    """The library of frames."""
    return require("pandas", used_by="skstruct.mlflow", extra="mlflow")


def kinds(served: Served) -> dict[str, str]:
    """Kinds of columns that are neither numbers nor names, in the words of the encoder."""
    encoder = served.fitted.encoder
    return {} if encoder is None else dict(encoder.others_)


def example(served: Served, n: int = 2) -> Any:
    """Made-up rows as MLflow takes them: a frame, or an array for columns without names."""
    rows = served.example_rows(n)
    if served.of_sequences:
        return pandas().DataFrame({"words": rows})
    if not served.columns:
        return np.asarray(rows, dtype=None if isinstance(rows[0], str) else np.float64)
    frame = pandas().DataFrame(rows, columns=[column.name for column in served.columns])
    for name, kind in kinds(served).items():
        if kind == "date":
            frame[name] = pandas().to_datetime(frame[name])
        elif kind == "boolean":
            frame[name] = frame[name].astype(bool)
    return frame


def rows_of(frame: Any, served: Served) -> Any:
    """Frames as the model knows their columns: words as lists, days as durations."""
    if not hasattr(frame, "iloc"):
        return frame
    if served.of_sequences:
        return list(frame.iloc[:, 0])
    days = [name for name, kind in kinds(served).items() if kind == "duration"]
    found = {name: pandas().to_timedelta(frame[name], unit="D") for name in days}
    return frame.assign(**found) if days else frame
