# SPDX-License-Identifier: BSD-3-Clause
"""The likelihood of chains in blocks against the one written out, and its minimisation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp

from skstruct import ExponentialFamily
from skstruct.learners.exponential_family import chain_likelihood
from skstruct.learners.exponential_family.chain_likelihood import ChainModel
from skstruct.learners.exponential_family.quasi_newton import Descent
from skstruct.learners.tokens import TokenReader
from skstruct.spaces import Sequences, Solving


def corpus(n, q, p, seed, longest=5):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, n)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = rng.normal(size=(starts[-1], p)) * (rng.random((starts[-1], p)) < 0.5)
    outputs = np.full((n, longest), -1)
    for i, length in enumerate(lengths):
        outputs[i, :length] = rng.integers(0, q, length)
    space = Sequences(range(q), (1, longest)).fit([[y for y in z if y >= 0] for z in outputs])
    return space, tokens, starts, outputs


def by_distributions(space, tokens, starts, outputs, weight, alpha, constant, theta):
    """Objective and gradient from the distributions of all chains, token by token."""
    q, n_tokens = len(space.symbols_), len(tokens)
    X = np.hstack([tokens, np.ones((n_tokens, 1))]) if constant else tokens
    p = X.shape[1]
    W, V = theta[: p * q].reshape(p, q), theta[p * q :].reshape(q, q)
    found = Solving.of(space).distribution_of_chains(X @ W, starts, V[None])
    unary, steps = found.gradient(weight)
    of_W, of_V = X.T @ unary, steps[0].copy()
    value = weight @ found.log_partition
    for i, y in enumerate(outputs):
        for t, symbol in enumerate(y[y >= 0]):
            x = X[starts[i] + t]
            value -= weight[i] * (x @ W[:, symbol])
            of_W[:, symbol] -= weight[i] * x
            if t:
                value -= weight[i] * V[y[t - 1], symbol]
                of_V[y[t - 1], symbol] -= weight[i]
    free = np.ones((p, q))
    free[p - 1 if constant else p :] = 0.0
    value += alpha * ((free * W**2).sum() + (V**2).sum())
    return value, np.concatenate(
        [(of_W + 2 * alpha * free * W).ravel(), (of_V + 2 * alpha * V).ravel()]
    )


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 12), q=st.integers(1, 9), p=st.integers(1, 6), constant=st.booleans(),
    as_sparse=st.booleans(), scale=st.sampled_from([0.0, 1.0, 30.0, 1000.0]),
    block=st.sampled_from([1, 7, 2048]), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_blocks_give_the_objective_of_the_distributions(
    n, q, p, constant, as_sparse, scale, block, seed
):
    space, tokens, starts, outputs = corpus(n, q, p, seed)
    rng = np.random.default_rng(seed)
    weight = rng.random(n) * (rng.random(n) < 0.8)
    given_tokens = sparse.csr_array(tokens) if as_sparse else tokens
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain_likelihood, "BLOCK_TOKENS", block)
        model = ChainModel(space, given_tokens, starts, outputs, weight, 0.3, constant)
        theta = scale * rng.normal(size=model.size)
        value, gradient = model.value_and_gradient(theta)
    expected = by_distributions(space, tokens, starts, outputs, weight, 0.3, constant, theta)
    assert_allclose(value, expected[0], rtol=1e-10, atol=1e-10)
    assert_allclose(gradient, expected[1], rtol=1e-8, atol=1e-9 * max(1.0, scale))


def test_value_and_gradient_are_those_of_all_sequences():
    space, tokens, starts, outputs = corpus(4, 3, 2, 0, longest=4)
    weight = np.array([0.1, 0.4, 0.3, 0.2])
    model = ChainModel(space, sparse.csr_array(tokens), starts, outputs, weight, 0.2, True)
    theta = np.random.default_rng(1).normal(size=model.size)

    def objective(theta):
        W, V = model.parts(theta)
        total = 0.2 * ((W[:-1] ** 2).sum() + (V**2).sum())
        for i, w in enumerate(weight):
            unary = tokens[starts[i] : starts[i + 1]] @ W[:-1] + W[-1]
            y = outputs[i][outputs[i] >= 0]
            Z = np.array([y, *product(range(3), repeat=len(y))])
            f = unary[np.arange(len(y)), Z].sum(axis=1) + V[Z[:, :-1], Z[:, 1:]].sum(axis=1)
            total += w * (logsumexp(f[1:]) - f[0])
        return total

    value, gradient = model.value_and_gradient(theta)
    assert_allclose(value, objective(theta))
    assert_allclose(gradient, approx_fprime(theta, objective, 1e-7), atol=1e-5)


def test_sums_are_those_within_constraints():
    _, tokens, starts, outputs = corpus(6, 3, 2, 3)
    space = Sequences(range(3)).fit([[y for y in z if y >= 0] for z in outputs])
    met = set(zip(*(outputs[outputs[:, 1] >= 0][:, k] for k in (0, 1))))
    forbidden = [pair for pair in product(range(3), repeat=2) if pair not in met][:1]
    space = space.restrict(forbidden=forbidden) if forbidden else space
    weight = np.full(6, 1 / 6)
    model = ChainModel(space, tokens, starts, outputs, weight, 0.1)
    theta = np.random.default_rng(0).normal(size=model.size)
    expected = by_distributions(space, tokens, starts, outputs, weight, 0.1, False, theta)
    value, gradient = model.value_and_gradient(theta)
    assert_allclose(value, expected[0])
    assert_allclose(gradient, expected[1])


@settings(max_examples=20, deadline=None)
@given(d=st.integers(1, 12), memory=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_descent_finds_the_minimum_of_scipy(d, memory, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(2 * d, d)), rng.normal(size=2 * d)

    def function(x):
        z = A @ x - b
        value = np.logaddexp(0, z).sum() + 0.5 * x @ x
        return value, A.T @ (1 / (1 + np.exp(-z))) + x

    descent = Descent(function, rng.normal(size=d), memory)
    descent.begin()
    for _ in range(500):
        if np.abs(descent.gradient).max() < 1e-7 or not descent.step():
            break
    expected = minimize(function, np.zeros(d), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert_allclose(descent.theta, expected.x, atol=1e-5)


def test_dense_tokens_of_one_array_are_not_copied():
    X = np.random.default_rng(0).normal(size=(6, 4, 3))
    for given_X in (X, list(X), list(X[1:4])):
        tokens = TokenReader().fit(given_X).read(given_X).tokens
        assert np.shares_memory(tokens, X)
        assert_array_equal(tokens, np.concatenate(list(given_X)))
    others = [list(X[::2]), list(X[::-1]), [x.copy() for x in X], [X[0], X[1][:, :3].T.T[1:]]]
    for given_X in others:
        tokens = TokenReader().fit(given_X).read(given_X).tokens
        assert_array_equal(tokens, np.concatenate(list(given_X)))


def test_sparse_and_dense_tokens_learn_the_same():
    _, tokens, starts, outputs = corpus(30, 3, 4, 5)
    X = np.split(tokens, starts[1:-1])
    Y = [[int(y) for y in z if y >= 0] for z in outputs]
    models = [
        ExponentialFamily(Sequences(range(3)), alpha=0.01, tol=1e-7).fit(kind, Y)
        for kind in (X, [sparse.csr_array(x) for x in X])
    ]
    assert_allclose(models[0].coef_, models[1].coef_, atol=1e-5)
    assert_allclose(models[0].intercept_, models[1].intercept_, atol=1e-4)
