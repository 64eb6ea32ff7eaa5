# SPDX-License-Identifier: BSD-3-Clause
"""Types of rows, params and answers, from what a model knows of its columns."""

from typing import Any

from skstruct._arrays.imports import require
from skstruct.mlflow.pyfunc import PyfuncModel
from skstruct.mlflow.rows import example, kinds
from skstruct.serving import Served

# Of MLflow, by what a column held in training. Durations are numbers of days.
_TYPES = {"number": "double", "names": "string", "date": "datetime", "boolean": "boolean"}
# What predict is asked beside rows: type and default of MLflow's params.
_PARAMS: dict[str, tuple[str, Any]] = {
    "method": ("string", "predict"),
    "loss": ("string", None),
    "restrict": ("string", None),
    "threshold": ("string", None),
    "level": ("double", None),
    "k": ("long", 3),
    "n": ("long", 5),
}


def _mlflow(module: str = "mlflow") -> Any:
    return require(module, used_by="skstruct.mlflow", extra="mlflow")


def signature_of(model: Any) -> Any:
    """The ``ModelSignature`` of a fitted model: its columns, its answers, and ``params``."""
    models, types = _mlflow("mlflow.models"), _mlflow("mlflow.types")
    served = Served("skstruct", model)
    params = types.ParamSchema(
        [types.ParamSpec(name, kind, default) for name, (kind, default) in _PARAMS.items()]
    )
    return models.ModelSignature(_inputs_schema(served, types), _outputs_schema(served), params)


def _inputs_schema(served: Served, types: Any) -> Any:
    if served.of_sequences:
        schema = _mlflow("mlflow.types.schema")
        words = example(served)["words"].iloc[0]
        strings = isinstance(words, str) or all(isinstance(word, str) for word in words)
        listed = "string" if isinstance(words, str) else schema.Array("string")
        return types.Schema([types.ColSpec(listed if strings else schema.AnyType(), "words")])
    if served.columns:
        others = kinds(served)
        told = ((column.name, others.get(column.name, column.kind)) for column in served.columns)
        return types.Schema(
            [types.ColSpec(_TYPES.get(kind, "double"), name) for name, kind in told]
        )
    rows = example(served)
    return types.Schema([types.TensorSpec(rows.dtype, (-1, *rows.shape[1:]))])


def _outputs_schema(served: Served) -> Any:
    """Of ``predict`` for rows of no special wishes, where MLflow has a type for it."""
    models = _mlflow("mlflow.models")
    try:
        found = PyfuncModel(served.model).predict(example(served))
        return models.infer_signature(None, found).outputs
    except Exception:  # MLflow has no type for some outputs, and then tells none
        return None
