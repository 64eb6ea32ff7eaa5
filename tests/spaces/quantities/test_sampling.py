# SPDX-License-Identifier: BSD-3-Clause
"""Uniform points of boxes, simplices, polytopes and flows.

Means may be off by five standard errors (probability below 6e-7 each, where the sampler is right);
tests of distributions fail below p = 1e-6. Seeds are fixed.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.exceptions import NotFittedError

from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import Box, Embeddings, Flows, Interval, Polytope, Samplable, Simplex
from skstruct.spaces.quantities.sampling import pulled, triangulate

LEVEL = 1e-6
N = 4000
seeds = st.integers(0, 10**6)


def assert_mean(values, expected):
    """Columns of values have these means, within five standard errors."""
    error = np.abs(values.mean(axis=0) - expected)
    assert (error <= 5 * values.std(axis=0) / np.sqrt(len(values)) + 1e-12).all()


def assert_distribution(values, distribution):
    assert stats.kstest(values, distribution.cdf).pvalue > LEVEL


def assert_equal_cells(cells, n_cells):
    """Cells of equal volume are hit alike."""
    assert stats.chisquare(np.bincount(cells, minlength=n_cells)).pvalue > LEVEL


def products(Z):
    """All products of two columns."""
    i, j = np.triu_indices(Z.shape[1])
    return Z[:, i] * Z[:, j]


# ------------------------------------------------------------------------ boxes
def test_box():
    space = Box([-1.0, 2.0, 5.0], [3.0, 2.5, 5.0]).fit([[0.0, 2.0, 5.0]])
    assert isinstance(space, Samplable)
    Z = space.sample(N, 0)
    assert space.contains(Z).all()
    assert_mean(Z, [1.0, 2.25, 5.0])
    assert_mean((Z - [1.0, 2.25, 5.0]) ** 2, [16 / 12, 0.25 / 12, 0.0])
    assert_distribution(Z[:, 0], stats.uniform(-1.0, 4.0))
    assert_distribution(Z[:, 1], stats.uniform(2.0, 0.5))
    assert_array_equal(Z[:, 2], 5.0)
    cells = np.floor(Z[:, 0] + 1).astype(int) * 2 + (Z[:, 1] > 2.25)
    assert_equal_cells(cells, 8)


def test_interval():
    space = Interval().fit([3.0, 8.0, 4.0])
    Z = space.sample(N, np.random.default_rng(1))
    assert Z.shape == (N, 1)
    assert_distribution(Z[:, 0], stats.uniform(3.0, 5.0))
    assert_distribution(space.restrict(low=7.0).sample(N, 2)[:, 0], stats.uniform(7.0, 1.0))


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [(0, [1, np.inf], r"high is infinite in column 'b'"), ([-np.inf, 0], 1, "low .* column 'a'")],
)
def test_boxes_without_end(low, high, message):
    space = Box(low, high, labels=["a", "b"]).fit([[0.5, 0.5]])
    with pytest.raises(ValueError, match="uniform sample needs finite limits; " + message):
        space.sample(1, 0)
    assert space.restrict(low=-1, high=1).sample(3, 0).shape == (3, 2)


def test_interval_without_end():
    with pytest.raises(ValueError, match=r"high is infinite\. Give it"):
        Interval(0, np.inf).fit([1.0]).sample(1, 0)


# ------------------------------------------------------------------------ simplices
@pytest.mark.parametrize(("d", "total"), [(1, 1.0), (2, 1.0), (3, 100.0), (6, 0.5)])
def test_simplex(d, total):
    space = Simplex(total).fit(np.full((1, d), total / d))
    Z = space.sample(N, d)
    assert space.contains(Z).all()
    assert_allclose(space.validate(Z), Z, rtol=1e-12)
    assert_mean(Z, total / d)
    i, j = np.triu_indices(d)  # E z_i z_j = T^2 (1 + [i = j]) / (d (d + 1))
    assert_mean(products(Z), total**2 * (1.0 + (i == j)) / (d * (d + 1)))
    for column in Z.T if d > 1 else ():
        assert_distribution(column / total, stats.beta(1, d - 1))


# ------------------------------------------------------------------------ polytopes
def test_polytope_of_shares_is_a_simplex():
    """The same closed forms; all orders of the coordinates are alike."""
    d = 4
    space = Polytope([[1] * d], [2.0], bounds=(0, None)).fit([[0.5] * d])
    Z = space.sample(N, 0)
    assert space.contains(Z).all()
    assert_allclose(Z.sum(axis=1), 2.0)
    for column in Z.T:
        assert_distribution(column / 2, stats.beta(1, d - 1))
    order = Z.argsort(axis=1) @ (d ** np.arange(d))
    assert_equal_cells(np.unique(order, return_inverse=True)[1], 24)


def test_order_statistics():
    """0 <= x_1 <= ... <= x_5 <= 1: sorted uniform numbers, x_i of distribution Beta(i, 6 - i)."""
    A = np.eye(4, 5) - np.eye(4, 5, 1)
    space = Polytope(A_ub=A, b_ub=np.zeros(4), bounds=(0, 1)).fit([[0.1, 0.2, 0.3, 0.4, 0.5]])
    Z = space.sample(N, 1)
    for i, column in enumerate(Z.T, 1):
        assert_distribution(column, stats.beta(i, 6 - i))


def test_cube_of_seven_dimensions():
    """128 cells of equal volume, and 5040 simplices that are as large as each other."""
    low, high = np.arange(7.0), np.arange(7.0) + 10.0 ** np.arange(-3, 4)
    space = Polytope(bounds=list(zip(low, high))).fit([low])
    Z = space.sample(8 * N, 2)
    halves = (low + high) / 2 < Z
    assert_equal_cells(halves @ (1 << np.arange(7)), 128)
    for j, column in enumerate(Z.T):
        assert_distribution(column, stats.uniform(low[j], high[j] - low[j]))
    cut = next(iter(space.constraints_.constraints.plans["triangulations"].values()))
    assert_allclose(np.diff(cut.cumulative, prepend=0.0), 1 / 5040)


def test_doubly_stochastic_tables():
    """A polytope that is degenerate: 4 dimensions, 6 vertices on 9 facets."""
    sums = [np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))]
    space = Polytope(np.vstack(sums), np.ones(6), bounds=(0, 1)).fit([np.full(9, 1 / 3)])
    Z = space.sample(N, 3)
    assert space.contains(Z).all()
    assert_mean(Z, 1 / 3)
    # Rows and columns may be exchanged: the largest entry of a table is anywhere.
    assert_equal_cells(Z.argmax(axis=1), 9)
    # The four free entries, uniform where the other five are at least zero.
    free = np.random.default_rng(0).random((20 * N, 2, 2))
    rest = [1 - free.sum(axis=1), 1 - free.sum(axis=2), (free.sum(axis=(1, 2)) - 1)[:, None]]
    kept = free[(np.hstack(rest) >= 0).all(axis=1)].reshape(-1, 4)
    assert len(kept) > N / 2
    assert_same_moments(Z[:, [0, 1, 3, 4]], kept)


def assert_same_moments(Z, others):
    """First and second moments of two samples, within five standard errors of the difference."""
    for a, b in ((Z, others), (products(Z), products(others))):
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 5 * error + 1e-9).all()


def random_polytope(seed):
    """Constraints around a point in 1 to 4 dimensions, and one coordinate that follows the rest."""
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 5)), int(rng.integers(0, 5))
    inside = rng.uniform(-0.5, 0.5, k)
    A, follows = rng.integers(-2, 3, (m, k)).astype(float), rng.normal(size=k)
    b = A @ inside + rng.uniform(0.1, 1.0, m)
    A_ub = np.hstack([A, np.zeros((m, 1))])
    bounds = [(-1, 1)] * k + [(None, None)]
    point = np.append(inside, follows @ inside)
    space = Polytope([np.append(follows, -1.0)], [0.0], A_ub, b, bounds).fit([point])
    return space, A, b


@given(seeds)
def test_random_polytopes_against_rejection(seed):
    """Of each polytope at most 15 numbers: 40 right answers fail with probability below 4e-4."""
    space, A, b = random_polytope(seed)
    k = A.shape[1]
    Z = space.sample(N, seed)
    assert space.contains(Z).all()
    box = np.random.default_rng(seed + 1).uniform(-1, 1, (10 * N, k))
    kept = box[(box @ A.T <= b).all(axis=1)]
    assume(len(kept) >= 500)
    assert_same_moments(Z[:, :k], kept)
    # A cut through the middle of the others divides both in the same shares.
    side = np.random.default_rng(seed + 2).normal(size=k)
    middle = np.median(kept @ side)
    shares = [(part @ side <= middle).mean() for part in (Z[:, :k], kept)]
    assert abs(shares[0] - shares[1]) <= 5 * 0.5 * np.sqrt(1 / N + 1 / len(kept))


@given(seeds)
def test_simplices_fill_the_polytope_and_do_not_overlap(seed):
    space, A, b = random_polytope(seed)
    k = A.shape[1]
    low, high = space._finite(space.constraints_)
    cut = triangulate(space.constraints_.constraints, low[0], high[0])
    box = np.random.default_rng(seed).uniform(-1, 1, (300, k))
    inside = (box @ A.T <= b).all(axis=1)
    corners = cut.vertices[:, :k][cut.simplices]  # (s, k + 1, k)
    systems = np.concatenate([corners.swapaxes(1, 2), np.ones((len(corners), 1, k + 1))], axis=1)
    sides = np.column_stack([box, np.ones(len(box))]).T
    weights = np.linalg.solve(systems, np.broadcast_to(sides, (len(systems), *sides.shape)))
    holds = (weights >= 0).all(axis=1).sum(axis=0)
    assert_array_equal(holds, inside)
    volumes = np.abs(np.linalg.det(systems))
    assert_allclose(np.diff(cut.cumulative, prepend=0.0), volumes / volumes.sum(), atol=1e-9)


@pytest.mark.parametrize("k", range(1, 6))
def test_pulled_cubes(k):
    vertices = np.array(list(product((0, 1), repeat=k)))
    simplices = pulled(np.hstack([vertices == 0, vertices == 1]), k)
    edges = vertices[simplices[:, 1:]] - vertices[simplices[:, :1]]
    assert_allclose(np.abs(np.linalg.det(edges)), 1.0)
    assert len(simplices) == np.prod(range(1, k + 1))


# ------------------------------------------------------------------------ what is flat or thin
def test_a_single_point():
    space = Polytope([[1, 1, 1], [1, -1, 0]], [3, 0], [[1, 0, 0]], [1], bounds=(None, 1))
    Z = space.fit([[1, 1, 1]]).sample(5, 0)
    assert_allclose(Z, np.ones((5, 3)), atol=1e-12)


def test_inequalities_that_are_equations():
    """x + y <= 0 leaves x = y = 0; w + v >= 1 and <= 1 a segment; u a coordinate of its own."""
    A = [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, -1, -1, 0], [0, 0, -2, -2, 0]]
    space = Polytope(A_ub=A, b_ub=[0, 1, -1, -2], bounds=(0, 3)).fit([[0, 0, 0.5, 0.5, 1]])
    Z = space.sample(N, 4)
    assert_allclose(Z[:, :2], 0.0, atol=1e-12)
    assert_allclose(Z[:, 2] + Z[:, 3], 1.0)
    assert_distribution(Z[:, 2], stats.uniform(0, 1))
    assert_distribution(Z[:, 4], stats.uniform(0, 3))
    assert abs(np.corrcoef(Z[:, 2], Z[:, 4])[0, 1]) < 5 / np.sqrt(N)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_thin(width):
    """|x - y| <= width, of which the area is known along both directions."""
    space = Polytope(A_ub=[[1, -1], [-1, 1]], b_ub=[width, width], bounds=(0, 1))
    Z = space.fit([[0.5, 0.5]]).sample(N, 5)
    across = (Z[:, 0] - Z[:, 1]) / width
    # Of density 1 - width |t| at t from -1 to 1.
    assert_distribution(np.abs(across), _Linear(width))
    assert_mean(Z, 0.5)


class _Linear:
    def __init__(self, slope):
        self.slope = slope

    def cdf(self, t):
        return (t - self.slope * t**2 / 2) / (1 - self.slope / 2)


def test_units_have_no_part_in_it():
    A, unit = np.array([[1.0, 2.0, 1.0]]), np.array([1e-4, 1.0, 1e5])
    plain = Polytope(A_ub=A, b_ub=[2.0], bounds=(0, 1)).fit([[0, 0, 0]])
    scaled = Polytope(A_ub=A / unit, b_ub=[2.0], bounds=[(0, u) for u in unit]).fit([[0, 0, 0]])
    assert_same_moments(plain.sample(N, 6), scaled.sample(N, 7) / unit)


# ------------------------------------------------------------------------ flows
def test_flow_on_two_ways():
    arcs = [("s", "a"), ("a", "t", 0.6), ("s", "b"), ("b", "t")]
    space = Flows(arcs, {"s": 1, "t": -1}).fit([[0.5, 0.5, 0.5, 0.5]])
    Z = space.sample(N, 8)
    assert space.contains(Z).all()
    assert_distribution(Z[:, 0], stats.uniform(0, 0.6))
    assert_allclose(Z, np.column_stack([Z[:, 0], Z[:, 0], 1 - Z[:, 0], 1 - Z[:, 0]]))
    halved = space.restrict(supply={"s": 0.5, "t": -0.5}).sample(N, 9)
    assert_distribution(halved[:, 0], stats.uniform(0, 0.5))


def test_flow_with_a_bridge_against_rejection():
    arcs = [("s", "a"), ("s", "b", 0.7), ("a", "b"), ("a", "t", 0.6), ("b", "t")]
    space = Flows(arcs, {"s": 1, "t": -1}).fit([[0.5, 0.5, 0, 0.5, 0.5]])
    Z = space.sample(N, 10)
    sa, at = np.random.default_rng(11).random((2, 10 * N))
    flows = np.column_stack([sa, 1 - sa, sa - at, at, 1 - at])
    kept = flows[((flows >= 0) & (flows <= [1, 0.7, 1, 0.6, 1])).all(axis=1)]
    assert_same_moments(Z, kept)


# ------------------------------------------------------------------------ what users may get wrong
def test_constraints_that_differ_from_row_to_row():
    box = Box(0, 1).fit([[0.5, 0.5]]).restrict(high=[[0.2, 1.0], [1.0, 0.2]])
    shares = Polytope([[1, 1]], [[1.0], [2.0]], bounds=(0, 2)).fit([[0.5, 0.5], [1, 1]])
    flows = Flows([("s", "t"), ("s", "u"), ("u", "t")]).fit([[1, 1, 1], [1, 0, 0]])
    for space in (box, shares, flows):
        with pytest.raises(ValueError, match=r"differs from row to row; take rows\(i\)"):
            space.sample(2, 0)
        for i in range(2):
            assert space.rows(i).contains(space.rows(i).sample(20, 0)).all()
    assert_allclose(shares.rows(1).sample(20, 0).sum(axis=1), 2.0)


def test_polytope_without_end():
    space = Polytope(A_ub=[[-1, -1]], b_ub=[0], bounds=(0, None), labels=["a", "b"])
    with pytest.raises(ValueError, match="column 'a' has no limit above, and a uniform sample"):
        space.fit([[1, 1]]).sample(1, 0)


def test_infeasible():
    arcs = [("s", "a"), ("a", "t", 0.6), ("s", "b"), ("b", "t", 1.0)]
    space = Flows(arcs, {"s": 1, "t": -1}).fit([[0.5, 0.5, 0.5, 0.5]])
    with pytest.raises(InfeasibleError, match="no flow carries the supply of row 0"):
        space.restrict(supply={"s": 2, "t": -2}).sample(1, 0)


def test_too_many_dimensions_or_vertices():
    wide = Polytope(bounds=(0, 1)).fit(np.zeros((1, 8)))
    with pytest.raises(UndecidableError, match=r"8 free dimensions.*Narrow it"):
        wide.sample(1, 0)
    narrowed = wide.restrict(bounds=[(0, 1)] * 3 + [(1, 1)] * 5).sample(10, 0)
    assert_array_equal(narrowed[:, 3:], 1.0)
    G = np.random.default_rng(0).normal(size=(60, 7))
    many = Polytope(A_ub=G, b_ub=np.linalg.norm(G, axis=1), bounds=(-1, 1)).fit(np.zeros((1, 7)))
    with pytest.raises(UndecidableError, match="vertices, more than 2000"):
        many.sample(1, 0)


SPACES = [
    Box(0, 1).fit([[0.1, 0.2]]),
    Simplex().fit([[0.5, 0.5]]),
    Polytope([[1, 1]], [1], bounds=(0, 1)).fit([[0.5, 0.5]]),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_random_states(space):
    """Whole numbers, generators and None; the same seed gives the same draws."""
    first, again = space.sample(5, 3), space.sample(5, np.random.default_rng(3))
    assert_array_equal(first, again)
    assert space.sample(0, 0).shape == (0, 2)
    assert space.contains(space.sample(4, None)).all()
    view = Embeddings.of(space).view("squares")
    assert_array_equal(view.sample(5, 3), first)


@pytest.mark.parametrize("space", [Box(0, 1), Interval(), Simplex(), Polytope(bounds=(0, 1))])
def test_not_fitted(space):
    with pytest.raises(NotFittedError):
        space.sample(1, 0)
