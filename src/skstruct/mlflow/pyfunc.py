# SPDX-License-Identifier: BSD-3-Clause
"""What ``mlflow.pyfunc`` asks: rows and params in, a frame of answers out."""

import contextlib
import json
from typing import TYPE_CHECKING, Any

from skstruct._arrays.imports import require
from skstruct.mlflow.rows import pandas, rows_of
from skstruct.serving import Asked, Served
from skstruct.serving.answers import answer
from skstruct.serving.settings import ONLY_OF

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("predict", "decode", "marginals", "kbest", "explain")


class PyfuncModel:
    """What ``mlflow.pyfunc.load_model`` asks: rows and params in, a frame of answers out."""

    def __init__(self, model: Any) -> None:
        self.served = Served("skstruct", model)

    def get_raw_model(self) -> Any:
        """The model of skstruct."""
        return self.served.model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> "pd.DataFrame":
        """One answer for each row, with the index of a frame.

        Parameters
        ----------
        model_input : DataFrame, array or list of records
        params : dict, default=None
            ``method``, one of predict, decode, marginals, kbest and explain; ``loss``;
            ``restrict``, constraints as JSON text; ``threshold``; ``level``; ``k``; ``n``.
        """
        exceptions = require("mlflow.exceptions", used_by="skstruct.mlflow", extra="mlflow")
        try:
            method, asked = _asked(params or {})
            X = self.served.inputs(rows_of(model_input, self.served))
            records = answer(method, self.served, X, asked)
        except (ValueError, NotImplementedError) as error:
            raise exceptions.MlflowException.invalid_parameter_value(str(error)) from error
        return _frame(records, getattr(model_input, "index", None))


def _asked(params: dict[str, Any]) -> tuple[str, Asked]:
    """The method, and what it is asked for beside rows."""
    given = {key: value for key, value in params.items() if value is not None}
    method = given.pop("method", "predict")
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}; got {method!r}.")
    for option in ("k", "n"):  # MLflow adds both to every request
        if method != ONLY_OF[option]:
            given.pop(option, None)
    if isinstance(given.get("restrict"), str):
        try:
            given["restrict"] = json.loads(given["restrict"])
        except json.JSONDecodeError as error:
            raise ValueError(
                f"restrict is JSON text, such as '{{\"max_size\": 3}}'; got one with: {error}."
            ) from None
    if isinstance(given.get("threshold"), str):
        with contextlib.suppress(ValueError):  # the name of a measure
            given["threshold"] = json.loads(given["threshold"])
    return method, Asked.from_dict(given)


def _frame(records: list[dict[str, Any]], index: Any) -> "pd.DataFrame":
    """Answers by column; numbers are numbers where all of them are there."""
    columns = list(records[0])
    found = {}
    for name in columns:
        cells = [record.get(name) for record in records]
        plain = all(isinstance(cell, (bool, int, float, str)) for cell in cells)
        series = pandas().Series(cells, index=index, dtype=object)
        found[name] = series.infer_objects() if plain else series
    return pandas().DataFrame(found, index=index)
