# SPDX-License-Identifier: BSD-3-Clause
"""Targets with gaps by passes over blocks: as of rows that are held, and as of one pass."""

import numpy as np
import pytest

from skstruct.kernels import RBF
from skstruct.smoothing import NystroemRidge
from skstruct.smoothing.masked_ridge import MaskedRidge
from skstruct.smoothing.nystroem.masked_passes import MaskedNystroemRidge
from skstruct.streaming import ArraySource, IteratorSource

rng = np.random.default_rng(0)
X, X_NEW = rng.normal(size=(300, 3)), rng.normal(size=(20, 3))
T = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2, X[:, 2] * X[:, 0], np.ones(300)])
WEIGHT = rng.uniform(0.5, 2.0, 300)
GAPS = np.where(rng.uniform(size=T.shape) < [0.5, 0.7, 0.3, 1.0], T, np.nan)


def streamed(targets=GAPS, source=None, kernel=None, **options):
    kernel = RBF(0.3) if kernel is None else kernel
    options = {"n_landmarks": 40, "tol": 1e-11, **options}
    source = ArraySource(X, targets, WEIGHT) if source is None else source
    sample = ArraySource(X, targets, WEIGHT).sample(300)
    return MaskedNystroemRidge(kernel, 0.1, **options).fit_source(source, sample=sample)


@pytest.mark.parametrize("method", ["fixed_point", "patterns"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("gamma", [0.02, 0.3])  # close landmarks: rows are whitened, else sums
def test_the_minimum_of_rows_that_are_held(method, fit_intercept, gamma):
    model = streamed(kernel=RBF(gamma), fit_intercept=fit_intercept)
    held = MaskedRidge(RBF(gamma), 0.1, fit_intercept=fit_intercept, method=method, tol=1e-11)
    held._feature_map = lambda _: model.map_
    held.fit(X, GAPS, WEIGHT)
    np.testing.assert_allclose(model.predict(X_NEW), held.predict(X_NEW), atol=1e-6)


@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_other_features(features):
    kernel = "linear" if features == "linear" else RBF(0.3)
    model = streamed(features=features, kernel=kernel)
    held = MaskedRidge(kernel, 0.1, tol=1e-11)
    held._feature_map = lambda _: model.map_
    held.fit(X, GAPS, WEIGHT)
    np.testing.assert_allclose(model.predict(X_NEW), held.predict(X_NEW), atol=1e-6)


def test_without_gaps_it_is_the_ridge_of_one_pass():
    model = streamed(T)
    plain = NystroemRidge(RBF(0.3), 0.1, n_landmarks=40).fit_source(ArraySource(X, T, WEIGHT))
    np.testing.assert_allclose(model.predict(X_NEW), plain.predict(X_NEW), atol=1e-10)
    assert model.n_passes_ == 2  # sums, and a look at what is left


def test_blocks_of_any_size_and_order():
    def blocks(size, step):
        starts = list(range(0, 300, size))[::step]
        return IteratorSource(
            lambda: ((X[i : i + size], GAPS[i : i + size], WEIGHT[i : i + size]) for i in starts)
        )

    first = streamed().predict(X_NEW)
    for source in (blocks(7, 1), blocks(100, -1), blocks(31, -1)):
        np.testing.assert_allclose(streamed(source=source).predict(X_NEW), first, atol=1e-8)


def test_a_target_that_nobody_knows_is_zero():
    empty = GAPS.copy()
    empty[:, 1] = np.nan
    model = streamed(empty)
    np.testing.assert_array_equal(model.predict(X_NEW)[:, 1], 0.0)


def test_what_needs_the_rows_says_so():
    model = streamed()
    for call in (model.loo, lambda: model.with_targets(T), lambda: model.with_alpha(1.0)):
        with pytest.raises(ValueError, match="not kept"):
            call()
    with pytest.raises(ValueError, match="arrays: MaskedRidge"):
        MaskedNystroemRidge().fit(X, GAPS)
