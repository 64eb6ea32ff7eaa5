# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on partial orders against their definitions, with orders and extensions listed."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau
from sklearn.base import clone

from skstruct.kernels import EdgeKernel, ExtensionKernel, PositionKernel, SignedEdgeKernel
from skstruct.kernels.orders import relations
from strategies import shown

NAN = float("nan")
KAPPAS = {
    "gaussian": lambda a, b: np.exp(-0.3 * (a - b) ** 2),
    "linear": lambda a, b: a * b,
    "delta": lambda a, b: float(a == b),
}
KERNELS = [
    EdgeKernel(),
    SignedEdgeKernel(),
    PositionKernel(),
    PositionKernel("linear"),
    PositionKernel("delta"),
    PositionKernel(lambda a, b: np.minimum(a, b)),
    ExtensionKernel(),
    ExtensionKernel(normalize=True),
]


@st.composite
def partial_rankings(draw, d):
    rank = st.sampled_from([NAN, 0.0, 1.0, 2.0, 2.5, -7.0])
    rows = st.lists(rank, min_size=d, max_size=d)
    return np.array(draw(st.lists(rows, min_size=1, max_size=5)))


@st.composite
def acyclic_relations(draw, d):
    """Not transitively closed, and sparse enough that the union of two may be acyclic."""
    n, rng = draw(st.integers(1, 5)), np.random.default_rng(draw(st.integers(0, 2**32)))
    R = np.triu(rng.random((n, d, d)) < draw(st.sampled_from([0.1, 0.2, 0.5, 1.0])), k=1)
    shuffles = [rng.permutation(d) if draw(st.booleans()) else np.arange(d) for _ in range(n)]
    return np.stack([relation[np.ix_(s, s)] for relation, s in zip(R, shuffles)])


@st.composite
def two_samples(draw, max_items=6):
    """Arguments A and B of a kernel, each in either form, on the same items."""
    d = draw(st.integers(1, max_items))
    either = st.one_of(partial_rankings(d), acyclic_relations(d))
    return draw(either), draw(either)


def pairs(order):
    """The pairs (better, worse) of one order, one implication at a time."""
    d = range(len(order))
    if order.ndim == 1:
        return {(p, q) for p in d for q in d if order[p] < order[q]}
    known = {(p, q) for p in d for q in d if order[p, q]}
    while added := {(p, r) for p, q in known for s, r in known if q == s} - known:
        known |= added
    return known


def linear_extensions(order):
    return {
        ranking
        for ranking in permutations(range(len(order)))
        if all(ranking.index(p) < ranking.index(q) for p, q in pairs(order))
    }


def dual(Y):
    return -Y if Y.ndim == 2 else Y.transpose(0, 2, 1)


def by_definition(value, A, B):
    return np.array([[value(a, b) for b in B] for a in A], dtype=float)


@given(two_samples())
def test_relations(samples):
    for Y in samples:
        R = relations(Y)
        assert R.dtype == bool
        assert R.flags.c_contiguous
        for found, order in zip(R, Y):
            assert {(int(p), int(q)) for p, q in np.argwhere(found)} == pairs(order)


@given(two_samples())
def test_common_pairs(samples):
    A, B = samples
    assert_array_equal(
        EdgeKernel()(A, B), by_definition(lambda a, b: len(pairs(a) & pairs(b)), A, B)
    )


@given(two_samples())
def test_signed_pairs(samples):
    def signed(a, b):
        turned = {(q, p) for p, q in pairs(a)}
        return len(pairs(a) & pairs(b)) - len(turned & pairs(b))

    assert_array_equal(SignedEdgeKernel()(*samples), by_definition(signed, *samples))


@given(two_samples(), st.sampled_from(sorted(KAPPAS)))
def test_positions(samples, name):
    def at(a, b):
        n_before = [[q for _, q in pairs(order)].count for order in (a, b)]
        return sum(KAPPAS[name](n_before[0](u), n_before[1](u)) for u in range(len(a)))

    expected = by_definition(at, *samples)
    assert_allclose(PositionKernel(name, gamma=0.3)(*samples), expected, rtol=1e-13)

    def vectorised(a, b):
        return np.vectorize(KAPPAS[name])(a, b)

    assert_allclose(PositionKernel(vectorised)(*samples), expected, rtol=1e-13)


@given(two_samples())
def test_common_extensions(samples):
    A, B = samples
    of_A, of_B = ([linear_extensions(order) for order in Y] for Y in samples)
    expected = by_definition(lambda a, b: len(a & b), of_A, of_B)
    values, errors = ExtensionKernel().estimate(A, B)
    assert_array_equal(values, expected)
    assert not errors.any()
    sizes_A, sizes_B = (np.array([len(a) for a in Y], dtype=float) for Y in (of_A, of_B))
    normalized = ExtensionKernel(normalize=True)(A, B)
    assert_allclose(normalized, expected / np.sqrt(np.outer(sizes_A, sizes_B)), rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=shown)
