# SPDX-License-Identifier: BSD-3-Clause
"""The exponential loss, minimized: against sums over all pairs, and as ridge regression's bound."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from skstruct import CountingRidge
from skstruct.kernels import RBF, KernelSpace
from skstruct.learners import ExponentialLoss
from skstruct.learners.counting_ridge.exponential import ExponentialObjective
from skstruct.learners.counting_ridge.objective import CountingExamples
from skstruct.learners.counting_ridge.score_functions import GramMatrix
from skstruct.losses import exponential_loss
from skstruct.persistence import load_model, save_model
from skstruct.spaces import Classes, Cycles, Hierarchy, LabelSets, Rankings, Uniform
from skstruct.streaming import ArraySource

SPACES = {
    "classes": Classes(["x", "y", "z"]),
    "sets": LabelSets(range(3)),
    "rankings": Rankings(range(3), "pairs"),
    "closed sets": Hierarchy([(0, 1), (0, 2), (2, 3)]),
}


def dense(psi):
    return psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi, dtype=float)


def problem(name, several, seed=0, m=5):
    space, rng = SPACES[name], np.random.default_rng(seed)
    listed = space.enumerate()
    numbers = [rng.choice(len(listed), 1 + (i % 3 if several else 0), replace=False)
               for i in range(m)]  # fmt: skip
    y = [list(space.restore(listed[at])) for at in numbers]
    y = y if several else [row[0] for row in y]
    return space, rng.standard_normal((m, 2)), y, numbers, np.linspace(0.5, 2.0, m)


def summed(values, numbers, weight):
    """The losses from their definition, divided by the number of outputs."""
    total = 0.0
    for f, correct, w in zip(values, numbers, weight):
        others = np.setdiff1d(np.arange(len(f)), correct)
        total += w * sum(np.exp(f[others] - f[y]).sum() for y in correct) / len(f)
    return total


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", SPACES)
def test_values_are_sums_and_gradients_those_of_central_differences(name, several):
    space, X, _, numbers, weight = problem(name, several)
    row = np.repeat(np.arange(5), [len(at) for at in numbers])
    listed = space.enumerate()
    psi = dense(space.embed(listed))
    moments = np.asarray(Uniform.of(space).mean_embedding()), Uniform.of(space).covariance()
    examples = CountingExamples.of(
        psi[np.concatenate(numbers)], moments[0], row, weight, moments[1], space.size()
    )
    gram = GramMatrix.of(rbf_kernel(X, gamma=0.5), examples.root)
    loss = ExponentialObjective(space, examples, gram.factor(), 0.3, "1GB")
    theta = np.random.default_rng(1).standard_normal(loss.size)
    value, gradient = loss.value_and_gradient(theta)
    f = loss.features @ theta.reshape(loss.shape)
    assert value == pytest.approx(0.3 * theta @ theta + summed(f @ psi.T, numbers, weight))
    for direction in np.random.default_rng(2).standard_normal((6, loss.size)):
        step = 1e-5 * direction / np.linalg.norm(direction)
        ends = [loss.value_and_gradient(theta + sign * step)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / 2
        assert slope == pytest.approx(gradient @ step, rel=1e-5, abs=1e-9 * abs(value))
    whole = loss.blocks
    loss.blocks = [slice(0, 2), slice(2, 5)]
    again = loss.value_and_gradient(theta)
    assert len(whole) == 1
    assert again[0] == pytest.approx(value, rel=1e-12)
    assert_allclose(again[1], gradient, atol=1e-9 * np.abs(gradient).max())


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", SPACES)
def test_the_minimum_is_that_of_the_sum_over_all_pairs(name, several):
    space, X, y, numbers, weight = problem(name, several)
    shared = {"kernel": RBF(0.5), "alpha": 0.3, "contrast": "space"}
    model = CountingRidge(space, solver=ExponentialLoss(tol=1e-9), **shared)
    model.fit(X, y, weight, several_outputs=several)
    K = rbf_kernel(X, gamma=0.5) + 1.0
    psi = dense(space.embed(space.enumerate()))
    shape = len(X), psi.shape[1]

    def value(a):
        A = a.reshape(shape)
        return 0.3 * np.vdot(A, K @ A) + summed(K @ A @ psi.T, numbers, weight)

    found = minimize(value, np.zeros(np.prod(shape)), options={"gtol": 1e-7, "maxiter": 2000})
    assert model.objective_ == pytest.approx(found.fun, rel=1e-7)
    scores = K @ found.x.reshape(shape) @ psi.T
    ours = model.function_.predict(X) @ psi.T
    gaps = [values - values.mean(axis=1, keepdims=True) for values in (ours, scores)]
    assert_allclose(*gaps, atol=1e-4)
    # What was minimized is what the function measures.
    measured = exponential_loss(model.space_, model.function_.predict(X), y,
                                several_outputs=several)  # fmt: skip
    A = model.function_.weights_
    penalty = 0.3 * np.vdot(A, K @ A)
    total = penalty + weight @ measured / np.e / space.size()
    assert total == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("several", [False, True])
def test_ridge_regression_is_its_second_order(several):
    """Halved scores leave an eighth of the difference; at zero all but the constant is gone."""
    space, X, _, numbers, weight = problem("sets", several)
    psi = dense(space.embed(space.enumerate()))
    row = np.repeat(np.arange(5), [len(at) for at in numbers])
    examples = CountingExamples.of(
        psi[np.concatenate(numbers)],
        Uniform.of(space).mean_embedding(),
        row,
        weight,
        Uniform.of(space).covariance(),
        8,
    )
    f = np.random.default_rng(0).standard_normal((5, 3))
    n = np.array([len(at) for at in numbers])
    constant = weight @ (n * (8 - n)) / 8  # every pair counts one at zero
    off = []
    for t in (0.04, 0.02, 0.01):
        ridge = examples.value(t * f * examples.root[:, None], 0.0, 1.0)
        off.append(summed(t * f @ psi.T, numbers, weight) - constant - ridge)
    assert_allclose(np.divide(off[:2], off[1:]), 8.0, rtol=0.1)
    # Under a strong penalty, scores are small and both have the same solution.
    y = [list(space.restore(space.enumerate()[at])) for at in numbers]
    shared = {"kernel": RBF(0.5), "alpha": 1e4}
    models = [
        CountingRidge(space, solver=solver, **shared).fit(X, y, weight, several_outputs=True)
        for solver in ("closed-form", ExponentialLoss(tol=1e-10))
    ]
    scale = np.abs(models[0].coef_).max()
    assert_allclose(models[1].coef_, models[0].coef_, atol=1e-3 * scale)


def test_features_give_what_their_kernel_gives():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 3)), rng.integers(0, 2, (40, 4))
    solver = ExponentialLoss(tol=1e-10)
    linear = CountingRidge(kernel="linear", alpha=0.5, solver=solver).fit(X, Y)
    kernel = CountingRidge(kernel=lambda A, B: A @ B.T, alpha=0.5, solver=solver).fit(X, Y)
    assert linear.coef_.shape == (4, 4)
    assert_allclose(linear.decision_function(X), kernel.decision_function(X), atol=1e-6)
    named = CountingRidge(kernel="linear", alpha=0.5, solver="exponential").fit(X, Y)
    assert named.objective_ == pytest.approx(linear.objective_, rel=1e-8)


def test_spaces_that_no_list_holds_are_learned_from():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = (X @ rng.standard_normal((3, 100)) > 0).astype(int)
    model = CountingRidge(kernel="linear", alpha=1.0, solver="exponential").fit(X, Y)
    assert 0 < model.objective_ < 60
    assert (model.predict(X) != Y).mean() < 0.1


def test_kernels_between_outputs_need_no_moments(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((10, 2)), rng.integers(0, 2, (10, 3))
    spaces = [KernelSpace(LabelSets(range(3)), n_listed=n, n_samples=50) for n in (0, 100)]
    models = [CountingRidge(one, alpha=0.1, solver="exponential").fit(X, Y) for one in spaces]
    assert models[0].moments_error_ is None
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-6)
    save_model(models[1], tmp_path / "model.skstruct")
    assert_array_equal(load_model(tmp_path / "model.skstruct").predict(X), models[1].predict(X))


def test_what_cannot_be_done_is_said():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((8, 2)), rng.integers(0, 2, (8, 3))
    model = CountingRidge(LabelSets(range(3)), kernel="linear", alpha=1.0, solver="exponential")
    with pytest.raises(ValueError, match="partial_fit learns by the squared loss"):
        model.partial_fit(X, Y)
    with pytest.raises(ValueError, match="A source of blocks learns by the squared loss"):
        model.fit(ArraySource(X, Y))
    tours = [list(range(20))] * 8
    with pytest.raises(ValueError, match="which are not known exactly"):
        CountingRidge(Cycles(range(20)), alpha=1.0, solver="exponential").fit(X, tours)
    with pytest.raises(ValueError, match="an ExponentialLoss; got 'newton'"):
        CountingRidge(solver="newton").fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="L-BFGS stopped after 1"):
        CountingRidge(alpha=0.001, solver=ExponentialLoss(max_iter=1)).fit(X, Y)
