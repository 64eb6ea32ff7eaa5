# SPDX-License-Identifier: BSD-3-Clause
"""Writes model files that every later version must read, with what they predict.

    python tests/persistence/make_golden.py

Run it once for every new format version, and never over files that are there: what a released
version has written stays as it is.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from persistence.saved_cases import Case, X, all_cases
from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import Dataset, Table
from skstruct.persistence import save_model
from skstruct.persistence.model_files import FORMAT_VERSION
from skstruct.persistence.stored_predictions import predict_with_values
from skstruct.smoothing import Forest
from skstruct.spaces import LabelSets
from skstruct.tasks import TaskModel

GOLDEN = Path(__file__).parent / "golden"
CHOSEN = {
    "hierarchy": "risk, Hierarchy, DAG",
    "rankings": "risk, Rankings, limited",
    "flows": "risk, Flows",
    "graph-nodes": "counting, GraphNodes",
    "tours": "perceptron, Cycles",
    "states": "family, PairwiseStates, limited",
    "strings": "strings SpectrumKernel(n=2), outputs",
    "tokens": "tokens, names, StructuredSVM",
    "frame": "frame of sets",
    "pipeline": "pipeline, names",
    "boosting": "ranker LabelRankingBoosting(n_estimators=3, random_state=0)",
}


def golden_cases() -> dict[str, Case]:
    """The cases that are kept, by the name of their file."""
    cases = all_cases()
    chosen = {name: cases[long] for name, long in CHOSEN.items()}
    forest = ConditionalRiskMinimizer(
        LabelSets("abc"), smoother=Forest(2, min_samples_leaf=1, random_state=0)
    )
    return chosen | {"forest": Case(forest, X, (X > 0).astype(int)), "task": TaskCase()}


class TaskCase:
    """What the command line saves: a learner and how its data are read."""

    def __init__(self):
        rows = np.column_stack([X[:, 0], np.arange(len(X)) % 3])
        table = Table(("number", "word"), (None, ("x", "y", "z")), rows)
        labels = [("m", "m/n") if x > 0 else ("m",) for x in X[:, 0]]
        self.data = Dataset(
            "toy", "csv", "hierarchy", table, labels, ("m", "m/n", "p"), (("m", "m/n"),)
        )

    def fitted(self):
        return TaskModel(parameters={"alpha": 1.0}).fit(self.data)

    @property
    def X(self):
        """What the learner reads of the data."""
        return self.fitted().inputs(self.data)


def plain(outputs):
    """Outputs as JSON can hold them."""
    if hasattr(outputs, "to_numpy"):
        return plain(outputs.to_numpy())
    if isinstance(outputs, dict):
        return [[plain(key), plain(value)] for key, value in outputs.items()]
    if isinstance(outputs, (set, frozenset)):
        return sorted(map(plain, outputs))
    if isinstance(outputs, (list, tuple, np.ndarray)):
        return [plain(part) for part in outputs]
    return outputs.item() if isinstance(outputs, np.generic) else outputs


def answers(model, case) -> dict:
    """What a model says about the inputs of a case."""
    found = predict_with_values(model, case.X)
    return {key: None if part is None else plain(part) for key, part in found.items()}


def main():
    GOLDEN.mkdir(exist_ok=True)
    for name, case in golden_cases().items():
        path = GOLDEN / f"v{FORMAT_VERSION}-{name}.skstruct"
        if path.exists():
            print(f"{path.name} is there and stays")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = case.fitted()
            save_model(model, path)
        path.with_suffix(".json").write_text(json.dumps(answers(model, case)) + "\n")
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
