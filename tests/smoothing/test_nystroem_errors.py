# SPDX-License-Identifier: BSD-3-Clause
"""What ridge regression on landmarks refuses, and the small parts that it is made of."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.metrics.pairwise import rbf_kernel

from skstruct import config_context
from skstruct.backends.choice import backend_for
from skstruct.kernels import RBF
from skstruct.smoothing import NystroemRidge
from skstruct.smoothing.nystroem.reading import first_not_finite
from skstruct.smoothing.nystroem.sums import Stats
from skstruct.smoothing.nystroem.system import FeatureSystem, fold_numbers, group_blocks
from skstruct.streaming import ArraySource, IteratorSource
from smoothing.nystroem_cases import (
    T,
    X,
    some_landmarks,
)


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": 0.0}, "alpha must be positive; got 0.0"),
        ({"alpha": np.nan}, "alpha must be positive"),
        ({"alpha": [1.0, 2.0]}, "One alpha serves all targets"),
        ({"kernel": RBF(-2.0)}, "gamma must be positive; got -2.0"),
        ({"kernel": "gauss"}, "Unknown kernel 'gauss'"),
        ({"kernel": "precomputed"}, "has no landmarks: use KernelRidge"),
        (
            {"features": "wavelets"},
            'features is "nystroem", "fourier" or "linear"; got \'wavelets\'',
        ),
        ({"features": "fourier", "kernel": "poly"}, "stand for kernel=\"rbf\"; got 'polynomial'"),
        ({"n_landmarks": 0}, "n_landmarks is a whole number from 1"),
        ({"n_landmarks": 2.5}, "n_landmarks is a whole number from 1"),
        ({"n_landmarks": "many"}, "n_landmarks is a whole number from 1"),
        ({"dtype": "float16"}, 'dtype is "auto", "float64" or "float32"'),
        ({"dtype": int}, 'dtype is "auto", "float64" or "float32"'),
        ({"n_partitions": 0}, "at least one partition"),
    ],
)
def test_bad_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        NystroemRidge(**changes).fit(X, T)


def test_bad_rows():
    with pytest.raises(ValueError, match=r"[Aa]ll.*zero|at least one non-zero"):
        NystroemRidge().fit(X, T, np.zeros(25))
    with pytest.raises(ValueError, match="kernel is zero for every row"):
        NystroemRidge("linear").fit(0.0 * X, T)
    with pytest.raises(ValueError, match="groups has shape"):
        NystroemRidge().fit(X, T).loo(np.zeros(3))
    for groups in (np.zeros(25), np.arange(25) > 0):
        with pytest.raises(ValueError, match="All rows are in one group"):
            NystroemRidge().fit(X, T, np.arange(25) > 0).loo(groups)
    with pytest.raises(ValueError, match="4 targets before; got 3"):
        NystroemRidge().fit(X, T).partial_fit(X, T[:, :3])
    pytest.importorskip("torch")
    for features in ("nystroem", "fourier"):
        on_torch = config_context(device="cpu")
        with on_torch, pytest.raises(ValueError, match="sparse, which devices do not take"):
            NystroemRidge(features=features).fit(sparse.csr_array(X), T)
    on_torch = config_context(device="cpu")
    with on_torch, pytest.raises(ValueError, match=r"On a device, kernels are .*device=None"):
        NystroemRidge(rbf_kernel).fit(X, T)


def in_blocks(X, T=None, size=5):
    for i in range(0, len(X), size):
        yield X[i : i + size] if T is None else (X[i : i + size], T[i : i + size])


def test_bad_blocks():
    hole, far = X.copy(), T.copy()
    hole[17, 1], far[3, 2] = np.nan, np.inf
    model = some_landmarks()
    with pytest.raises(ValueError, match=r"In rows 15 to 19: X has .* not finite in row 17"):
        model.fit_source(IteratorSource(lambda: in_blocks(hole, T)), sample=_block(X, T))
    with pytest.raises(ValueError, match=r"In a sample of 25 rows: X has .* in row 17"):
        model.fit_source(IteratorSource(lambda: in_blocks(hole, T)))
    with pytest.raises(ValueError, match=r"In rows 0 to 4: y has .* not finite in row 3"):
        model.fit_source(IteratorSource(lambda: in_blocks(X, far)), sample=_block(X, T))
    with pytest.raises(ValueError, match="no targets: give pairs"):
        model.fit_source(IteratorSource(lambda: in_blocks(X)))
    with pytest.raises(ValueError, match=r"weights must be finite and not negative"):
        model.fit_source(ArraySource(X, T, -np.ones(25)))
    with pytest.raises(ValueError, match="All sample weights are zero"):
        model.fit_source(ArraySource(X, T, np.zeros(25)))
    assert not hasattr(model, "map_")


def _block(X, T):
    return ArraySource(X, T).sample(len(X), 0)


def test_a_fit_that_fails_leaves_the_old_model():
    model = some_landmarks().fit(X, T)
    before = pickle.dumps(model)
    hole = X.copy()
    hole[17, 1] = np.nan
    for attempt in (
        lambda: model.fit(hole, T),
        lambda: model.partial_fit(hole, T),
        lambda: model.partial_fit(X, T[:, :1]),
        lambda: model.fit_source(IteratorSource(in_blocks(hole, T)), sample=_block(X, T)),
        lambda: model.set_params(n_landmarks=0).fit(X, T),
    ):
        with pytest.raises(ValueError):
            attempt()
        model.set_params(n_landmarks=6)
        assert pickle.dumps(model) == before
    fresh = some_landmarks()
    with pytest.raises(ValueError):
        fresh.partial_fit(hole, T)
    assert fresh.partial_fit(X, T).stats_.n == 25


# ---------------------------------------------------------------------- parts of it
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 20))
def test_folds_and_blocks_keep_groups_together(groups, step):
    number = np.unique(groups, return_inverse=True)[1]
    fold = fold_numbers(number)
    assert fold.max() < 10
    assert sorted(set(fold)) == list(range(fold.max() + 1))
    for g in set(number.tolist()):
        assert len(set(fold[number == g])) == 1
    blocks = group_blocks(number, step)
    assert sorted(np.concatenate(blocks)) == list(range(len(number)))
    for block in blocks[:-1]:
        assert len(block) >= step
    owners = [set(number[block]) for block in blocks]
    assert sum(map(len, owners)) == number.max() + 1


def test_rows_that_are_not_finite_are_found():
    A = np.zeros((5, 2))
    assert first_not_finite(A) is first_not_finite([["a"]]) is None
    assert first_not_finite(sparse.csr_array(A)) is None
    A[3, 1], A[4, 0] = np.inf, np.nan
    assert first_not_finite(A) == first_not_finite(sparse.csc_array(A)) == 3
    assert first_not_finite(A.tolist()) == 3
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    assert first_not_finite(pandas.DataFrame(A)) == first_not_finite(torch.tensor(A)) == 3


def test_bad_settings():
    wrong = {"memory": 'memory is a size such as "500MB"', "engine": 'engine is None, "serial"'}
    for name, message in wrong.items():
        with pytest.raises(ValueError, match=message), config_context(**{name: "much"}):
            NystroemRidge().fit(X, T)


def system_of(Z, T):
    backend = backend_for()
    stats = Stats.empty(Z.shape[1], T.shape[1], backend)
    stats.add(np.asfortranarray(Z), T, None, backend)
    return FeatureSystem(stats, True, backend)


def test_a_system_of_no_weight_is_refused():
    backend = backend_for()
    with pytest.raises(ValueError, match="All sample weights are zero"):
        FeatureSystem(Stats.empty(2, 1, backend), True, backend)


def test_penalties_below_rounding_are_taken_where_asked():
    """Two features that are the same share what one of them would have."""
    Z = np.column_stack([X[:, 0], X[:, 0]])
    system = system_of(Z, T)
    with pytest.raises(LinAlgError, match=r"not positive definite at .* Use a larger alpha"):
        system.coefficients(-1e-9)
    found = system.coefficients(-1e-9, strict=False)
    centred = Z[:, 0] - Z[:, 0].mean()
    single = centred @ (T - T.mean(axis=0)) / (centred @ centred)
    assert_allclose(found.sum(axis=0), single, rtol=1e-6)
