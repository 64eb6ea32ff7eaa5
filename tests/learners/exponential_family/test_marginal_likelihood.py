# SPDX-License-Identifier: BSD-3-Clause
"""The likelihood of outputs of which parts are missing, against sums over lists of outputs."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from skstruct import ExponentialFamily
from skstruct._arrays.rows import dense
from skstruct.exceptions import InfeasibleError
from skstruct.learners import Checkpoint
from skstruct.learners.exponential_family.marginal_likelihood import (
    PartialChainModel,
    PartialRowModel,
    soft_targets,
)
from skstruct.learners.exponential_family.optimization import lbfgs
from skstruct.learners.exponential_family.path import TrainingRows, TrainingSequences
from skstruct.spaces import (
    BinaryPolytope,
    Classes,
    Cliques,
    Hierarchy,
    Known,
    LabelSets,
    PairwiseLabels,
    Sequences,
    SpanningTrees,
)

TREE = [("r", "a"), ("r", "b"), ("a", "c")]
SETS = [
    LabelSets(["a", "b", "c", "r"]),
    LabelSets(["a", "b", "c", "r"], min_size=1, max_size=3),
    Hierarchy(TREE),
    Hierarchy([*TREE, ("b", "c")]),  # no forest
    Hierarchy(TREE).restrict(exclusive=[["a", "b"]]),
    Hierarchy(TREE).restrict(one_path=True),
    PairwiseLabels([("a", "b"), ("b", "c")], ["a", "b", "c", "r"]),
    Cliques([("a", "b"), ("b", "c"), ("a", "c"), ("c", "r")]),
    BinaryPolytope(A_eq=[[1, 1, 0, 0]], b_eq=[1], labels=["a", "b", "c", "r"]),
]


def half_known_sets(space, n, rng):
    """Tables with gaps of sets that are in the space, and which of all sets agree with each."""
    listed = np.array([z for z in product([0, 1], repeat=4) if space.contains(np.array([z]))[0]])
    Z = listed[rng.integers(len(listed), size=n)]
    seen = rng.random(Z.shape) < rng.random((n, 1))
    agree = ((listed[None] == Z[:, None]) | ~seen[:, None]).all(axis=2)
    return np.where(seen, Z, np.nan), listed, agree


def candidate_names(n, rng):
    allowed = rng.random((n, 3)) < 0.5
    allowed[~allowed.any(axis=1)] = True
    allowed[0] = True, False, False
    sets = [{"abc"[j] for j in np.flatnonzero(row)} for row in allowed]
    return [None if row.all() else names for row, names in zip(allowed, sets)], allowed


def half_known_sequences(n, rng, T=3, q=2):
    Z = rng.integers(q, size=(n, T))
    seen = rng.random((n, T)) < rng.random((n, 1))
    seen[0] = True
    listed = np.array(list(product(range(q), repeat=T)))
    agree = ((listed[None] == Z[:, None]) | ~seen[:, None]).all(axis=2)
    return (
        [[int(s) if k else None for s, k in zip(z, row)] for z, row in zip(Z, seen)],
        listed,
        agree,
    )


def row_model(space, Y, X, alpha, weight):
    partial = Known.of(space).read(Y)
    allowed, is_open = Known.of(space).agreeing(partial), ~partial.complete
    psi = space.targets(partial.outputs)
    if is_open.any():
        psi = soft_targets(allowed, psi, is_open)
    return PartialRowModel(
        space, X, psi, weight, alpha, "1 GB", True, allowed=allowed, is_open=is_open
    )


def by_lists(X, psi, agree, weight, alpha, W):
    """Objective and gradient by the definition, from the list of all outputs."""
    values = X @ W @ psi.T
    given = np.where(agree, values, -np.inf)
    each = logsumexp(values, axis=1) - logsumexp(given, axis=1)
    free = np.exp(values - logsumexp(values, axis=1, keepdims=True))
    held = np.exp(given - logsumexp(given, axis=1, keepdims=True))
    penalised = W * np.r_[np.ones(len(W) - 1), 0.0][:, None]
    gradient = X.T @ (weight[:, None] * ((free - held) @ psi)) + 2 * alpha * penalised
    return weight @ each + alpha * (penalised**2).sum(), gradient.ravel()


def compare(space, Y, listed, agree, rng, size):
    n = len(agree)
    X = np.hstack([rng.normal(size=(n, 2)), np.ones((n, 1))])
    weight = rng.random(n)
    model = row_model(space, Y, X, 0.3, weight)
    psi = dense(space.embed(listed), np.float64)
    W = size * rng.normal(size=model.shape)
    value, gradient = model.value_and_gradient(W.ravel())
    wanted, slope = by_lists(X, psi, agree, weight, 0.3, W)
    assert_allclose(value, wanted, rtol=1e-9, atol=1e-10)
    assert_allclose(gradient, slope, rtol=1e-8, atol=1e-9)
    return model, W


@pytest.mark.slow
@given(st.sampled_from(SETS), st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 20.0]))
@settings(max_examples=60, deadline=None)
def test_sets_are_those_of_the_definition(space, seed, size):
    rng = np.random.default_rng(seed)
    Y, listed, agree = half_known_sets(space, 6, rng)
    compare(space, Y, listed, agree, rng, size)


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 20.0]))
@settings(max_examples=30, deadline=None)
def test_one_of_several_classes(seed, size):
    rng = np.random.default_rng(seed)
    Y, agree = candidate_names(6, rng)
    space = Classes(["a", "b", "c"])
    compare(space, Y, np.arange(3), agree, rng, size)


@pytest.mark.slow
@given(st.sampled_from(["positions", "bigrams"]), st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_sequences_with_one_row_of_features(embedding, seed):
    rng = np.random.default_rng(seed)
    Y, listed, agree = half_known_sequences(5, rng)
    compare(Sequences([0, 1], 3, embedding), Y, listed, agree, rng, 1.0)


def test_the_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    Y, listed, agree = half_known_sets(SETS[2], 8, rng)
    model, W = compare(SETS[2], Y, listed, agree, rng, 1.0)
    slope = approx_fprime(W.ravel(), lambda theta: model.value_and_gradient(theta)[0], 1e-6)
    assert_allclose(model.value_and_gradient(W.ravel())[1], slope, atol=1e-5)


# Chains with a row of features per position.


def half_known_chains(seed, n=4, q=3, p=2, longest=4):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, n)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    Y = [rng.integers(q, size=length).tolist() for length in lengths]
    Y[0][0] = 0
    gaps = [(rng.random(len(y)) < rng.random()).tolist() for y in Y]
    Y = [[None if gap else s for s, gap in zip(y, row)] for y, row in zip(Y, gaps)]
    Y[0][0] = 0
    return Y, rng.normal(size=(starts[-1], p)), starts, rng


def chain_model(space, Y, tokens, starts, weight, alpha):
    partial = Known.of(space).read(Y)
    return PartialChainModel(
        space, tokens, starts, partial.outputs, weight, alpha, True,
        allowed=partial.allowed, is_open=~partial.complete,
    )  # fmt: skip


def chains_by_lists(Y, tokens, starts, weight, alpha, theta, q, forbidden=()):
    p = tokens.shape[1] + 1
    X = np.hstack([tokens, np.ones((len(tokens), 1))])
    W, V = theta[: p * q].reshape(p, q), theta[p * q :].reshape(q, q)
    value = alpha * ((W[:-1] ** 2).sum() + (V**2).sum())
    for i, y in enumerate(Y):
        u, T = X[starts[i] : starts[i + 1]] @ W, len(y)
        logs = {False: [], True: []}
        for z in product(range(q), repeat=T):
            if any(pair in forbidden for pair in pairwise(z)):
                continue
            score = sum(u[t, z[t]] for t in range(T)) + sum(V[a, b] for a, b in pairwise(z))
            logs[False].append(score)
            if all(s is None or s == z[t] for t, s in enumerate(y)):
                logs[True].append(score)
        value += weight[i] * (logsumexp(logs[False]) - logsumexp(logs[True]))
    return value


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.3, 30.0]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_chains_are_those_of_the_definition(seed, size, walls):
    Y, tokens, starts, rng = half_known_chains(seed)
    space, forbidden = Sequences(range(3), (1, 4)), ()
    if walls:  # a step that no known pair takes
        taken = {pair for y in Y for pair in pairwise(y)}
        free = [(a, b) for a, b in product(range(3), repeat=2) if (a, b) not in taken and a != b]
        forbidden = tuple(free[:1])
        space = space.restrict(forbidden=list(forbidden)) if forbidden else space
    weight = rng.random(len(Y))
    try:
        model = chain_model(space, Y, tokens, starts, weight, 0.2)
        theta = size * rng.normal(size=model.size)
        value, gradient = model.value_and_gradient(theta)
    except InfeasibleError:  # a gap between two symbols that the wall keeps apart
        assert walls
        return
    settings = Y, tokens, starts, weight, 0.2
    assert_allclose(value, chains_by_lists(*settings, theta, 3, forbidden), rtol=1e-8, atol=1e-9)
    if size < 1:
        slope = approx_fprime(theta, lambda t: chains_by_lists(*settings, t, 3, forbidden), 1e-6)
        assert_allclose(gradient, slope, atol=2e-5)


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_the_beginning_is_convex_and_touches_from_above(seed):
    """At weights of zero both have one gradient, and it lies above by a constant elsewhere."""
    Y, tokens, starts, rng = half_known_chains(seed)
    model = chain_model(Sequences(range(3), (1, 4)), Y, tokens, starts, rng.random(len(Y)), 0.2)
    begun, zero = model.beginning(), np.zeros(model.size)
    (value, slope), (above, same) = model.value_and_gradient(zero), begun.value_and_gradient(zero)
    assert_allclose(slope, same, atol=1e-12)
    theta = rng.normal(size=model.size)
    lift, slope = begun.value_and_gradient(theta)
    assert lift - above >= model.value_and_gradient(theta)[0] - value - 1e-10
    wanted = approx_fprime(theta, lambda t: begun.value_and_gradient(t)[0], 1e-6)
    assert_allclose(slope, wanted, atol=2e-5)


# The learner.


def label_table(n, rng, gaps=0.4):
    X = rng.normal(size=(n, 3))
    Y = (X @ rng.normal(size=(3, 4)) + 0.5 * rng.normal(size=(n, 4)) > 0).astype(float)
    return X, Y, rng.random(Y.shape) >= gaps


def weights_of(model):
    return model.scores_.weights_, model.scores_.constants_


def same_weights(one, other):
    for mine, theirs in zip(weights_of(one), weights_of(other)):
        assert (mine is None and theirs is None) or np.array_equal(mine, theirs)


def test_free_labels_are_regressed_on_the_rows_that_know_them():
    X, Y, seen = label_table(80, np.random.default_rng(0))
    model = ExponentialFamily(LabelSets(), alpha=0.01, tol=1e-9).fit(X, np.where(seen, Y, np.nan))
    for j in range(4):
        rows = seen[:, j]
        alone = ExponentialFamily(LabelSets(["x"]), alpha=0.01 * 80 / rows.sum(), tol=1e-9)
        alone.fit(X[rows], Y[rows, j : j + 1].astype(int))
        assert_allclose(model.coef_[j], alone.coef_[0], atol=1e-6)
        assert_allclose(model.intercept_[j], alone.intercept_[0], atol=1e-6)


@pytest.mark.parametrize("alpha", [0.01, "auto"])
def test_what_stands_under_a_mask_changes_no_bit(alpha):
    rng = np.random.default_rng(1)
    X, Y, seen = label_table(40, rng)
    other = np.where(seen, Y, rng.integers(0, 2, Y.shape))
    one = ExponentialFamily(LabelSets(), alpha=alpha).fit(X, Y, known=seen)
    same_weights(one, ExponentialFamily(LabelSets(), alpha=alpha).fit(X, other, known=seen))
    same_weights(one, ExponentialFamily(alpha=alpha).fit(X, np.where(seen, Y, np.nan)))
    masked = np.ma.masked_array(other, ~seen)
    same_weights(one, ExponentialFamily(LabelSets(), alpha=alpha).fit(X, masked))
    frame = pd.DataFrame(np.where(seen, Y, np.nan), columns=list("abcd"))
    same_weights(one, ExponentialFamily(LabelSets(), alpha=alpha).fit(X, frame))
    assert one.alpha_ > 0


def test_symbols_under_a_mask_change_no_bit():
    words, tags, seen = tagged(30, np.random.default_rng(2))
    other = [[t if k else "abc"[i % 3] for i, (t, k) in enumerate(zip(ts, row))]
             for ts, row in zip(tags, seen)]  # fmt: skip
    one = ExponentialFamily(Sequences("abc"), alpha=0.01).fit(words, tags, known=seen)
    same_weights(one, ExponentialFamily(Sequences("abc"), alpha=0.01).fit(words, other, known=seen))


@pytest.mark.parametrize("alpha", [0.01, "auto"])
def test_with_nothing_missing_all_is_as_it_was(alpha):
    X, Y, _ = label_table(40, np.random.default_rng(3))
    whole = ExponentialFamily(LabelSets(), alpha=alpha).fit(X, Y.astype(int))
    told = ExponentialFamily(LabelSets(), alpha=alpha)
    same_weights(whole, told.fit(X, Y.astype(int), known=np.ones(Y.shape, bool)))
    words, tags, _ = tagged(10, np.random.default_rng(3))
    known = [[True] * len(row) for row in tags]
    chain = ExponentialFamily(Sequences(), alpha=0.01)
    one = weights_of(chain.fit(words, tags))
    assert all(map(np.array_equal, one, weights_of(chain.fit(words, tags, known=known))))


def test_the_trace_falls_from_where_soft_outputs_have_led():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    truth = X.argmax(axis=1)
    sets = [{"abc"[t], "abc"[(t + rng.integers(1, 3)) % 3]} for t in truth]  # all ambiguous
    model = ExponentialFamily(Classes(), alpha=1e-3).fit(X, sets)
    assert (np.diff(model.trace_) <= 0).all()
    assert model.converged_
    assert model.trace_[-1] == model.objective_ < model.trace_[0] < np.log(3 / 2)
    assert (model.predict(X) == np.array(list("abc"))[truth]).mean() > 0.8
    chosen = ExponentialFamily(Classes()).fit(X, sets)  # rows that say the same are told apart
    assert len(chosen.search_.trials) > 2


def test_left_out_rows_are_judged_by_what_is_known_of_them():
    rng = np.random.default_rng(5)
    space = Hierarchy(TREE)
    Y, listed, agree = half_known_sets(space, 12, rng)
    X = rng.normal(size=(12, 2))
    learner = ExponentialFamily(space, loss="hamming", alpha=[0.1, 1.0], fit_intercept=False)
    seen = {}

    class Judged(TrainingRows):
        def log_likelihoods(self, scores, rows):
            found = super().log_likelihoods(scores, rows)
            values = scores @ dense(space.embed(listed)).T
            given = np.where(agree[rows], values, -np.inf)
            assert_allclose(found, logsumexp(given, axis=1) - logsumexp(values, axis=1), atol=1e-9)
            seen["rows"] = seen.get("rows", 0) + len(rows)
            return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skstruct.learners.exponential_family.learner.TrainingRows", Judged)
        learner.fit(X, Y)
    assert seen["rows"] == 24  # every row once, with both penalties


def test_left_out_chains_are_judged_by_what_is_known_of_them():
    Y, tokens, starts, _ = half_known_chains(7, n=12)
    words, checked = np.split(tokens, starts[1:-1]), []

    class Judged(TrainingSequences):
        def log_likelihoods(self, scores, rows):
            found = super().log_likelihoods(scores, rows)
            for at, i in enumerate(rows):
                part = slice(scores.starts[at], scores.starts[at + 1])
                u, V = scores.values[part], scores.transitions[0]
                theta = np.concatenate([np.eye(3).ravel(), np.zeros(3), V.ravel()])
                value = chains_by_lists([Y[i]], u, [0, len(u)], [1.0], 0.0, theta, 3)
                assert_allclose(-found[at], value, atol=1e-9)
            checked.extend(rows)
            return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skstruct.learners.exponential_family.learner.TrainingSequences", Judged)
        ExponentialFamily(Sequences(range(3), (1, 4)), alpha=[0.1, 1.0]).fit(words, Y)
    assert len(checked) == 24


def tagged(n, rng, longest=5, noise=1.0):
    """Words of hidden Markov chains with tags that mostly stay, and which half of them is known."""
    words, tags, seen = [], [], []
    for _ in range(n):
        T = int(rng.integers(2, longest))
        state = [int(rng.integers(3))]
        while len(state) < T:
            state.append(state[-1] if rng.random() < 0.8 else int(rng.integers(3)))
        words.append(np.eye(3)[state] + noise * rng.normal(size=(T, 3)))
        tags.append(["abc"[s] for s in state])
        seen.append((rng.random(T) < 0.5).tolist())
    return words, tags, seen


@pytest.mark.slow
def test_half_of_the_symbols_are_worth_more_than_the_rows_that_have_them_all():
    """0.26 of the symbols are wrong, against 0.33 after the eight rows that are whole."""
    rng = np.random.default_rng(6)
    words, tags, seen = tagged(60, rng)
    gaps = [[t if k else None for t, k in zip(*row)] for row in zip(tags, seen)]
    test_words, test_tags, _ = tagged(400, rng)
    whole = [i for i, row in enumerate(seen) if all(row)]
    n_symbols = sum(map(len, test_tags))

    def error(X, y):
        model = ExponentialFamily(Sequences("abc"), alpha=0.01).fit(X, y)
        return -model.score(test_words, test_tags) * len(test_tags) / n_symbols

    marginal = error(words, gaps)
    dropped = error([words[i] for i in whole], [tags[i] for i in whole])
    assert len(whole) == 8
    assert marginal < 0.27
    assert dropped > 0.31


def test_blocks_of_sequences_with_gaps_are_as_in_memory():
    words, tags, seen = tagged(40, np.random.default_rng(8))
    gaps = [[t if k else None for t, k in zip(*row)] for row in zip(tags, seen)]

    def blocks():
        for start in range(0, 40, 16):
            yield words[start : start + 16], gaps[start : start + 16]

    streamed = ExponentialFamily(Sequences("abc"), alpha=0.05, tol=1e-7).fit(blocks)
    whole = ExponentialFamily(Sequences("abc"), alpha=0.05, tol=1e-7).fit(words, gaps)
    assert_allclose(streamed.coef_, whole.coef_, atol=1e-4)
    assert_allclose(streamed.objective_, whole.objective_, rtol=1e-6)
    with pytest.raises(ValueError, match="known goes with outputs in memory"):
        ExponentialFamily(Sequences("abc")).fit(blocks, known=seen)


def test_open_parts_of_a_hierarchy_are_summed_over():
    X = np.random.default_rng(9).normal(size=(4, 2))
    open_below = ExponentialFamily(Hierarchy(TREE, open_below=True), alpha=0.1)
    said = [{"include": ["r"]}, {"r", "a", "c"}, {"r", "b"}, {"include": ["r", "a"]}]
    plain = ExponentialFamily(Hierarchy(TREE), alpha=0.1).fit(X, said)
    assert plain.solver_ == "exact"
    assert (np.diff(plain.trace_) <= 0).all()
    assert open_below.fit(X, [{"r"}, {"r", "a", "c"}, set(), {"r", "a"}]).converged_


def test_what_cannot_be_summed_is_refused():
    X, Y, seen = label_table(8, np.random.default_rng(10))
    Y = np.where(seen, Y, np.nan)
    with pytest.raises(ValueError, match="solver is 'auto' or 'exact'"):
        ExponentialFamily(LabelSets(), solver="contrastive").fit(X, Y)
    trees, edges = SpanningTrees(["a", "b", "c"]), np.array([[1, 0, 1], [1, 1, 0]] * 4)
    with pytest.raises(ValueError, match="leave out the rows that have missing parts"):
        ExponentialFamily(trees).fit(X, edges, known=edges > 0)
    wide = PairwiseLabels("full", range(30))
    many = np.zeros((8, 30))
    many[:, 0] = np.nan
    with pytest.raises(ValueError, match="no exact sums over the outputs that agree"):
        ExponentialFamily(wide).fit(X, many)


def test_rows_that_nothing_agrees_with_are_named():
    X = np.random.default_rng(12).normal(size=(3, 2))
    some = LabelSets(["a", "b", "c"]).restrict(max_size=1)
    with pytest.raises(InfeasibleError, match=r"y\[2\]: no output of LabelSets within its"):
        ExponentialFamily(some).fit(X, [[1, 0, 0], [0, np.nan, 0], [1, 1, np.nan]])
    chains = Sequences("ab", 2).restrict(forbidden=[("a", "a"), ("a", "b")])
    words = [np.zeros((2, 1))] * 3
    with pytest.raises(InfeasibleError, match=r"y\[1\]: no output of Sequences within its"):
        ExponentialFamily(chains).fit(words, [["b", None], ["a", None], ["b", "a"]])


def test_training_with_gaps_goes_on_after_it_was_stopped(tmp_path):
    words, tags, seen = tagged(12, np.random.default_rng(13))
    gaps = [[t if k else None for t, k in zip(*row)] for row in zip(tags, seen)]
    X = np.array([x[0] for x in words])
    sets = [{row[0], "a"} for row in tags]
    for space, inputs, y in ((Sequences("abc"), words, gaps), (Classes(["a", "b", "c"]), X, sets)):
        plain = ExponentialFamily(space, alpha=0.1).fit(inputs, y)
        path = Checkpoint(tmp_path / "fit", every=0)
        short = ExponentialFamily(space, alpha=0.1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("skstruct.learners.exponential_family.learner.lbfgs", stopped_late())
            with pytest.raises(KeyboardInterrupt):
                short.fit(inputs, y, checkpoint=path)
        assert (tmp_path / "fit").exists()
        same_weights(plain, again := short.fit(inputs, y, checkpoint=path))
        assert_array_equal(plain.trace_, again.trace_)


def stopped_late():
    """L-BFGS, stopped after three steps of the training that begins from soft outputs."""
    calls = []

    def descend(model, theta, **settings):
        calls.append(1)
        if len(calls) < 2:
            return lbfgs(model, theta, **settings)
        lbfgs(model, theta, **{**settings, "max_iter": 3, "warn": False})
        raise KeyboardInterrupt

    return descend


def test_a_fit_that_was_told_of_gaps_forgets_them():
    X, Y, seen = label_table(30, np.random.default_rng(11))
    model = ExponentialFamily(LabelSets(), alpha=0.1).fit(X, Y, known=seen)
    assert "_partial" not in vars(model)
    fresh = ExponentialFamily(LabelSets(), alpha=0.1).fit(X, Y.astype(int))
    same_weights(model.fit(X, Y.astype(int)), fresh)
    assert_array_equal(model.predict(X), fresh.predict(X))
