# SPDX-License-Identifier: BSD-3-Clause
"""Sums over rows with sparse targets are those with dense ones."""

import numpy as np
import pytest
from scipy import sparse

from skstruct.smoothing import NystroemRidge
from skstruct.smoothing.nystroem import sums

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
T = RNG.random((120, 30)) * (RNG.random((120, 30)) < 0.08)
WEIGHT = RNG.random(120) + 0.5
NEW = RNG.normal(size=(7, 4))


def ridge(targets, weight=None, **options):
    return NystroemRidge("rbf", 0.1, n_landmarks=40, **options).fit(X, targets, weight)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
@pytest.mark.parametrize("columns", [2_000, 7])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_predictions_and_left_out_means(weight, columns, dtype, monkeypatch):
    monkeypatch.setattr(sums, "COLUMNS", columns)
    full, thin = (
        ridge(targets, weight, dtype=dtype, n_partitions=3) for targets in (T, sparse.csr_array(T))
    )
    close = {"rel": 1e-9, "abs": 1e-10} if dtype == "float64" else {"rel": 1e-3, "abs": 1e-4}
    assert thin.predict(NEW) == pytest.approx(full.predict(NEW), **close)
    assert thin.loo() == pytest.approx(full.loo(), **close)
    groups = np.arange(120) // 30
    assert thin.loo(groups) == pytest.approx(full.loo(groups), **close)
    assert thin.stats_.yy == pytest.approx(full.stats_.yy)


def test_other_targets():
    first = ridge(T[:, :3])
    one, other = first.with_targets(T), first.with_targets(sparse.csr_array(T))
    assert other.predict(NEW) == pytest.approx(one.predict(NEW), rel=1e-9, abs=1e-10)
