"""The optimiser of all margin learners, against an independent solver over listed atoms."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from skstruct.learners.margins._compiled_dual import best_step
from skstruct.learners.margins.dual import Atoms, HingeDual
from skstruct.learners.margins.rows import KernelRows, LinearRows


class ListedAtoms:
    """Examples of several rows, each with a few atoms of its own; the oracle compares all."""

    def __init__(self, seed, lengths, p=2, q=2, r=2, n_atoms=3):
        rng = np.random.default_rng(seed)
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        self.X = rng.normal(size=(self.starts[-1], p))
        self.seeing = [rng.integers(-1, 2, size=(n_atoms, T, q)).astype(float) for T in lengths]
        self.constants = rng.integers(-1, 2, size=(len(lengths), n_atoms, r)).astype(float)
        self.losses = rng.random((len(lengths), n_atoms))
        weight = rng.random(len(lengths)) + 0.1
        self.share, self.sizes = weight / weight.sum(), (p, q, r)

    def values(self, m, scores, w):
        """Loss plus score of every atom of example m, and of the truth, whose is zero."""
        seen = np.einsum("atk,tk->a", self.seeing[m], scores)
        return np.append(seen + self.constants[m] @ w + self.losses[m], 0.0)

    def __call__(self, scores, w, examples):
        directions, constants, losses, bounds, at = [], [], [], [], 0
        for m in examples:
            T = self.seeing[m].shape[1]
            values = self.values(m, scores[at : at + T], w)
            best, at = int(values.argmax()), at + T
            zero = best == len(self.losses[m])
            directions.append(np.zeros(self.seeing[m].shape[1:]) if zero else self.seeing[m][best])
            constants.append(np.zeros(len(w)) if zero else self.constants[m][best])
            losses.append(0.0 if zero else self.losses[m][best])
            bounds.append(values.max())
        return Atoms(
            np.concatenate(directions), np.array(constants), np.array(losses), np.array(bounds)
        )

    def objective(self, W, w, lam, l1, shift):
        hinge = sum(
            h * self.values(m, self.X[a:b] @ W, w).max()
            for m, (h, a, b) in enumerate(zip(self.share, self.starts[:-1], self.starts[1:]))
        )
        kept = np.isfinite(l1)
        priced = l1[kept] @ np.abs(w[kept]) - shift @ w
        return lam / 2 * ((W**2).sum() + w @ w) + priced + hinge

    def optimum(self, lam, l1, shift):
        """Smallest objective, by an interior point method over v = (W, w+, w-, slacks)."""
        p, q, r = self.sizes
        M, kept = len(self.share), np.isfinite(l1)
        rows, right = [], []
        for m in range(M):
            X = self.X[self.starts[m] : self.starts[m + 1]]
            for a in range(len(self.losses[m]) + 1):
                zero = a == len(self.losses[m])  # the truth
                W = np.zeros(p * q) if zero else (X.T @ self.seeing[m][a]).ravel()
                w = np.zeros(r) if zero else self.constants[m][a] * kept
                rows.append(np.concatenate([W, w, -w, -np.eye(M)[m]]))
                right.append(0.0 if zero else -self.losses[m][a])
        signs = np.hstack([np.zeros((2 * r, p * q)), -np.eye(2 * r), np.zeros((2 * r, M))])
        P = np.zeros((p * q + 2 * r + M,) * 2)
        P[: p * q, : p * q] = lam * np.eye(p * q)
        both = np.kron([[1.0, -1.0], [-1.0, 1.0]], lam * np.diag(kept.astype(float)))
        P[p * q : -M, p * q : -M] = both
        price, tilt = np.where(kept, l1, 1.0), shift * kept
        c = np.concatenate([np.zeros(p * q), price - tilt, price + tilt, self.share])
        A, b = np.vstack([*rows, signs]), np.concatenate([right, np.zeros(2 * r)])
        options = clarabel.DefaultSettings()
        options.verbose = False
        cones = [clarabel.NonnegativeConeT(len(b))]
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(P), c, sparse.csc_matrix(A), b, cones, options
        )
        v = np.array(solver.solve().x)
        W, w = v[: p * q].reshape(p, q), (v[p * q :][:r] - v[p * q + r :][:r]) * kept
        return self.objective(W, w, lam, l1, shift)


problems = st.builds(
    ListedAtoms,
    st.integers(0, 10**6),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    r=st.integers(0, 3),
)
penalties = st.sampled_from([(0.0, 0.0), (0.1, 0.0), (0.3, 0.2), (np.inf, 0.0)])


def penalty_arrays(problem, data):
    r = problem.sizes[2]
    pairs = data.draw(st.lists(penalties, min_size=r, max_size=r))
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


@settings(max_examples=60, deadline=None)
@given(problem=problems, lam=st.sampled_from([0.05, 0.5]), data=st.data())
def test_optimum_is_reached_and_the_gap_never_lies(problem, lam, data):
    l1, shift = penalty_arrays(problem, data)
    optimum = problem.optimum(lam, l1, shift)
    rows = LinearRows(problem.X, problem.starts)
    dual = HingeDual(rows, *problem.sizes[1:], lam, problem.share).penalise(l1=l1, shift=shift)
    for passes in (1, 1, 2, 400):
        dual.solve(problem, 1e-7, range(passes), 0)
        at_weights = problem.objective(dual.weights, dual.constants, lam, l1, shift)
        assert dual.objective == pytest.approx(at_weights, abs=1e-9)
        assert dual.objective - optimum <= dual.gap + 1e-7
        assert dual.dual_objective <= optimum + 1e-7
    assert dual.objective == pytest.approx(optimum, abs=1e-5)
    assert (dual.constants[np.isinf(l1)] == 0).all()


@settings(max_examples=30, deadline=None)
@given(problem=problems, lam=st.sampled_from([0.05, 0.5]))
def test_kernel_values_and_features_are_the_same_problem(problem, lam):
    sizes = problem.sizes[1:]
    linear = HingeDual(LinearRows(problem.X, problem.starts), *sizes, lam, problem.share)
    kernel = HingeDual(
        KernelRows(problem.X @ problem.X.T, problem.starts), *sizes, lam, problem.share
    )
    for dual in (linear, kernel):
        dual.solve(problem, 1e-8, range(2000), 0)
    np.testing.assert_allclose(kernel.objective, linear.objective, atol=1e-7)
    np.testing.assert_allclose(problem.X.T @ kernel.coefficients, linear.weights, atol=1e-2)


def test_portions_stay_portions_and_weights_follow_from_them():
    problem = ListedAtoms(3, [2, 1, 1, 3], r=3)
    dual = HingeDual(LinearRows(problem.X, problem.starts), 2, 3, 0.05, problem.share)
    dual.solve(problem, 1e-12, range(30), 1)
    np.testing.assert_allclose(dual.portions.sum(axis=0), 1.0, atol=1e-12)
    assert (dual.portions >= 0).all()
    weights, constants = dual.weights.copy(), dual.constants.copy()
    dual._settle()
    np.testing.assert_allclose(dual.weights, weights, atol=1e-10)
    np.testing.assert_allclose(dual.constants, constants, atol=1e-10)


def test_two_slots_are_enough():
    """With room for one atom besides the mixture the steps are those of plain Frank-Wolfe."""
    problem = ListedAtoms(5, [1] * 6, n_atoms=5)
    rows = LinearRows(problem.X, problem.starts)
    tight = HingeDual(rows, 2, 2, 0.1, problem.share, memory=1)
    roomy = HingeDual(rows, 2, 2, 0.1, problem.share)
    assert (len(tight.stamps), len(roomy.stamps)) == (2, 10)
    for dual in (tight, roomy):
        dual.solve(problem, 1e-2, range(3000), 0)
        assert dual.gap <= 1e-2 * dual.objective
    assert tight.objective == pytest.approx(roomy.objective, rel=2e-2)


def test_a_fork_goes_its_own_way():
    problem = ListedAtoms(7, [1, 2, 1])
    dual = HingeDual(LinearRows(problem.X, problem.starts), 2, 2, 0.1, problem.share)
    dual.solve(problem, 1e-6, range(3), 0)
    before = dual.weights.copy(), dual.portions.copy()
    fork = dual.fork().penalise(lam=1.0)
    fork.solve(problem, 1e-8, range(50), 0)
    np.testing.assert_array_equal(dual.weights, before[0])
    np.testing.assert_array_equal(dual.portions, before[1])
    none = np.zeros(2)
    assert fork.objective == pytest.approx(problem.optimum(1.0, none, none), abs=1e-5)


def test_a_dual_of_more_rows_begins_where_another_stopped():
    many = ListedAtoms(11, [1, 2, 1, 1])
    few_rows = LinearRows(many.X[:3], many.starts[:3])
    few = HingeDual(few_rows, 2, 2, 0.1)
    few.solve(many, 1e-6, range(20), 0)
    for memory in (2**28, 1):  # the same slots, or those of the first as a mixture
        rows = LinearRows(many.X, many.starts)
        all_ = HingeDual(rows, 2, 2, 0.1, many.share, memory).take_over(few)
        np.testing.assert_allclose(all_.means(all_.points)[:3], few.means(few.points), atol=1e-12)
        all_.solve(many, 1e-2, range(3000), 0)
        none = np.zeros(2)
        assert all_.objective == pytest.approx(many.optimum(0.1, none, none), rel=1e-2)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6), r=st.integers(0, 5))
def test_line_search_is_exact(seed, r):
    """No step of a fine grid climbs higher on the concave dual of one direction."""
    rng = np.random.default_rng(seed)
    direction, z, shift = rng.normal(size=(3, r))
    l1 = rng.choice([0.0, 0.5, np.inf], size=r)
    share, lam, longest = rng.random(3) + 0.1
    rise, curve = rng.normal(), rng.random() * rng.integers(0, 2)

    def climb(step):
        moved = z - step * share * direction + shift
        kept = np.where(np.abs(moved) > l1, np.abs(moved) - np.minimum(l1, 1e9), 0.0)
        return rise * step - curve * step**2 / 2 - (kept**2).sum() / (2 * lam)

    step = best_step(longest, rise, curve, direction, z, shift, l1, share, lam)
    assert 0.0 <= step <= longest
    assert climb(step) >= max(map(climb, np.linspace(0.0, longest, 2001))) - 1e-9
