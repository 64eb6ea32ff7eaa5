# SPDX-License-Identifier: BSD-3-Clause
"""The column of risks that people read holds risks that a loss can have."""

import numpy as np
import pytest

from skstruct.cli.predictions import predictions
from skstruct.datasets.dataset import Dataset, Table
from skstruct.kernels import RBF
from skstruct.tasks import TaskModel

RNG = np.random.default_rng(0)


def data(n):
    X = RNG.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.5 * RNG.normal(size=n) > 0, "yes", "no")
    return Dataset("toy", "csv", "classes", Table(("a", "b"), (None, None), X), y)


@pytest.mark.parametrize("kbest", [None, 2])
def test_no_risk_is_below_zero(kbest):
    rough = {"alpha": 1e-4, "kernel": RBF(3.0)}
    model = TaskModel("kernel", parameters=rough).fit(data(60))
    X = model.inputs(data(100))
    raw = model.learner_.decode(X).values
    assert raw.min() < -0.01
    read = predictions(model, X, None, {}, kbest, True, None)
    at = read.columns.index("risk")
    risks = np.array([row[at] for row in read.rows if kbest is None or row[1] == 1])
    np.testing.assert_array_equal(risks, np.clip(raw, 0, 1))
    gaps = [row[read.columns.index("gap")] for row in read.rows]
    np.testing.assert_allclose(gaps, 0, atol=1e-12)  # of the estimates themselves
