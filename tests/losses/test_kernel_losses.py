# SPDX-License-Identifier: BSD-3-Clause
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm
from sklearn.metrics.pairwise import pairwise_kernels

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.losses import Listed, Squared, pair
from skstruct.losses import diffusion as diffusion_module
from skstruct.losses.diffusion import Diffusion, heat_kernel, laplacian
from skstruct.losses.kernel_induced import KernelLoss
from skstruct.losses.preimages import GaussianCells, climb_gaussians, feature_bounds
from skstruct.spaces import Classes, LabelSets
from skstruct.spaces.graph_nodes.space import GraphNodes
from skstruct.spaces.quantities.boxes import Box, Interval
from skstruct.spaces.quantities.spheres import Sphere
from skstruct.testing import check_loss

SIDE = np.linspace(-1, 1, 101)
SQUARE = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
ANGLES = np.linspace(0, 2 * np.pi, 5001)
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


@st.composite
def weighted_graphs(draw, max_nodes=7):
    n = draw(st.integers(1, max_nodes))
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            A[i, j] = A[j, i] = draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0]))
    return A


# ------------------------------------------------------------- diffusion distance
@given(weighted_graphs(), st.sampled_from([0.05, 0.5, 3.0]), st.booleans())
def test_diffusion_is_that_of_the_matrix_exponential(A, t, normalized):
    space = GraphNodes(A).fit([0])
    nodes = np.arange(len(A))
    degrees = A.sum(axis=1)
    L = np.diag(degrees) - A
    if normalized:
        root = np.array([d**-0.5 if d > 0 else 0.0 for d in degrees])
        L = root[:, None] * L * root
    H = expm(-2 * t * L)
    expected = np.diag(H)[:, None] + np.diag(H) - 2 * H
    loss = Diffusion(t, normalized=normalized)
    assert_allclose(loss.bind(space).pairwise(nodes, nodes), expected, atol=1e-12)
    check_loss(loss, space, nodes)


def test_pieces_of_a_graph_do_not_exchange_heat():
    loss = Diffusion(50.0).bind(GraphNodes(nx.Graph([(0, 1), (2, 3)])).fit([0]))
    assert_allclose(loss([0, 0], [1, 2]), [0.0, 1.0], atol=1e-12)
    alone = Diffusion().bind(GraphNodes(np.zeros((3, 3))).fit([0]))
    assert_allclose(alone.pairwise(np.arange(3), np.arange(3)), 2 * (1 - np.eye(3)))


@pytest.mark.parametrize(("t", "kind"), [(30.0, "SpectralHeat"), (0.3, "ExponentialHeat")])
def test_large_graphs_give_the_same_as_all_eigenpairs(t, kind, monkeypatch):
    """The grid is a square: many of its eigenvalues come in pairs, which must not be lost."""
    graph = nx.grid_2d_graph(20, 20)
    space = GraphNodes(graph).fit([(0, 0)])
    L, nodes = laplacian(space.adjacency_), np.arange(400)
    exact = heat_kernel(L, 2 * t)
    monkeypatch.setattr(diffusion_module, "DENSE", 100)
    heat = heat_kernel(L, 2 * t)
    assert type(heat).__name__ == kind
    some = np.array([0, 399, 7, 7])
    assert_allclose(heat.diagonal, exact.diagonal, atol=1e-10)
    assert_allclose(heat.block(nodes, some), exact.block(nodes, some), atol=1e-10)
    assert_allclose(heat.entries(some, some[::-1]), exact.entries(some, some[::-1]), atol=1e-10)
    g = np.random.default_rng(0).standard_normal((3, 400))
    assert_allclose(heat.times(g), exact.times(g), atol=1e-8)