@given(samples=two_samples(max_items=9))
def test_gram_matrices(kernel, samples):
    """Symmetric, positive semidefinite, and blocks of one matrix whatever the form."""
    A, B = samples
    everything = np.concatenate([relations(A), relations(B)])
    K = kernel(everything)
    assert K.dtype == np.float64
    assert_array_equal(K, K.T)
    assert_array_equal(K, kernel(everything, everything))
    assert_array_equal(K[: len(A), len(A) :], kernel(A, B))
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * max(np.abs(K).max(), 1.0)


@given(two_samples())
def test_duals(samples):
    A, B = samples
    assert_array_equal(SignedEdgeKernel()(dual(A), B), -SignedEdgeKernel()(A, B))
    for kernel in (EdgeKernel(), SignedEdgeKernel(), ExtensionKernel()):
        assert_array_equal(kernel(dual(A), dual(B)), kernel(A, B))


@pytest.mark.slow
def test_signed_pairs_of_rankings_are_kendalls_tau():
    rankings = np.array(list(permutations(range(4))))
    tau = by_definition(lambda a, b: kendalltau(a, b).statistic, rankings, rankings)
    assert_allclose(SignedEdgeKernel()(rankings), 6 * tau, atol=1e-12)


def test_positions_tell_rankings_apart_and_not_all_orders():
    rankings = np.array(list(permutations(range(4))))
    K = PositionKernel()(rankings)
    assert (K[~np.eye(24, dtype=bool)] < 4 - 1e-6).all()
    assert_array_equal(K.diagonal(), np.full(24, 4.0))
    chains = np.zeros((2, 4, 4), dtype=bool)  # 0 > 2, 1 > 3, and 0 > 3, 1 > 2
    chains[0, [0, 1], [2, 3]] = chains[1, [0, 1], [3, 2]] = True
    assert_array_equal(PositionKernel()(chains), np.full((2, 2), 4.0))


def all_orders(d):
    """Every partial order of d items, as relations: closed, and without a cycle."""
    places = [(p, q) for p in range(d) for q in range(d) if p != q]
    found = set()
    for chosen in product((False, True), repeat=len(places)):
        known = {place for place, taken in zip(places, chosen) if taken}
        closed = all((p, r) in known for p, q in known for s, r in known if q == s)
        if closed:  # and then p before q before p would be p before p
            found.add(frozenset(known))
    R = np.zeros((len(found), d, d), dtype=bool)
    for relation, order in zip(R, sorted(found, key=sorted)):
        for p, q in order:
            relation[p, q] = True
    return R


@pytest.mark.parametrize("kernel", KERNELS, ids=shown)
def test_all_orders_of_three_items(kernel):
    """Positive semidefinite on all there are, and which kernels tell all of them apart."""
    orders = all_orders(3)
    assert len(orders) == 19
    K = kernel(orders)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * K.max()
    n_different = len(np.unique(K.round(9), axis=0))
    # Position kernels know how many stand before an item: one order of those below it is lost.
    assert n_different == len(orders) or isinstance(kernel, PositionKernel)


@pytest.mark.slow
def test_which_kernels_tell_all_orders_of_four_items_apart():
    orders = all_orders(4)
    assert len(orders) == 219
    for kernel in KERNELS:
        K = kernel(orders)
        assert np.linalg.eigvalsh(K)[0] >= -1e-12 * K.max()
        n_different = len(np.unique(K.round(9), axis=0))
        assert (n_different == 219) == (not isinstance(kernel, PositionKernel)), kernel
    # Rankings without ties are told apart by every kernel on positions that tells numbers apart.
    rankings = np.array(list(permutations(range(4))))
    for kappa in ("gaussian", "linear", "delta"):
        assert len(np.unique(PositionKernel(kappa)(rankings).round(9), axis=0)) == 24
    constant = PositionKernel(lambda a, b: 1.0 + 0.0 * a * b)  # a kernel on numbers as well
    assert_array_equal(constant(rankings), np.full((24, 24), 4.0))


