# SPDX-License-Identifier: BSD-3-Clause
"""Other servers of the same data: scikit-learn behind FastAPI, and behind MLflow's scoring server.

    python benchmarks/serve_peers.py PORT MODEL.joblib

serves a kernel ridge regression with a threshold, as a short FastAPI program does.
"""

from __future__ import annotations

import sys

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def fitted(frame: pd.DataFrame, Y: np.ndarray, alpha: float):
    """Numbers scaled, names one-hot, kernel ridge regression of all labels."""
    names = [column for column in frame if frame[column].dtype.kind not in "if"]
    numbers = [column for column in frame if column not in names]
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), names)
    )
    model = make_pipeline(columns, KernelRidge(alpha=alpha * len(frame), kernel="rbf"))
    return model.fit(frame, Y)


def save_for_mlflow(model, frame: pd.DataFrame, path) -> None:
    import mlflow.sklearn
    from mlflow.models import infer_signature

    mlflow.sklearn.save_model(
        model, str(path), serialization_format="cloudpickle", pip_requirements=["scikit-learn"],
        signature=infer_signature(frame[:3], model.predict(frame[:3])),
    )  # fmt: skip


def app(path: str, labels: list[str]):
    """Records in, label sets out."""
    from fastapi import FastAPI

    model, served = joblib.load(path), FastAPI()

    @served.post("/predict")
    def predict(body: dict) -> dict:
        scores = model.predict(pd.DataFrame(body["rows"]))
        return {"answers": [[labels[j] for j in np.flatnonzero(row > 0.5)] for row in scores]}

    @served.get("/ready")
    def ready() -> dict:
        return {}

    return served


if __name__ == "__main__":
    import uvicorn

    model = joblib.load(sys.argv[2])
    names = [f"label {j}" for j in range(model[-1].dual_coef_.shape[1])]
    uvicorn.run(app(sys.argv[2], names), port=int(sys.argv[1]), log_level="critical")