def test_learning_with_the_diffusion_distance():
    """Predictions may fall on nodes between those of training."""
    path = nx.path_graph(9)
    model = ConditionalRiskMinimizer(GraphNodes(path), Diffusion(4.0), alpha=1e-3, kernel=RBF(1.0))
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model.fit(X, [0, 2, 6, 8])
    assert_array_equal(model.predict([[0.0], [1.0]]), [1, 7])
    narrow = model.predict([[0.0], [1.0]], loss=Diffusion(4.0, candidates=[0, 2, 6, 8]))
    assert set(narrow) <= {0, 2, 6, 8}


def test_diffusion_says_what_it_needs():
    with pytest.raises(ValueError, match=r"Classes has no graph. Give space=GraphNodes"):
        pair(Diffusion(), Classes().fit([0, 1]), np.array([0, 1]))
    with pytest.raises(ValueError, match="positive; got -1"):
        Diffusion(-1).bind(GraphNodes(np.zeros((2, 2))).fit([0]))
    with pytest.raises(ValueError, match="bind"):
        Diffusion()([0], [1])


# ------------------------------------------------------------- kernel losses
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "cosine"])
def test_kernel_losses_are_their_definition(kernel):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((40, 3)), rng.standard_normal((40, 3))
    loss = KernelLoss(kernel, gamma=0.7)

    def h(P, Q):
        return pairwise_kernels(
            P, Q, metric=kernel, filter_params=True, gamma=0.7, degree=3, coef0=1
        )

    expected = np.diag(h(A, A))[:, None] + np.diag(h(B, B)) - 2 * h(A, B)
    assert_allclose(loss.pairwise(A, B), expected, atol=1e-12)
    assert_allclose(loss(A, B), np.diag(expected), atol=1e-12)
    assert_allclose(KernelLoss(h).pairwise(A, B), expected, atol=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([0.3, 3.0, 30.0]))
def test_one_number_is_decided_with_certificate(seed, gamma):
    rng = np.random.default_rng(seed)
    Y = rng.uniform(-2, 2, (12, 1))
    space = Interval(-2.0, 2.5).fit(Y)
    W = rng.standard_normal((6, 12))
    view, loss = pair(KernelLoss(gamma=gamma), space, Y)
    decoded = loss.minimize(W, Y, view)
    grid = np.linspace(-2, 2.5, 4001)[:, None]
    best = (W @ loss.pairwise(grid, Y).T).min(axis=1)
    assert_allclose((W * loss.pairwise(decoded.outputs, Y)).sum(axis=1), decoded.values, atol=1e-9)
    assert (decoded.values <= best + 1e-6).all()
    assert (decoded.bounds <= best + 1e-9).all()
    assert (decoded.values - decoded.bounds <= 1e-6 * np.abs(W).sum(axis=1)).all()


def square(A, B):
    return (1.0 + A @ B.T) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "cosine", "linear", square])
@pytest.mark.parametrize("name", ["square", "circle"])
def test_preimages_against_a_grid(kernel, name):
    """Valid bounds, members only, and never worse than the best training output."""
    rng = np.random.default_rng(3)
    Y = rng.uniform(-1, 1, (20, 2))
    Y = Y if name == "square" else Y / np.linalg.norm(Y, axis=1, keepdims=True)
    space = Box(-1.0, 1.0).fit(Y) if name == "square" else Sphere().fit(Y)
    points = SQUARE if name == "square" else CIRCLE
    W = rng.standard_normal((15, 20))
    view, loss = pair(KernelLoss(kernel, gamma=2.0), space, Y)
    decoded = loss.minimize(W, Y, view)
    risks = W @ loss.pairwise(points, Y).T
    at_training = (W @ loss.pairwise(Y, Y).T).min(axis=1)
    size = np.ptp(risks, axis=1)
    assert view.contains(decoded.outputs).all()
    assert_allclose((W * loss.pairwise(decoded.outputs, Y)).sum(axis=1), decoded.values, atol=1e-8)
    assert (decoded.values <= at_training + 1e-9).all()
    assert (decoded.bounds <= np.minimum(risks.min(axis=1), decoded.values) + 1e-9).all()
    if kernel in ("rbf", "linear"):
        assert (decoded.values <= risks.min(axis=1) + 1e-6 * size).all()
        assert (decoded.values - decoded.bounds <= 1e-2 * size).all()
    if kernel == "poly":
        assert np.isfinite(decoded.bounds).all()


