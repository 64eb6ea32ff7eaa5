# SPDX-License-Identifier: BSD-3-Clause
"""Structured SVMs over sequences with features per position, against all sequences."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margin_cases import ListedVertices
from skstruct import StructuredSVM
from skstruct.losses import SequenceHamming
from skstruct.spaces import Sequences

Q = 2


def rows(seed, lengths, p=2):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(T, p)) for T in lengths]
    return X, ["".join("ab"[s] for s in rng.integers(Q, size=T)) for T in lengths]


def psi(word):
    """Indicators of the symbols (T, q), and counts of the transitions (q q,)."""
    symbols = ["ab".index(s) for s in word]
    counts = np.zeros((Q, Q))
    for a, b in pairwise(symbols):
        counts[a, b] += 1
    return np.eye(Q)[symbols], counts.ravel()


def loss(z, y, bigrams):
    wrong = sum(a != b for a, b in zip(z, y))
    pairs = zip(pairwise(z), pairwise(y))
    return wrong + bigrams * sum(a != b for a, b in pairs)


def listed(X, y, bigrams):
    seeing, constants, losses = [], [], []
    for word in y:
        rivals = ["".join(z) for z in product("ab", repeat=len(word))]
        points, truth = [psi(z) for z in rivals], psi(word)
        seeing.append(np.array([symbols - truth[0] for symbols, _ in points]))
        constants.append(np.array([counts - truth[1] for _, counts in points]))
        losses.append(np.array([loss(z, word, bigrams) for z in rivals], dtype=float))
    starts = np.concatenate([[0], np.cumsum([len(x) for x in X])])
    tokens = np.vstack([np.hstack([x, np.ones((len(x), 1))]) for x in X])
    return ListedVertices(tokens, starts, seeing, constants, losses, np.full(len(y), 1 / len(y)))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(1, 3), min_size=2, max_size=5),
    bigrams=st.sampled_from([0.0, 0.7]),
)
def test_objective_is_that_of_an_independent_solver(seed, lengths, bigrams):
    X, y = rows(seed, lengths)
    model = StructuredSVM(
        Sequences("ab"), SequenceHamming(bigrams), alpha=0.1, tol=1e-6, random_state=0
    ).fit(X, y)
    problem = listed(X, y, bigrams)
    none = np.zeros(Q * Q)
    optimum = problem.optimum(0.1, none, none)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
    W, w = np.vstack([model.coef_.T, model.intercept_]), model.scores_.constants_
    assert problem.objective(W, w, 0.1, none, none) == pytest.approx(model.objective_, abs=1e-7)


def test_predictions_maximize_the_score():
    X, y = rows(1, [3, 2, 4, 3, 1])
    model = StructuredSVM(Sequences("ab"), alpha=0.01, random_state=0).fit(X, y)
    X_new, _ = rows(2, [4, 3, 1])
    decoded, best = model.decode(X_new), model.kbest(X_new, k=2)
    for i, x in enumerate(X_new):
        words = ["".join(z) for z in product("ab", repeat=len(x))]
        unary = x @ model.coef_.T + model.intercept_
        scores = [(unary * psi(z)[0]).sum() + psi(z)[1] @ model.scores_.constants_ for z in words]
        order = np.argsort(scores)[::-1]
        assert decoded.outputs[i] == words[order[0]]
        assert -decoded.values[i] == pytest.approx(scores[order[0]])
        assert -best.values[i, :2] == pytest.approx(np.sort(scores)[::-1][:2])
    assert model.transition_coef_.ravel() == pytest.approx(model.scores_.constants_)
    held = model.predict(X_new, restrict={"known": {0: "b"}})
    assert all(word[0] == "b" for word in held)


@pytest.mark.slow
def test_a_kernel_that_is_linear_is_the_linear_model():
    X, y = rows(3, [2, 3, 2, 3])
    fit = {"alpha": 0.05, "tol": 1e-5, "random_state": 0}
    plain = StructuredSVM(Sequences("ab"), **fit).fit(X, y)
    kernel = StructuredSVM(Sequences("ab"), kernel=lambda A, B: A @ B.T, **fit).fit(X, y)
    assert kernel.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    assert (kernel.predict(X) == plain.predict(X)).all()


def test_sequences_that_come_in_pieces():
    X, y = rows(7, [2, 3, 1, 3, 2])
    model = StructuredSVM(Sequences("ab"), alpha=0.05, tol=1e-4, random_state=0)
    for part in (slice(0, 2), slice(2, 5)):
        model.partial_fit(X[part], y[part])
    whole = StructuredSVM(Sequences("ab"), alpha=0.05, tol=1e-4, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(whole.objective_, rel=2e-4)


def test_tokens_by_name_in_sequences_longer_than_seen():
    tokens = [[{"word": "the"}, {"word": "cat"}], [{"word": "the"}, {"word": "dog"}]]
    model = StructuredSVM(Sequences(), alpha=0.01, random_state=0)
    model.fit(tokens, [["D", "N"], ["D", "N"]])
    assert list(model.predict([tokens[0] + tokens[1]])[0]) == ["D", "N", "D", "N"]


def test_lengths_that_do_not_match_are_named():
    X, y = rows(5, [2, 3])
    with pytest.raises(ValueError, match=r"X\[1\] has 3 positions and y\[1\] 2 symbols"):
        StructuredSVM(Sequences("ab"), alpha=0.01).fit(X, [y[0], y[1][:2]])
    model = StructuredSVM(Sequences("ab"), alpha=0.01, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="restrict no length"):
        model.predict(X, restrict={"length": 2})
    with pytest.raises(ValueError, match="one input per sequence"):
        StructuredSVM(Sequences("ab"), "zero_one", alpha=0.01).fit(X, y)
