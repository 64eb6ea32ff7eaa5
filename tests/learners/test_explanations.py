# SPDX-License-Identifier: BSD-3-Clause
"""Who weighs for a prediction and who against it; what all rows have is nobody's weight."""

import re

import numpy as np
import pytest
from fastapi.testclient import TestClient
from numpy.testing import assert_array_equal

from skstruct import ConditionalRiskMinimizer
from skstruct.explorer import make_app
from skstruct.learners.base import Explanation
from skstruct.reports import write_report
from skstruct.serving import Asked, Served
from skstruct.serving.answers import explain
from skstruct.serving.writing import written
from skstruct.smoothing import KernelRidge, Neighbors, Scaled, Stacked

RNG = np.random.default_rng(0)
N = 60
X = RNG.standard_normal((N, 3))
Y = (X @ RNG.standard_normal((3, 4)) > 0).astype(int)
X_NEW = RNG.standard_normal((20, 3))
WEIGHT = RNG.uniform(0.5, 2.0, N)


def of_stack(coef):
    """Three neighbours with some weight, and the mean with the rest to one."""
    model = ConditionalRiskMinimizer(smoother=Stacked([Neighbors(3)])).fit(X, Y)
    model.smoother_.coef_ = np.array([coef])
    return model


@pytest.mark.parametrize("sample_weight", [None, WEIGHT])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("n_neighbors", [3, 40])  # few rows have more than the mean, or most
@pytest.mark.parametrize("coef", [0.8, 1.3])  # the mean is added, or taken off
def test_the_weight_in_the_mean_is_nobodys(sample_weight, scaled, n_neighbors, coef):
    smoother = Stacked([Neighbors(n_neighbors)])
    smoother = Scaled(smoother) if scaled else smoother
    model = ConditionalRiskMinimizer(smoother=smoother).fit(X, Y, sample_weight)
    stack = model.smoother_.smoother_ if scaled else model.smoother_
    stack.coef_ = np.array([coef])
    told = model.explain(X_NEW)
    near = stack.parts_[0].weights(X_NEW if not scaled else model.smoother_._scaled(X_NEW))
    near = near.toarray() if hasattr(near, "toarray") else near
    assert (np.asarray(told.weights) != 0).all()
    assert (told.opponents(N) == -1).all()
    for i, rows in enumerate(told.supporters(N)):
        assert set(rows[rows >= 0]) == set(np.flatnonzero((near[i] > 0) & (told.weights[i] > 0)))


def test_all_alike_are_nobodys():
    """Where the mean is predicted for everybody, no row weighs more than another."""
    model = of_stack(0.0)
    assert (model.explain(X_NEW).supporters(3) == -1).all()


def test_opponents_are_rows_of_their_own_and_none_has_the_prediction():
    model = ConditionalRiskMinimizer(smoother=KernelRidge("rbf", alpha=0.1)).fit(X, Y)
    told = model.explain(X_NEW)
    found = told.opponents(4)
    assert len(np.unique(found[:, 0])) > 5  # of 20 rows
    decided = model.predict(X_NEW)
    for i, rows in enumerate(found):
        assert (told.losses[i, rows] > 0).all()
        assert (Y[rows] != decided[i]).any(axis=1).all()
        others = np.flatnonzero((told.losses[i] > 0) & (told.weights[i] < 0))
        assert_array_equal(rows, others[np.argsort(told.weights[i, others])][:4])


def test_few_rows_may_weigh_the_same():
    told = Explanation(np.array([[0.5, 0.5, 0.0], [0.7, -0.2, -0.2]]), np.ones((2, 3)))
    assert_array_equal(told.supporters(2), [[0, 1], [0, -1]])
    assert_array_equal(told.opponents(2), [[-1, -1], [1, 2]])


@pytest.mark.slow
def test_every_door_says_that_there_are_none(tmp_path):
    model = of_stack(1.3)
    records = explain(Served("m", model), X_NEW, Asked(n=3))
    assert all(record["opponents"] == [] and len(record["supporters"]) == 3 for record in records)
    lines = written(Served("m", model), records, "text/csv").decode().splitlines()
    assert all(line.endswith(",none") for line in lines[1:])
    client = TestClient(make_app(model, X_NEW, Y[:20]), base_url="http://127.0.0.1:8000")
    shown = client.post("/api/decide", json={"row": 0}).json()
    assert (shown["opponents"], len(shown["supporters"])) == ([], 3)
    page = write_report(model, X_NEW, Y[:20], tmp_path / "r.html").read_text("utf-8")
    assert "strongest opponents" not in page
    assert re.search(r"opponents</\w+>\s*<\w+>none", page)


def test_opponents_of_the_explorer_are_those_of_python():
    model = ConditionalRiskMinimizer(smoother=KernelRidge("rbf", alpha=0.1)).fit(X, Y)
    client = TestClient(make_app(model, X_NEW, Y[:20]), base_url="http://127.0.0.1:8000")
    for asked in ({}, {"restrict": {"max_size": 1}}, {"loss": "zero_one"}):
        told = model.explain(X_NEW[:3], **asked).opponents(5)
        for row in range(3):
            shown = client.post("/api/decide", json={"row": row} | asked).json()["opponents"]
            assert [one["row"] for one in shown] == told[row].tolist()