def test_preimages_leave_the_training_outputs():
    """Between two equal outputs near each other lies a better one."""
    Y = np.array([[0.0, 0.0], [0.6, 0.0], [0.3, 5.0]])
    view, loss = pair(KernelLoss(gamma=1.0), Box().fit(Y), Y)
    decoded = loss.minimize(np.array([[1.0, 1.0, 0.5]]), Y, view)
    assert_allclose(decoded.outputs, [[0.3, 0.0]], atol=1e-3)
    stay = pair(KernelLoss(gamma=1.0, n_starts=0, kernel="laplacian"), view, Y)[1]
    assert any((stay.minimize(np.ones((1, 3)), Y, view).outputs[0] == y).all() for y in Y)


@pytest.mark.parametrize("d", [1, 4])
def test_rows_of_their_own_constraints(d):
    rng = np.random.default_rng(0)
    Y = rng.uniform(-1, 1, (15, d))
    W = rng.standard_normal((4, 15))
    high = np.array([[-0.5], [0.0], [0.5], [1.0]]) * np.ones((1, d))
    view, loss = pair(KernelLoss(gamma=1.0), Box(-1.0, 1.0).fit(Y), Y)
    narrowed = view.restrict(high=high)
    decoded = loss.minimize(W, Y, narrowed)
    assert (decoded.outputs <= high + 1e-9).all()
    inside = rng.uniform(-1, 1, (3000, d))
    for i, row in enumerate(W @ loss.pairwise(inside, Y).T):
        allowed = row[(inside <= high[i]).all(axis=1)]
        assert decoded.bounds[i] <= allowed.min() + 1e-9
        assert decoded.values[i] <= allowed.min() + 1e-3 * np.ptp(row)


@pytest.mark.slow
def test_without_constraints_there_is_still_a_bound():
    rng = np.random.default_rng(5)
    Y = rng.standard_normal((15, 2))
    W = rng.standard_normal((8, 15))
    for space in (Box(-np.inf, np.inf).fit(Y), Box(-np.inf, np.inf).fit(Y[:, :1])):
        d = len(space.labels_)
        view, loss = pair(KernelLoss(gamma=1.0), space, Y[:, :d])
        decoded = loss.minimize(W, Y[:, :d], view)
        points = rng.uniform(-6, 6, (20000, d))
        best = (W @ loss.pairwise(points, Y[:, :d]).T).min(axis=1)
        assert (decoded.bounds <= np.minimum(best, decoded.values) + 1e-9).all()
        assert (decoded.values <= best + 1e-2).all()


@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([1, 20, 200]))
def test_bounds_of_cells_hold_whatever_the_budget(seed, d, budget):
    rng = np.random.default_rng(seed)
    Y, W = rng.uniform(-1, 1, (10, d)), rng.standard_normal((5, 10))
    gamma = rng.uniform(0.5, 8.0)

    def clip(points, rows):
        return np.clip(points, -1.0, 1.0)

    def sums(points):
        return W @ np.exp(-gamma * ((points[:, None] - Y) ** 2).sum(axis=-1)).T

    start = Y[:5].copy()
    cells = GaussianCells(W, Y, gamma, clip, -np.ones(d), np.ones(d))
    points, values, most = cells.run(start, sums(start)[np.arange(5), np.arange(5)], budget=budget)
    tried = sums(rng.uniform(-1, 1, (3000, d)))
    assert (np.abs(points) <= 1 + 1e-12).all()
    assert_allclose(sums(points)[np.arange(5), np.arange(5)], values, atol=1e-12)
    assert (most >= np.maximum(tried.max(axis=1), values) - 1e-12).all()


