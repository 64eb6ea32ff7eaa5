# SPDX-License-Identifier: BSD-3-Clause
"""F measures: compiled decoders against all sets, and labels that are taken for independent."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import F1, Effort, FBeta
from skstruct.spaces import Coordinates, Embeddings, Hierarchy, LabelSets
from skstruct.spaces.indicator_sets.decoding import min_cost_per_size
from skstruct.spaces.solvers.marginals import lowered


def all_sets(d):
    return np.array(list(product([0, 1], repeat=d)), dtype=np.int8)


def allowed(Z, low, high, smallest, largest):
    size = Z.sum(axis=1)
    return (low <= Z).all(1) & (high >= Z).all(1) & (size >= smallest) & (size <= largest)


limits = st.tuples(st.integers(0, 3), st.integers(2, 6))


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), limits, st.booleans())
@settings(max_examples=80)
def test_sets_of_every_size_against_enumeration(seed, d, sizes, by_size):
    rng = np.random.default_rng(seed)
    smallest, largest = min(sizes), max(sizes)
    costs = rng.integers(-4, 4, (6, d, d)).astype(float)
    empty = rng.integers(-4, 4, 6).astype(float)
    shape = (6, d, d if by_size else 1)
    low, high = rng.random(shape) < 0.1, rng.random(shape) < 0.9
    outputs, values = min_cost_per_size(costs, empty, low, high, smallest, largest)
    Z = all_sets(d)
    size = Z.sum(axis=1)
    column = np.maximum(size - 1, 0)
    for i in range(6):
        charged = np.where(size > 0, (Z.T * costs[i][:, column]).sum(0), empty[i])
        of_size = np.minimum(column, shape[2] - 1)
        good = ((low[i][:, of_size] <= Z.T) & (high[i][:, of_size] >= Z.T)).all(0)
        good &= (size >= smallest) & (size <= largest) & ~(low[i] & ~high[i]).any()
        best = np.where(good, charged, np.inf).min()
        assert values[i] == best
        if np.isfinite(best):
            mine = (outputs[i] == Z).all(1)
            assert good[mine].all()
            assert charged[mine] == best


def sets_and_their_chances(Z, chances, never_empty):
    """Probabilities of all sets, and of the labels in them: independent but for never being none.

    Labels are there with the given chances, (n, d), where the set is not empty.
    """
    of_set = np.where(Z, chances[:, None], 1 - chances[:, None]).prod(axis=2)
    if never_empty:
        of_set[:, ~Z.any(axis=1)] = 0.0
        of_set /= of_set.sum(axis=1, keepdims=True)
    return of_set, of_set @ Z


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 6), limits, st.sampled_from([0.5, 1.0, 2.0]),
    st.booleans(),
)  # fmt: skip
@settings(max_examples=80)
def test_independent_labels_against_enumeration(seed, d, sizes, beta, never_empty):
    rng = np.random.default_rng(seed)
    smallest, largest = min(sizes[0], d), max(sizes)
    chances = rng.choice([0.0, 0.1, 0.3, 0.5, 1.0], (5, d)) * rng.choice([1.0, 0.97], (5, d))
    chances[:, 0] = np.maximum(chances[:, 0], 0.05)
    low, high = rng.random(d) < 0.1, rng.random(d) < 0.9
    high |= low
    Z = all_sets(d)
    good = allowed(Z, low, high, smallest, largest)
    if not good.any():
        return
    names = [f"l{j}" for j in range(d)]
    space = (
        LabelSets(names)
        .fit(Z)
        .restrict(
            min_size=smallest,
            max_size=largest,
            include=[names[j] for j in np.flatnonzero(low)],
            exclude=[names[j] for j in np.flatnonzero(~high)],
        )
    )
    view = Embeddings.of(space).view("independent labels")
    of_sets, of_labels = sets_and_their_chances(Z, chances, never_empty)
    seen = Z[Z.any(axis=1)] if never_empty else Z
    loss = FBeta(beta, independent=True).observe(view, seen).bind(view)
    found = view.argmin(loss.cost(of_labels, np.ones((5, 1))))
    for probability, output, value in zip(of_sets, found.outputs, found.values):
        risk = np.array([probability @ loss(np.tile(z, (len(Z), 1)), Z) for z in Z])
        best = np.where(good, risk, np.inf).min()
        assert value + 1.0 == pytest.approx(best, abs=1e-10)
        assert risk[(output == Z).all(1)] == pytest.approx(best, abs=1e-10)
        assert good[(output == Z).all(1)].all()


def test_many_labels_truncate_what_cannot_be():
    """Sums over counts stop early; they are those of all counts."""
    rng = np.random.default_rng(0)
    d = 400
    chances = rng.beta(0.05, 2.0, (3, d))
    view = Embeddings.of(LabelSets([f"l{j}" for j in range(d)]).fit(np.zeros((1, d)))).view(
        "independent labels"
    )
    found = view.argmin(F1(independent=True).bind(view).cost(chances, np.ones((3, 1))))
    for p, value in zip(chances, found.values):
        p = np.sort(p)[::-1]
        best = np.prod(1 - p)
        for k in range(1, 60):
            true, rest = counts(p[:k]), counts(p[k:])
            a, b = np.arange(len(true))[:, None], np.arange(len(rest))
            best = max(best, (true[:, None] * rest * 2 * a / (a + b + k)).sum())
        assert -value == pytest.approx(best, rel=1e-10)


def counts(p):
    """The distribution of a sum of independent 0/1 numbers."""
    found = np.ones(1)
    for each in p:
        found = np.convolve(found, [1 - each, each])
    return found


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.5, 1.0]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_where_the_most_probable_labels_are_no_output(seed, tree, beta, never_empty):
    """Exclusive groups, which may differ in size, and single paths; truths are independent."""
    rng = np.random.default_rng(seed)
    Z = all_sets(5)
    if tree:
        space = Hierarchy([("a", "b"), ("a", "c"), ("b", "d"), ("b", "e")], labels=list("abcde"))
        space = space.fit(np.zeros((1, 5))).restrict(one_path=True)
    else:
        names = rng.permutation(list("abcde"))
        space = LabelSets(list("abcde")).fit(np.zeros((1, 5)))
        space = space.restrict(exclusive=[names[:3], names[3:]], exclude=[names[0]])
    view = Embeddings.of(space).view("independent labels")
    chances = lowered(rng.choice([0.05, 0.1, 0.3, 0.5, 0.97, 1.0], (4, 5)), space.dag_)
    of_sets, of_labels = sets_and_their_chances(Z, chances, never_empty)
    seen = Z[Z.any(axis=1)] if never_empty else Z
    loss = FBeta(beta, independent=True).observe(view, seen).bind(view)
    found = view.argmin(loss.cost(of_labels, np.ones((4, 1))))
    assert space.contains(found.outputs).all()
    good = space.contains(Z)
    for probability, output, value in zip(of_sets, found.outputs, found.values):
        risk = np.array([probability @ loss(np.tile(z, (len(Z), 1)), Z) for z in Z])
        assert value + 1.0 == pytest.approx(risk[good].min(), abs=1e-10)
        assert risk[(output == Z).all(1)] == pytest.approx(risk[good].min(), abs=1e-10)


def test_which_labels_are_taken_for_independent():
    wide = LabelSets([f"l{j}" for j in range(301)]).fit(np.zeros((1, 301)))
    few = LabelSets(["a", "b"]).fit(np.zeros((1, 2)))
    assert F1().embedding_on(wide) == "independent labels"
    assert F1().embedding_on(few) == F1(independent=False).embedding_on(wide) == "sized indicators"
    assert F1(independent=True).embedding_on(few) == "independent labels"
    tree = Hierarchy([("root", f"l{j}") for j in range(301)]).fit(np.zeros((1, 302)))
    assert F1().embedding_on(tree) == "sized indicators"
    assert Effort.of(F1()).stand_in(tree).independent is True
    with pytest.raises(ValueError, match="independent is True, False"):
        F1(independent="yes").embedding_on(few)
    grouped = few.restrict(exclusive=[["a", "b"]])
    assert Effort.of(F1()).stand_in(grouped).independent == "auto"


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=40)
def test_sets_of_hierarchies_are_closed_and_best_of_the_most_probable(seed, limited):
    rng = np.random.default_rng(seed)
    d = 7
    arcs = [(f"l{rng.integers(j)}", f"l{j}") for j in range(1, d)]
    arcs += [("l0", "l6")] if ("l0", "l6") not in arcs else []
    space = Hierarchy(arcs, labels=[f"l{j}" for j in rng.permutation(d)])
    space = space.fit(np.zeros((1, d)))
    if limited:
        space = space.restrict(include=["l2"], max_size=5)
    view = Embeddings.of(space).view("independent labels")
    loss = F1(independent=True).bind(view)
    chances = rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], (4, d))
    found = view.argmin(loss.cost(chances, np.ones((4, 1))))
    assert space.contains(found.outputs).all()
    Z = all_sets(d)
    Z = Z[space.contains(Z)]
    for p, output, value in zip(lowered(chances.copy(), view.dag_), found.outputs, found.values):
        truths = all_sets(d)
        probability = np.where(truths, p, 1 - p).prod(axis=1)
        risk = np.array([probability @ loss(np.tile(z, (len(truths), 1)), truths) for z in Z])
        assert risk[(output == Z).all(1)] == pytest.approx(risk.min(), abs=1e-12)
        assert value + 1.0 == pytest.approx(risk.min(), abs=1e-12)


@pytest.mark.slow
def test_a_wide_model_learns():
    """Labels that follow from the inputs; what is decided by chances is far above a constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 10))
    scores = X @ rng.normal(size=(10, 320)) - 3.5
    Y = (scores + rng.normal(size=scores.shape) > 0).astype(int)
    model = ConditionalRiskMinimizer(LabelSets(), "f1", smoother="kernel_ridge")
    model.fit(X[:160], Y[:160])
    alike = F1()(np.tile(Y[:160].mean(0) > 0.2, (80, 1)).astype(int), Y[160:]).mean()
    assert F1()(model.predict(X[160:]), Y[160:]).mean() < 0.8 * alike
    exact = model.predict(X[160:], loss=F1(independent=False))
    assert F1()(exact, Y[160:]).mean() < alike


def test_penalties_of_many_labels_are_compared_by_chances():
    space = LabelSets([f"l{j}" for j in range(60)]).fit(np.zeros((1, 60)))
    view = Embeddings.of(space).view("sized indicators")
    stand_in = Effort.of(FBeta(2.0).bind(view)).stand_in(view)
    assert stand_in.independent is True
    assert stand_in.beta == pytest.approx(2.0)
    Y = np.random.default_rng(0).integers(0, 2, (4, 60))
    assert np.array_equal(Coordinates.of(view).project(view.embed(Y), "independent labels"), Y)
    assert Effort.of(F1(independent=False).bind(view)).stand_in(view).independent is False
