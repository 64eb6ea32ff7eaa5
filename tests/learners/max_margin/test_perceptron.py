# SPDX-License-Identifier: BSD-3-Clause
"""The structured perceptron against the slow, obvious one, and against its mistake bound."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from skstruct.kernels import RBF
from skstruct.learners.max_margin.perceptron import StructuredPerceptron
from skstruct.learners.max_margin.problem import dense
from skstruct.losses import Listed
from skstruct.spaces import Classes, Hierarchy, Interval, LabelSets, Rankings, Sequences
from skstruct.spaces.pairwise.labels import PairwiseLabels

LOSSES = {"rankings": "footrule"}  # bilinear in the space's own embedding
SPACES = {
    "classes": Classes(list("abc")).fit(list("abc")),
    "label sets": LabelSets(range(3)),
    "hierarchy": Hierarchy([(0, 1), (0, 2), (2, 3)]),
    "rankings": Rankings(range(3)).fit([[1, 2, 3]]),
    "words": Sequences("ab", 3).fit(["aba"]),
    "pairs": PairwiseLabels("full", labels=range(3)),
}


def draw(space, rng, n=12, p=3):
    """Whole numbers, so that sums are exact whatever their order."""
    X = rng.integers(-3, 4, size=(n, p)).astype(float)
    Z = space.enumerate()
    return X, Z[rng.integers(len(Z), size=n)]


def naive(X, Z, space, n_epochs, batch_size=1):
    """Last weights, their mean over all visits, and the number of mistakes."""
    X, psi = np.column_stack([X, np.ones(len(X))]), dense(space.embed(Z))
    W, total, mistakes = np.zeros((X.shape[1], psi.shape[1])), 0.0, 0
    for _ in range(n_epochs):
        for i, (x, true) in enumerate(zip(X, psi)):
            if i % batch_size == 0:
                old = W
            found = dense(space.embed(space.argmin(-(x @ old)[None]).outputs))[0]
            if (found != true).any() and x @ W @ (true - found) <= 0:
                W = W + np.outer(x, true - found)
                mistakes += 1
            total = total + W
    return W, total / (n_epochs * len(X)), mistakes


@pytest.mark.slow
@pytest.mark.parametrize("name", SPACES)
@given(st.integers(0, 10**6), st.integers(1, 4))
@settings(max_examples=10, deadline=None)
def test_one_at_a_time_it_is_the_classic(name, seed, n_epochs):
    space = SPACES[name]
    X, Z = draw(space, np.random.default_rng(seed))
    last, mean, mistakes = naive(X, Z, space, n_epochs)
    model = StructuredPerceptron(
        space, LOSSES.get(name), batch_size=1, shuffle=False, max_iter=n_epochs
    )
    y = space.restore(Z)
    model.fit(X, y)
    assert model.n_mistakes_ == mistakes
    assert model.n_seen_ == n_epochs * len(X)
    assert_array_equal(model.weights_, last)
    assert_allclose(np.vstack([model.coef_.T, model.intercept_]), mean, atol=1e-12)
    model.set_params(average=False).fit(X, y)
    assert_array_equal(np.vstack([model.coef_.T, model.intercept_]), last)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 5, 100])
@pytest.mark.parametrize("name", SPACES)
def test_separable_data_within_the_mistake_bound(name, batch_size):
    space, rng = SPACES[name], np.random.default_rng(7)
    Z = space.enumerate()
    psi = dense(space.embed(Z))
    X = rng.standard_normal((300, 4))
    W = rng.standard_normal((5, psi.shape[1]))
    scores = np.column_stack([X, np.ones(300)]) @ W @ psi.T
    first, second = np.sort(scores, axis=1)[:, -1:-3:-1].T
    clear = first - second > 0.1 * np.linalg.norm(W)
    X, y = X[clear], space.restore(Z[scores.argmax(axis=1)[clear]])
    assert len(X) >= 15
    model = StructuredPerceptron(
        space, LOSSES.get(name), batch_size=batch_size, max_iter=3000, average=False, random_state=0
    ).fit(X, y)
    assert model.score(X, y) == 0
    steps = np.linalg.norm(psi[:, None] - psi[None], axis=2).max()
    reach = np.linalg.norm(np.column_stack([X, np.ones(len(X))]), axis=1).max() * steps
    margin = (first - second)[clear].min() / np.linalg.norm(W)
    assert 0 < model.n_mistakes_ <= (reach / margin) ** 2


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 30), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_batches_fix_what_is_still_a_violation(seed, batch_size, n_epochs, n):
    space = LabelSets(range(3))
    X, Z = draw(space, np.random.default_rng(seed), n=n)
    last, mean, mistakes = naive(X, Z, space, n_epochs, batch_size)
    model = StructuredPerceptron(space, batch_size=batch_size, max_iter=n_epochs, shuffle=False)
    model.fit(X, Z)
    assert (model.n_mistakes_, model.n_seen_) == (mistakes, n_epochs * n)
    assert_array_equal(model.weights_, last)
    # Few rows are separated soon: the mean goes on counting visits that change nothing.
    assert_allclose(np.vstack([model.coef_.T, model.intercept_]), mean, atol=1e-12)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 20), st.booleans())
@settings(max_examples=25, deadline=None)
def test_kernel_of_inner_products_is_linear(seed, batch_size, average):
    space = Hierarchy([(0, 1), (0, 2), (2, 3)])
    X, Z = draw(space, np.random.default_rng(seed))
    model = StructuredPerceptron(space, batch_size=batch_size, average=average, random_state=0)
    linear = clone(model).fit(X, Z)
    kernelised = model.set_params(kernel="precomputed").fit(X @ X.T, Z)
    assert kernelised.n_mistakes_ == linear.n_mistakes_
    coefficients = kernelised.scores_.weights_
    assert_allclose(X.T @ coefficients, linear.coef_.T, atol=1e-9)
    assert_allclose(coefficients.sum(axis=0), linear.intercept_, atol=1e-9)
    assert_allclose(kernelised.decode(X @ X.T).values, linear.decode(X).values, atol=1e-8)
    with pytest.raises(AttributeError, match="linear"):
        kernelised.coef_  # noqa: B018


def test_a_kernel_learns_what_no_line_separates():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(80, 2))
    y = (X[:, :1] * X[:, 1:] > 0).astype(int)
    model = StructuredPerceptron(LabelSets([0]), max_iter=200, random_state=0)
    assert model.fit(X, y).score(X, y) < -0.2
    assert model.set_params(kernel=RBF(5.0)).fit(X, y).score(X, y) > -0.05
    assert model.set_params(n_landmarks=40).fit(X, y).score(X, y) > -0.05


def chains(rng, n=10):
    lengths = rng.integers(1, 5, size=n)
    X = [rng.standard_normal((T, 2)) for T in lengths]
    y = ["".join(rng.choice(list("abc"), size=T)) for T in lengths]
    return X, y


def test_chains_learn_their_transitions():
    X, y = chains(np.random.default_rng(3))
    n_epochs, q = 3, 3
    W, V, total, total_V, mistakes = np.zeros((3, q)), np.zeros((q, q)), 0, 0, 0
    for _ in range(n_epochs):
        for x, word in zip(X, y):
            x, true = np.column_stack([x, np.ones(len(x))]), ["abc".index(c) for c in word]
            words = Sequences("abc", len(true)).fit([word]).enumerate()
            scores = [sum((x @ W)[t, z[t]] for t in range(len(z))) for z in words]
            scores += np.array([sum(V[a, b] for a, b in pairwise(z)) for z in words])
            best = np.flatnonzero(scores == np.max(scores))
            assert len(best) == 1 or not W.any()
            z = words[best[0]]  # all tie at the start: the decoder takes the first symbols
            if (z != true).any():
                mistakes += 1
                for t in range(len(z)):
                    W[:, true[t]] += x[t]
                    W[:, z[t]] -= x[t]
                for t in range(1, len(z)):
                    V[true[t - 1], true[t]] += 1
                    V[z[t - 1], z[t]] -= 1
            total, total_V = total + W, total_V + V
    model = StructuredPerceptron(
        Sequences("abc"), batch_size=1, shuffle=False, max_iter=n_epochs
    ).fit(X, y)
    assert model.n_mistakes_ == mistakes
    visits = n_epochs * len(X)
    assert_allclose(np.vstack([model.coef_.T, model.intercept_]), total / visits, atol=1e-12)
    assert_allclose(model.scores_.constants_.reshape(q, q), total_V / visits, atol=1e-12)
    assert [len(word) for word in model.predict(X)] == [len(word) for word in y]


# ------------------------------------------------------------------ pieces and forms
def test_pieces_are_one_pass():
    space = Hierarchy([(0, 1), (0, 2), (2, 3)])
    X, Z = draw(space, np.random.default_rng(0), n=30)
    whole = StructuredPerceptron(space, max_iter=1, shuffle=False, batch_size=10).fit(X, Z)
    pieces = StructuredPerceptron(space, batch_size=10)
    for start in range(0, 30, 10):
        pieces.partial_fit(X[start : start + 10], Z[start : start + 10])
    assert_array_equal(pieces.coef_, whole.coef_)
    assert (pieces.n_mistakes_, pieces.n_seen_) == (whole.n_mistakes_, 30)


def test_pieces_of_chains():
    X, y = chains(np.random.default_rng(5))
    space = Sequences("abc")
    whole = StructuredPerceptron(space, max_iter=1, shuffle=False, batch_size=5).fit(X, y)
    pieces = StructuredPerceptron(space, batch_size=5)
    pieces.partial_fit(X[:5], y[:5]).partial_fit(X[5:], y[5:])
    assert_array_equal(pieces.scores_.constants_, whole.scores_.constants_)
    assert_array_equal(pieces.coef_, whole.coef_)


def test_a_failed_piece_changes_nothing():
    X, Z = draw(LabelSets(range(3)), np.random.default_rng(1))
    model = StructuredPerceptron(LabelSets(range(3))).partial_fit(X, Z)
    before = pickle.dumps(model.__dict__)
    for bad_X, bad_Z in ((X[:, :2], Z), (X, Z[:, :2]), (X[:5], Z), (X + np.inf, Z)):
        with pytest.raises(ValueError):
            model.partial_fit(bad_X, bad_Z)
    assert pickle.dumps(model.__dict__) == before
    model.partial_fit(X, Z)
    assert model.n_seen_ == 2 * len(X)


def test_pieces_need_weights_of_features():
    X, Z = draw(LabelSets(range(3)), np.random.default_rng(1))
    for options in ({"kernel": "rbf"}, {"n_landmarks": 5}, {"kernel": "precomputed"}):
        with pytest.raises(ValueError, match="kernel='linear'"):
            StructuredPerceptron(LabelSets(), **options).partial_fit(X, Z)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iter": 0}, "max_iter is a whole number from 1; got 0"),
        ({"batch_size": 2.5}, "batch_size is a whole number from 1; got 2.5"),
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"loss": "nonsense"}, "Unknown loss 'nonsense'"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        StructuredPerceptron(LabelSets(), **options).fit([[0.0], [1.0]], [[1, 0], [0, 1]])


def test_losses_without_an_embedding_are_an_error():
    with pytest.raises(ValueError, match="Absolute is not linear"):
        StructuredPerceptron(Interval(), "absolute").fit([[0.0], [1.0]], [0.0, 1.0])


def test_sparse_rows_names_and_seeds():
    X, Z = draw(LabelSets(range(3)), np.random.default_rng(2), n=40)
    y = [{"red", "green", "blue"} & {c for c, z in zip(["red", "green", "blue"], row) if z}
         for row in Z]  # fmt: skip
    model = StructuredPerceptron(random_state=3)
    dense_rows = clone(model).fit(X, y)
    sparse_rows = clone(model).fit(sparse.csr_array(X), y)
    assert_array_equal(dense_rows.coef_, sparse_rows.coef_)
    assert all(labels <= {"red", "green", "blue"} for labels in dense_rows.predict(X))
    other = clone(model).set_params(random_state=4).fit(X, y)
    assert (other.coef_ != dense_rows.coef_).any()
    copy = pickle.loads(pickle.dumps(dense_rows))
    assert list(copy.predict(X)) == list(dense_rows.predict(X))


def test_a_list_of_outputs_cannot_change():
    def distance(z, y):
        return abs(z - y)

    model = StructuredPerceptron(Interval(), Listed(distance))
    model.partial_fit([[0.0], [1.0]], [0.0, 1.0]).partial_fit([[0.5], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="call fit with all rows"):
        model.partial_fit([[0.0], [1.0]], [0.0, 2.0])
