# SPDX-License-Identifier: BSD-3-Clause
"""Sparse inputs of any format, with 32- or 64-bit indices, count as their dense selves."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from skstruct import ConditionalRiskMinimizer, config_context, learners
from skstruct._arrays.rows import LARGEST_INDEX, narrow_indices
from skstruct.cli.main import main
from skstruct.kernels import Laplacian, resolve_kernel
from skstruct.smoothing import (
    Forest,
    KernelRidge,
    LinearRidge,
    NadarayaWatson,
    Neighbors,
    NystroemRidge,
)
from skstruct.spaces import LabelSets
from skstruct.streaming.blocks import join_rows

DENSE_ONLY = {"chi2", "additive_chi2"}  # of scikit-learn, which says so
KERNELS = [*sorted(PAIRWISE_KERNEL_FUNCTIONS), "rbf+laplacian"]
FORMATS = [
    f"{name}_{kind}" for name in ("csr", "csc", "coo", "bsr") for kind in ("matrix", "array")
]
RNG = np.random.default_rng(0)
X = RNG.random((30, 7)) * (RNG.random((30, 7)) < 0.5)
Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0.5, X[:, 3] > 0.4]).astype(int)


def widened(X, name, kind):
    """A sparse X of this format whose indices are of this kind."""
    made = getattr(sparse, name)(X)
    if made.format == "coo":
        made.coords = tuple(part.astype(kind) for part in made.coords)
        assert made.coords[0].dtype == kind
    else:
        made.indices, made.indptr = made.indices.astype(kind), made.indptr.astype(kind)
        assert made.indices.dtype == made.indptr.dtype == kind
    return made


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("name", ["csr_matrix", "csr_array"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel, name, kind):
    expected = resolve_kernel(kernel).fit(X)(X, X[:9])
    assert np.isfinite(expected).all()
    if kernel in DENSE_ONLY:
        return
    wide = widened(X, name, kind)
    found = resolve_kernel(kernel).fit(wide)(wide, wide[:9])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(
        resolve_kernel(kernel).fit(wide).gram(wide)[:, :9], expected, atol=1e-12
    )


SMOOTHERS = {
    "kernel ridge": KernelRidge(Laplacian(0.5)),
    "landmarks": NystroemRidge(Laplacian(0.5), n_landmarks=8, random_state=0),
    "Nadaraya-Watson": NadarayaWatson(Laplacian(0.5)),
    "neighbors": Neighbors(5),
    "forest": Forest(10, random_state=0),
    "linear": LinearRidge(),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("smoother", SMOOTHERS)
def test_every_smoother(smoother, name, kind):
    expected = clone(SMOOTHERS[smoother]).fit(X, Y.astype(float)).predict(X[:11])
    wide, before = widened(X, name, kind), widened(X, name, kind)
    found = clone(SMOOTHERS[smoother]).fit(wide, Y.astype(float))
    np.testing.assert_allclose(found.predict(wide.tocsr()[:11]), expected, atol=1e-8)
    np.testing.assert_array_equal(wide.toarray(), before.toarray())  # left as it was
    if wide.format != "coo":
        assert wide.indices.dtype == kind


ORDERS = np.argsort(np.argsort(RNG.random((30, 3)) - X[:, :3], axis=1), axis=1) + 1.0
LEARNERS = {
    "blocks": (ConditionalRiskMinimizer(LabelSets(), kernel="laplacian", alpha=1.0), Y),
    "search": (ConditionalRiskMinimizer(LabelSets(), kernel="laplacian"), Y),
    "several kernels": (ConditionalRiskMinimizer(LabelSets(), kernel=["laplacian", "rbf"]), Y),
    "landmarks": (
        ConditionalRiskMinimizer(
            LabelSets(), kernel="laplacian", alpha=1.0, n_landmarks=9, random_state=0
        ),
        Y,
    ),
    "primal": (ConditionalRiskMinimizer(LabelSets(), kernel="linear", alpha=1.0), Y),
    "foreign": (ConditionalRiskMinimizer(LabelSets(), smoother=Ridge()), Y),
    "trees": (ConditionalRiskMinimizer(LabelSets(), smoother=Forest(10, random_state=0)), Y),
    "output kernel": (
        learners.OutputKernelRegressor(space=LabelSets(), kernel="laplacian", alpha=1.0),
        Y,
    ),
    "counting": (learners.CountingRidge(LabelSets()), Y),
    "exponential": (learners.ExponentialFamily(LabelSets(), alpha=1e-3, fit_intercept=False), Y),
    "perceptron": (learners.StructuredPerceptron(LabelSets(), random_state=0), Y),
    "structured SVM": (learners.StructuredSVM(LabelSets(), alpha=0.01, random_state=0), Y),
    "margin tree": (learners.MaxMarginTree(alpha=0.01, random_state=0), Y),
    "margin network": (learners.MaxMarginNetwork(alpha=0.01, random_state=0), Y),
    "ranking SVM": (learners.LabelRankingSVM(alpha=0.01, random_state=0), ORDERS),
    "ranking by pairs": (learners.PairwiseComparison(), ORDERS),
    "ranking by neighbors": (
        learners.NeighborLabelRanker(n_neighbors=3),
        ORDERS,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csr_matrix", "csr_array", "csc_array", "coo_array"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner(learner, name):
    model, y = LEARNERS[learner]
    memory = "9KB" if learner == "blocks" else "1GB"
    with config_context(memory=memory), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thirty rows
        expected = clone(model).fit(widened(X, name, np.int32), y)
        found = clone(model).fit(widened(X, name, np.int64), y)
        rows = widened(X[:9], "csr_array", np.int64)
        np.testing.assert_array_equal(found.predict(rows), expected.predict(X[:9]))
        if learner in ("blocks", "search", "several kernels", "primal", "landmarks"):
            dense = clone(model).fit(X, y)
            np.testing.assert_array_equal(found.predict(rows), dense.predict(X[:9]))


def test_indices_that_do_not_fit_stay_wide():
    X = sparse.csr_array(([1.0], [LARGEST_INDEX], np.array([0, 1])), shape=(1, LARGEST_INDEX + 2))
    assert narrow_indices(X) is X
    assert narrow_indices(None) is None
    narrow = widened(np.eye(3), "csr_matrix", np.int32)
    assert narrow_indices(narrow) is narrow


@pytest.mark.parametrize("name", ["csr_matrix", "csr_array", "csc_matrix"])
def test_entries_are_shared_and_types_stay(name):
    wide = widened(X, name, np.int64)
    narrow = narrow_indices(wide)
    assert type(narrow) is type(wide)
    assert np.shares_memory(narrow.data, wide.data)
    assert narrow.indices.dtype == narrow.indptr.dtype == np.int32
    np.testing.assert_array_equal(narrow.toarray(), X)
    joined = join_rows([wide, wide])
    assert joined.indices.dtype == np.int32


def test_sparse_files_under_the_laplacian_kernel(tmp_path, capsys):
    lines = ["@relation r"] + [f"@attribute x{j} numeric" for j in range(7)]
    lines += ["@attribute good {0,1}", "@attribute fine {0,1}", "@data"]
    for row, labels in zip(X, Y):
        cells = [*(f"{j} {v!r}" for j, v in enumerate(row.tolist()) if v)]
        cells += [f"{7 + k} 1" for k in range(2) if labels[k]]
        lines.append("{" + ", ".join(cells) + "}")
    path = tmp_path / "r.arff"
    path.write_text("\n".join(lines) + "\n")
    options = [
        "--task",
        "labels",
        "--target",
        "good",
        "--target",
        "fine",
        "--set",
        "kernel=laplacian",
        "--set",
        "alpha=1.0",
    ]
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(path), *options, "-o", str(tmp_path / "m.skstruct")])
    assert stop.value.code == 0, capsys.readouterr().err
