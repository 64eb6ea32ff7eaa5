# SPDX-License-Identifier: BSD-3-Clause
"""Covariances through their eigenspaces against plain matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces import LabelSets, Uniform
from skstruct.spaces.common.covariances import (
    DENSE,
    DenseCovariance,
    Exchangeable,
    GridScheme,
    PairScheme,
    Scalar,
)

SCHEMES = [
    Scalar(0.25, 4),
    Exchangeable(2.0, 0.5, 5),
    PairScheme(5, (0.3, 1.5), signed=True),
    PairScheme(2, (0.3, 1.5), signed=True),
    PairScheme(5, (2.0, 0.3, 1.5), signed=False),
    PairScheme(3, (2.0, 0.3, 1.5), signed=False),
    PairScheme(2, (2.0, 0.3, 1.5), signed=False),
    PairScheme(DENSE + 2, (0.3, 1.5), signed=True),
    PairScheme(DENSE + 2, (2.0, 0.3, 1.5), signed=False),
    GridScheme(3, 4, (2.0, 0.3, 1.5, 0.7)),
    GridScheme(1, 3, (2.0, 0.3, 1.5, 0.7)),
    DenseCovariance(np.diag([1.0, 2.0, 1.0])),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_parts_are_projectors_that_add_up_to_the_identity(scheme):
    identity = np.eye(scheme.d)
    parts = scheme.parts(identity)
    assert_allclose(sum(parts), identity, atol=1e-14)
    for p, P in enumerate(parts):
        assert_allclose(P, P.T, atol=1e-14)
        for q, other in enumerate(parts):
            assert_allclose(P @ other, P if p == q else 0.0 * P, atol=1e-14)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_filters_work_row_by_row(scheme):
    rng = np.random.default_rng(0)
    V, H = rng.standard_normal((3, scheme.d)), rng.random((3, len(scheme.eigenvalues)))
    projectors = scheme.parts(np.eye(scheme.d))
    for v, h, found in zip(V, H, scheme.filter(V, H)):
        expected = v @ sum(factor * P for factor, P in zip(h, projectors))
        assert_allclose(found, expected, atol=1e-12)
    S = sum(g * P for g, P in zip(scheme.eigenvalues, projectors))
    assert_allclose(scheme.dense(), S, atol=1e-14)
    assert_allclose(scheme.apply(V), V @ S, atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_products_in_every_eigenspace(scheme):
    V = np.random.default_rng(0).standard_normal((3, scheme.d))
    for found, P in zip(scheme.grams(V), scheme.parts(np.eye(scheme.d)), strict=True):
        assert_allclose(found, V @ P @ V.T, atol=1e-11)


@pytest.mark.parametrize("n_nodes", [2, 3, 6])
def test_cuts_are_the_row_space_of_the_incidence_matrix(n_nodes):
    u, v = np.triu_indices(n_nodes, 1)
    B = np.zeros((n_nodes, len(u)))
    B[u, np.arange(len(u))], B[v, np.arange(len(u))] = 1.0, -1.0
    cuts, cycles = PairScheme(n_nodes, (1.0, 1.0), signed=True).parts(B)
    assert_allclose(cuts, B, atol=1e-14)
    assert_allclose(cycles, 0.0 * B, atol=1e-14)


def test_equal_eigenvalues_are_one_part():
    rng = np.random.default_rng(1)
    Q, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    S = Q @ np.diag([0.0, 0.5, 0.5, 0.5, 2.0, 2.0]) @ Q.T
    covariance = DenseCovariance(S)
    assert_allclose(covariance.eigenvalues, [0.0, 0.5, 2.0], atol=1e-12)
    assert [round(np.trace(P)) for P in covariance.parts(np.eye(6))] == [1, 3, 2]


def test_any_countable_space_has_a_covariance():
    space = LabelSets(["a", "b", "c"]).restrict(exclusive=[["a", "b"]])
    psi = space.embed(space.enumerate())
    assert_allclose(Uniform.of(space).covariance().dense(), np.cov(psi.T, bias=True), atol=1e-14)


def test_a_matrix_that_does_not_fit_says_how_large_it_is():
    with pytest.raises(MemoryError, match=r"1,000,000 x 1,000,000 numbers, 8,000\.0 GB.*instead"):
        check_square_fits(10**6, "The covariance", "Do that instead.")
    check_square_fits(10, "The covariance", "", available=800)
    with pytest.raises(MemoryError):
        check_square_fits(10, "The covariance", "", available=799)