@given(st.integers(0, 10**6))
def test_climbing_never_falls(seed):
    rng = np.random.default_rng(seed)
    Y, W = rng.standard_normal((8, 2)), rng.standard_normal((6, 8))
    starts = rng.standard_normal((6, 2))
    starts /= np.linalg.norm(starts, axis=1, keepdims=True)

    def to_circle(points, rows):
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    def sums(points):
        return (W * np.exp(-((points[:, None] - Y) ** 2).sum(axis=-1))).sum(axis=1)

    points, ends = climb_gaussians(W, Y, starts, 1.0, to_circle)
    assert_allclose(sums(points), ends, atol=1e-12)
    assert (ends >= sums(starts) - 1e-12).all()
    # No better point nearby: a climb ends where it is level.
    turned = [to_circle(points + 1e-3 * side * points[:, ::-1] * [-1, 1], None) for side in (-1, 1)]
    assert (np.maximum(*map(sums, turned)) <= ends + 1e-4).all()


@given(st.floats(-3, 3), st.floats(0, 3), st.floats(0, 2), st.floats(0, 2))
def test_feature_bounds_are_minima_over_lengths(total, length, low, width):
    r = np.linspace(low, low + width, 1001)
    found = feature_bounds(np.array([total]), np.array([length]), low, low + width)[0]
    least = (total * r**2 - 2 * r * length).min()
    assert least - 1e-4 <= found <= least + 1e-12


def test_gamma_is_learned_from_the_outputs():
    Y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    twice = np.vstack([Y, Y[:1]])
    for space in (Sphere(), Box()):
        _, listed = pair(Listed(KernelLoss()), space.fit(twice), twice)
        _, loss = pair(KernelLoss(), space, twice)
        assert_allclose([listed.loss.gamma_, loss.gamma_], 1 / twice.var(axis=0).sum())
    _, constant = pair(KernelLoss(), Box().fit(Y[:1]), Y[:1])
    assert constant.gamma_ == 1.0


def test_listed_kernel_losses_and_label_sets():
    Y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1]], dtype=np.int8)
    space = LabelSets().fit(Y)
    _, loss = pair(Listed(KernelLoss(gamma=0.5)), space, Y)
    apart = (Y[:, None] != Y).sum(axis=-1)
    assert_allclose(loss.matrix_, 2 - 2 * np.exp(-0.5 * apart), atol=1e-14)
    with pytest.raises(ValueError, match=r"LabelSets; give loss=Listed\(KernelLoss"):
        pair(KernelLoss(gamma=0.5), space, Y)


def test_linear_kernel_is_the_squared_loss():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 2)), rng.uniform(0, 1, (20, 2))
    models = [
        ConditionalRiskMinimizer(Box(0.0, 1.0), loss, alpha=0.1, kernel=RBF(1.0)).fit(X, Y)
        for loss in (Squared(), KernelLoss("linear"))
    ]
    by_squares, by_kernel = (model.decode(X[:5]) for model in models)
    assert_allclose(by_kernel.outputs, by_squares.outputs, atol=1e-9)
    assert_allclose(by_kernel.values, by_squares.values, atol=1e-9)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (KernelLoss("sigmoid"), "'sigmoid' is not one of rbf"),
        (KernelLoss(3), "name or a callable; got 3"),
        (KernelLoss(gamma=-1.0), "positive; got -1"),
        (KernelLoss("poly", gamma=1.0, degree=2.5), "degree 2.5"),
        (KernelLoss(), "give gamma, or call bind"),
        (KernelLoss(lambda A, B: A), "shape"),
    ],
)
def test_bad_kernel_losses(loss, message):
    with pytest.raises(ValueError, match=message):
        loss([[0.0, 1.0]], [[1.0, 1.0]])


def test_class_numbers_are_not_quantities():
    with pytest.raises(ValueError, match="Classes has none"):
        pair(Listed(KernelLoss(gamma=1.0)), Classes().fit([0, 1]), np.array([0, 1]))