@given(
    st.lists(st.permutations(range(5)), min_size=1, max_size=12),
    st.sampled_from(["gaussian", "linear", "delta"]),
)
def test_positions_of_rankings_are_inner_products(rankings, kappa):
    """A feature for every item and position: K = F (I x T) F', with T the table of kappa."""
    Y = np.array(rankings)
    F = (Y[:, :, None] == np.arange(5)).reshape(len(Y), 25).astype(float)
    numbers = np.arange(5.0)
    table = np.array([[KAPPAS[kappa](a, b) for b in numbers] for a in numbers])
    K = PositionKernel(kappa, gamma=0.3)(Y)
    assert_allclose(K, F @ np.kron(np.eye(5), table) @ F.T, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * max(K.max(), 1.0)
    if kappa == "linear":  # Spearman: |y - y'|^2 = |y|^2 + |y'|^2 - 2 k
        squares = ((Y[:, None] - Y) ** 2).sum(axis=2)
        assert_allclose(K, 30.0 - squares / 2)


def test_the_default_width_is_the_variance_of_positions():
    for d in (1, 2, 5):
        gamma = 1 / np.arange(d).var() if d > 1 else 4.0
        Y = np.random.default_rng(d).random((6, d))
        assert_allclose(PositionKernel()(Y), PositionKernel(gamma=gamma)(Y))


def test_no_common_extension_without_a_contradicting_pair():
    A, B = np.zeros((2, 1, 4, 4), dtype=bool)
    A[0, [1, 2], [0, 3]] = True  # 1 > 0, 2 > 3
    B[0, [0, 3], [2, 1]] = True  # 0 > 2, 3 > 1
    assert SignedEdgeKernel()(A, B) == 0.0
    assert ExtensionKernel()(A, A) == 6.0
    assert ExtensionKernel()(A, B) == ExtensionKernel(normalize=True)(A, B) == 0.0


def test_rows_that_say_nothing():
    A, B = [[NAN, NAN, NAN]], [[1, 2, 3], [7, 7, 7], [NAN, 5, NAN]]
    assert_array_equal(EdgeKernel()(A, B), [[0, 0, 0]])
    assert_array_equal(SignedEdgeKernel()(A, B), [[0, 0, 0]])
    assert_array_equal(PositionKernel("delta")(A, B), [[1, 3, 3]])
    assert_array_equal(ExtensionKernel()(A, B), [[1, 6, 6]])
    assert_array_equal(ExtensionKernel()([[None, 1, 2]], B), [[1, 3, 3]])


@pytest.mark.parametrize("kernel", KERNELS, ids=shown)
def test_forms_and_sizes(kernel):
    Y = np.array([[3, 1, 2], [1, 1, 2]])
    K = kernel(Y)
    assert_array_equal(K, kernel(Y.tolist()))
    assert_array_equal(K, kernel(np.asfortranarray(Y.astype(np.float32))))
    assert_array_equal(K, kernel(relations(Y).astype(int)))
    assert_array_equal(K, clone(kernel)(Y))
    assert kernel(Y, Y[:0]).shape == (2, 0)
    assert kernel(Y[:0], Y).shape == (0, 2)
    assert kernel(Y[:0]).shape == (0, 0)
    assert kernel([[1.0], [NAN]]).shape == (2, 2)


def test_large_integers_are_not_tied():
    assert EdgeKernel()([[2**60, 2**60 + 1]]) == 1.0


CYCLE = np.zeros((3, 3, 3), dtype=bool)
CYCLE[2, [0, 1, 2], [1, 2, 0]] = True


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=shown)
@pytest.mark.parametrize(
    ("A", "B", "message"),
    [
        (CYCLE, None, r"A\[2\] is not a partial order: item 0 is before itself"),
        ([[1, 2, 3]], CYCLE, r"B\[2\] is not a partial order"),
        ([[[1]]], None, r"A\[0\] is not a partial order"),
        ([1, 2, 3], None, r"got shape \(3,\)"),
        (np.zeros((2, 3, 4)), None, r"got shape \(2, 3, 4\)"),
        (np.zeros((2, 0)), None, r"at least one item; got shape \(2, 0\)"),
        (np.zeros((2, 0, 0)), None, r"at least one item; got shape \(2, 0, 0\)"),
        ([[1, 2]], [[1, 2, 3]], "A orders 2 items and B 3"),
        ([[1, 2], [float("inf"), 1]], None, r"finite ranks or NaN; A\[1, 0\] is infinite"),
        ([["first", "last"]], None, "A holds ranks, numbers or NaN; could not convert"),
        (np.zeros((3, 3), dtype=bool), None, r"boolean of shape \(3, 3\); relations are"),
        (np.full((1, 2, 2), 0.5), None, r"A holds 0 or 1; A\[0, 0, 0\] is 0.5"),
    ],
)
def test_bad_orders(kernel, A, B, message):
    with pytest.raises(ValueError, match=message):
        kernel(A, B)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (PositionKernel("rbf"), "kappa is .*got 'rbf'"),
        (PositionKernel(gamma=0.0), "gamma must be positive; got 0.0"),
        (PositionKernel(gamma=NAN), "gamma must be positive; got nan"),
        (PositionKernel(lambda a, b: a[0]), r"got shape \(1,\)"),
        (PositionKernel(lambda a, b: a * b * NAN), "finite array"),
        (PositionKernel(lambda a, b: a - b), "not symmetric on 0, ..., 2"),
        (PositionKernel(lambda a, b: -abs(a - b)), "lowest eigenvalue is -2"),
    ],
)
def test_bad_kernels_on_positions(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel([[1, 2, 3]])
