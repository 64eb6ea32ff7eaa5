# SPDX-License-Identifier: BSD-3-Clause
"""Margins with completed outputs, against the objective over lists of outputs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct import MaxMarginNetwork, MaxMarginTree, StructuredPerceptron, StructuredSVM
from skstruct.exceptions import InfeasibleError
from skstruct.learners.max_margin.latent import ridge_means
from skstruct.learners.max_margin.scores import KernelRows, LinearRows
from skstruct.spaces import Classes, Hierarchy, LabelSets, Sequences

TREE = [("r", "a"), ("r", "b"), ("a", "c")]


def known_parts(n, d, rng):
    """Which cells are known; some rows know all, some nothing."""
    seen = rng.random((n, d)) < rng.choice([0.0, 0.4, 0.7, 1.0], size=(n, 1))
    seen[0] = True
    return seen


def objective(model, scores, psi, losses, agree):
    """J by its definition: scores (n, d), psi (m, d), losses and agreement (n, m)."""
    values = scores @ psi.T
    hinge = (losses + values).max(axis=1) - np.where(agree, values, -np.inf).max(axis=1)
    square = (model.scores_.weights_**2).sum() + (model.scores_.constants_**2).sum()
    return 0.5 * model.alpha_ * square + hinge.mean()


def check_ended(model, scores, psi, losses, agree, chosen):
    """The trace falls to the objective; completions are of the largest score in what is allowed."""
    assert (np.diff(model.trace_) <= 1e-12).all()
    assert_allclose(model.trace_[-1], model.objective_, atol=0)
    wanted = objective(model, scores, psi, losses, agree)
    assert_allclose(model.objective_, wanted, rtol=1e-7, atol=1e-9)
    values = scores @ psi.T
    best = np.where(agree, values, -np.inf).max(axis=1)
    own = values[np.arange(len(values)), chosen]
    assert agree[np.arange(len(agree)), chosen].all()
    assert_allclose(own, best, atol=1e-9 * max(1.0, np.abs(best).max()))


def places(listed, outputs):
    return [int(np.flatnonzero((listed == z).all(axis=1))[0]) for z in outputs]


@pytest.mark.slow
@given(st.booleans(), st.integers(0, 10**6), st.sampled_from([0.01, 0.3]))
@settings(max_examples=25, deadline=None)
def test_sets_with_gaps(tree, seed, alpha):
    rng = np.random.default_rng(seed)
    space = Hierarchy(TREE) if tree else LabelSets(["r", "a", "b", "c"])
    listed = space.enumerate()
    X, Z = rng.normal(size=(12, 2)), listed[rng.integers(len(listed), size=12)]
    seen = known_parts(12, 4, rng)
    model = StructuredSVM(space, "hamming", alpha=alpha, random_state=0).fit(X, Z, known=seen)
    agree = ((listed[None] == Z[:, None]) | ~seen[:, None]).all(axis=2)
    pairs = (listed[None] != listed[:, None]).sum(axis=2)
    losses = (agree @ pairs) / agree.sum(axis=1, keepdims=True)  # expected over all that agree
    losses -= np.where(agree, losses, np.inf).min(axis=1, keepdims=True)
    if not tree:  # then only known labels count
        assert_allclose(losses, ((listed[None] != Z[:, None]) & seen[:, None]).sum(axis=2))
    scores = model.decision_function(X)
    check_ended(model, scores, listed.astype(float), losses, agree, places(listed, model.outputs_))


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["linear", "rbf"]))
@settings(max_examples=15, deadline=None)
def test_one_of_several_classes(seed, kernel):
    rng = np.random.default_rng(seed)
    agree = rng.random((12, 3)) < 0.5
    agree[~agree.any(axis=1)] = True
    agree[0] = True, False, False
    Y = [{"abc"[j] for j in np.flatnonzero(row)} for row in agree]
    X = rng.normal(size=(12, 2))
    settings = {"alpha": 0.05, "kernel": kernel, "fit_intercept": False, "random_state": 0}
    model = StructuredSVM(Classes(["a", "b", "c"]), **settings).fit(X, Y)
    losses = np.where(agree, 0.0, 1.0 / agree.sum(axis=1, keepdims=True))
    scores = model.problem_.smooth(model.scores_, X)
    if kernel == "rbf":  # the norm of weights is by the kernel
        A = model.scores_.weights_
        square = float((A * scores).sum())
        hinge = (losses + scores).max(axis=1) - np.where(agree, scores, -np.inf).max(axis=1)
        assert_allclose(model.objective_, 0.025 * square + hinge.mean(), rtol=1e-7)
        assert (np.diff(model.trace_) <= 1e-12).all()
        return
    check_ended(model, scores, np.eye(3), losses, agree, model.outputs_)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5]))
@settings(max_examples=15, deadline=None)
def test_chains_with_gaps(seed, bigrams):
    from skstruct.losses import SequenceHamming

    rng = np.random.default_rng(seed)
    q, T, n = 2, 3, 10
    words = rng.normal(size=(n, T, 2))
    Z, seen = rng.integers(q, size=(n, T)), known_parts(n, T, rng)
    Z[0] = 0, 1, 0
    loss = SequenceHamming(bigrams=bigrams)
    model = StructuredSVM(Sequences(range(q), T), loss, alpha=0.05, random_state=0)
    model.fit(list(words), Z.tolist(), known=seen.tolist())
    listed = np.array(list(product(range(q), repeat=T)))
    agree = ((listed[None] == Z[:, None]) | ~seen[:, None]).all(axis=2)
    wrong = listed[None] != Z[:, None]
    losses = (wrong & seen[:, None]).sum(axis=2).astype(float)
    both = seen[:, None, 1:] & seen[:, None, :-1]
    losses += bigrams * ((wrong[:, :, 1:] | wrong[:, :, :-1]) & both).sum(axis=2)
    found = model.decision_function(list(words))
    steps = np.zeros((len(listed), q * q))
    for t in range(T - 1):
        np.add.at(steps, (np.arange(len(listed)), listed[:, t] * q + listed[:, t + 1]), 1.0)
    psi = np.hstack([np.eye(q)[listed].reshape(len(listed), -1), steps])
    constants = np.tile(model.scores_.constants_, (n, 1))
    scores = np.hstack([found.values.reshape(n, -1), constants])
    check_ended(model, scores, psi, losses, agree, places(listed, model.outputs_))


def labels(n, rng):
    X = rng.normal(size=(n, 3))
    Y = (X @ rng.normal(size=(3, 4)) > 0).astype(int)
    return X, Y, rng.random(Y.shape) < 0.6


def same(one, other):
    assert np.array_equal(one.scores_.weights_, other.scores_.weights_)
    assert np.array_equal(one.scores_.constants_, other.scores_.constants_)


def test_what_stands_under_a_mask_changes_no_bit():
    rng = np.random.default_rng(0)
    X, Y, seen = labels(30, rng)
    other = np.where(seen, Y, rng.integers(0, 2, Y.shape))
    svm = {"loss": "hamming", "alpha": [0.1, 0.01], "random_state": 0}
    one = StructuredSVM(LabelSets(), **svm).fit(X, Y, known=seen)
    same(one, StructuredSVM(LabelSets(), **svm).fit(X, other, known=seen))
    same(one, StructuredSVM(LabelSets(), **svm).fit(X, np.where(seen, Y, np.nan)))
    assert one.alpha_ in (0.1, 0.01)
    assert "_partial" not in vars(one)


def test_with_nothing_missing_all_is_as_it_was():
    X, Y, _ = labels(30, np.random.default_rng(1))
    whole = StructuredSVM(LabelSets(), alpha=0.01, random_state=0).fit(X, Y)
    told = StructuredSVM(LabelSets(), alpha=0.01, random_state=0)
    same(whole, told.fit(X, Y, known=np.ones(Y.shape, bool)))
    assert not hasattr(told, "trace_")


def test_gaps_cost_little():
    """Labels wrong of a row of four: 0.16 with gaps, 0.13 without, 0.31 by whole rows alone."""
    rng = np.random.default_rng(2)
    X, Y, seen = labels(300, rng)
    svm = {"loss": "hamming", "alpha": 0.01, "random_state": 0}
    gaps = StructuredSVM(LabelSets(), **svm).fit(X[:100], Y[:100], known=seen[:100])
    whole = StructuredSVM(LabelSets(), **svm).fit(X[:100], Y[:100])
    kept = seen[:100].all(axis=1)
    dropped = StructuredSVM(LabelSets(), **svm).fit(X[:100][kept], Y[:100][kept])
    error = {name: -model.score(X[100:], Y[100:]) for name, model in
             {"gaps": gaps, "whole": whole, "dropped": dropped}.items()}  # fmt: skip
    assert error["gaps"] < error["whole"] + 0.05
    assert error["gaps"] < error["dropped"] - 0.1


def test_sequences_in_the_format_of_the_user_come_back_whole(tmp_path):
    rng = np.random.default_rng(5)
    words = [rng.normal(size=(t, 2)) for t in (2, 4, 3, 1, 4, 2)]
    tags = [["AB"[int(v > 0)] for v in x[:, 0]] for x in words]
    gaps = [[None if t % 2 else tag for t, tag in enumerate(row)] for row in tags]
    svm = StructuredSVM(Sequences("AB"), alpha=0.05, random_state=0)
    completed = svm.fit(words, gaps).space_.restore(svm.outputs_)
    assert [len(row) for row in completed] == [2, 4, 3, 1, 4, 2]
    for row, said in zip(completed, gaps):
        assert all(tag in (None, found) for tag, found in zip(said, row))
    saved = StructuredSVM(Sequences("AB"), alpha=0.05, random_state=0)
    same(svm, saved.fit(words, gaps, checkpoint=tmp_path / "svm"))


def test_rows_that_nothing_agrees_with_are_named():
    X = np.random.default_rng(6).normal(size=(3, 2))
    some = LabelSets(["a", "b", "c"]).restrict(max_size=1)
    with pytest.raises(InfeasibleError, match=r"y\[2\]: no output of LabelSets within its"):
        StructuredSVM(some, alpha=0.1).fit(X, [[1, 0, 0], [0, np.nan, 0], [1, 1, np.nan]])


def test_first_means_are_those_of_ridge_regression():
    rng = np.random.default_rng(3)
    X, T, share = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), np.full(20, 0.05)
    penalty = 0.01 * (X**2).sum(axis=1).mean()
    W = np.linalg.solve(X.T @ X / 20 + penalty * np.eye(3), X.T @ T / 20)
    starts = np.arange(21)
    assert_allclose(ridge_means(LinearRows(X, starts), T, share), X @ W, atol=1e-8)
    by_kernel = ridge_means(KernelRows(X @ X.T, starts), T, share)
    assert_allclose(by_kernel, X @ W, atol=1e-6)


def test_what_cannot_be_completed_is_refused():
    X, Y, seen = labels(12, np.random.default_rng(4))
    Y = np.where(seen, Y, np.nan)
    for learner in (MaxMarginNetwork(), MaxMarginTree()):
        with pytest.raises(ValueError, match="known as a whole; parts of y"):
            learner.fit(X, Y)
    with pytest.raises(ValueError, match="known as a whole; parts of y"):
        StructuredPerceptron(LabelSets()).fit(X, Y)
    with pytest.raises(ValueError, match="a loss of outputs as a whole"):
        StructuredSVM(LabelSets(), "zero_one").fit(X, Y)
    with pytest.raises(ValueError, match="completed with rescaling='margin'"):
        StructuredSVM(LabelSets(), rescaling="slack").fit(X, Y)
    with pytest.raises(ValueError, match="partial_fit takes outputs that are known as a whole"):
        StructuredSVM(LabelSets()).partial_fit(X, Y)
    with pytest.raises(ValueError, match="in memory: give arrays"):
        StructuredSVM(LabelSets(), alpha=0.1).fit(lambda: iter([(X, Y)]))
    with pytest.raises(ValueError, match="known goes with outputs in memory"):
        StructuredSVM(LabelSets(), alpha=0.1).fit(lambda: iter([(X, Y)]), known=seen)


def test_no_further_rows_after_completed_ones():
    X, Y = np.arange(8.0).reshape(4, 2), np.array([[1, 0], [np.nan, 1], [1, 1], [0, 0]])
    model = StructuredSVM(LabelSets(), alpha=1.0).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(
        ValueError, match=r"parts of the outputs of fit are missing.*all rows to fit"
    ):
        model.partial_fit(X[:1], [[0, 1]])
    assert_allclose(model.decision_function(X), before, atol=0)  # as it was
    model.fit(X[[0, 2, 3]], Y[[0, 2, 3]])
    assert len(model.partial_fit(X[:1], [[0, 1]]).outputs_) == 4
