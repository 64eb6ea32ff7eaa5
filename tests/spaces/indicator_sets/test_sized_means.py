# SPDX-License-Identifier: BSD-3-Clause
"""F measures decided from means by branch and bound over sizes: against all sets, and all costs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct._arrays.checks import snap
from skstruct.exceptions import InfeasibleError
from skstruct.learners.problem import RiskProblem
from skstruct.losses import F1, FBeta, Form, pair
from skstruct.spaces import Embeddings, Hierarchy, LabelSets, Solving

seeds = st.integers(0, 2**32 - 1)
betas = st.sampled_from([0.5, 1.0, 2.0])


def space_of(rng, d, by_forest, limited):
    """Label sets or a forest, perhaps narrowed; None where no output is left."""
    names = [f"l{j}" for j in range(d)]
    space = LabelSets(names)
    if by_forest:
        arcs = [(names[rng.integers(j)], names[j]) for j in range(1, d) if rng.random() < 0.8]
        space = Hierarchy(arcs, labels=names)
    space = space.fit(np.zeros((1, d)))
    if not limited:
        return space
    least = int(rng.integers(0, 3))
    given = {"min_size": least, "max_size": max(least, int(rng.integers(1, d + 1)))}
    given |= {"include": [names[rng.integers(d)]] if rng.random() < 0.5 else []}
    given |= {"exclude": [names[rng.integers(d)]] if rng.random() < 0.5 else []}
    return space.restrict(**given)


def means_of(rng, space, d, n, signed):
    """Sums of some true sets with weights that may be negative, as a smoother gives them."""
    Z = (rng.random((12, d)) < rng.choice([0.1, 0.3, 0.6])).astype(np.int8)
    Z = (Z @ space.dag_.ancestors > 0).astype(np.int8)
    Z = Z[: rng.integers(1, 13)]
    weights = rng.integers(-3 if signed else 0, 6, (n, len(Z))) / 8.0
    return Z, weights


@given(seeds, st.integers(1, 7), st.booleans(), st.booleans(), st.booleans(), betas)
@settings(max_examples=120)
def test_decisions_against_enumeration(seed, d, by_forest, limited, signed, beta):
    rng = np.random.default_rng(seed)
    space = space_of(rng, d, by_forest, limited)
    truths, weights = means_of(rng, space, d, 6, signed)
    view, loss = pair(FBeta(beta, independent=False), space, truths)
    assert Solving.of(view).decides_from_means
    problem = RiskProblem(view, loss, truths)
    Z = np.array(list(product([0, 1], repeat=d)), dtype=np.int8)
    Z = Z[space.contains(Z)]
    means = weights @ problem.targets()
    if not len(Z):
        with pytest.raises(InfeasibleError):
            problem.decode(means)
        return
    risks = weights @ loss.pairwise(Z, truths).T
    found = problem.decode(means)
    assert space.contains(found.outputs).all()
    assert found.values == pytest.approx(risks.min(axis=1), abs=1e-6)
    assert np.array_equal(found.values, found.bounds)
    for risk, output in zip(risks, found.outputs):
        assert risk[(output == Z).all(1)] == pytest.approx(risk.min(), abs=1e-6)


def by_costs(view, loss, means, columns, d):
    """The way by all d * d + 1 costs."""
    full = np.zeros((len(means), d * d + 1))
    full[:, columns] = means
    costs = np.ascontiguousarray(loss.cost(full, np.ones((len(means), 1))))
    return view.argmin(snap(costs, np.full(len(costs), 4.0)))


@given(seeds, st.integers(20, 60), st.booleans(), st.booleans(), betas)
@settings(max_examples=40)
def test_decisions_of_many_labels_are_those_by_all_costs(seed, d, by_forest, limited, beta):
    """Bounds are needed here: most sizes are never evaluated."""
    rng = np.random.default_rng(seed)
    space = space_of(rng, d, by_forest, limited)
    truths = (rng.random((40, d)) < rng.beta(0.4, 3.0, d)).astype(np.int8)
    truths = (truths @ space.dag_.ancestors > 0).astype(np.int8)
    view, loss = pair(FBeta(beta, independent=False), space, truths)
    weights = rng.dirichlet(np.full(40, 0.2), 5) + 0.1 * rng.normal(size=(5, 40))
    psi = view.embed(truths)
    columns = np.unique(psi.indices)
    means = weights @ psi[:, columns]
    try:
        slow = by_costs(view, loss, means, columns, d)
    except InfeasibleError:
        return
    fast = Solving.of(view).argmin_of_means(means, columns, beta**2, np.full(5, 4.0))
    assert fast.values == pytest.approx(slow.values, abs=1e-6)
    assert np.array_equal(fast.outputs, slow.outputs)


@pytest.mark.parametrize("d", [1, 2, 3, 40])
def test_all_labels_where_each_is_the_only_one_now_and_then(d):
    """Sets far larger than any that occurred: (k / d) 2 / (1 + k) rises with k."""
    truths = np.eye(d, dtype=np.int8)
    view, loss = pair(F1(independent=False), LabelSets(range(d)).fit(truths), truths)
    problem = RiskProblem(view, loss, truths)
    found = problem.decode(problem.targets().mean(axis=0, keepdims=True))
    assert found.outputs.sum() == d
    assert found.values == pytest.approx(1 - 2 / (1 + d))


def test_rows_of_their_own_constraints_and_ties_for_the_first_labels():
    truths = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=np.int8)
    space = LabelSets("abc").fit(truths)
    view, loss = pair(F1(independent=False), space, truths)
    problem = RiskProblem(view, loss, truths)
    means = np.repeat(problem.targets().mean(axis=0, keepdims=True), 2, axis=0)
    two = problem.restricted({"max_size": 2}).decode(means).outputs
    assert np.array_equal(two, [[1, 1, 0]] * 2)
    of_rows = problem.restricted({"max_size": 2, "exclude": [["a"], ["b"]]})
    assert np.array_equal(of_rows.decode(means).outputs, [[0, 1, 1], [1, 0, 1]])


def test_groups_and_paths_are_decided_by_costs():
    space = LabelSets("abc").fit(np.eye(3)).restrict(exclusive=[["a", "b"]])
    assert not Solving.of(Embeddings.of(space).view("sized indicators")).decides_from_means
    tree = Hierarchy([("a", "b"), ("a", "c")]).fit(np.zeros((1, 3))).restrict(one_path=True)
    assert not Solving.of(Embeddings.of(tree).view("sized indicators")).decides_from_means


def test_weights_of_training_rows_decide_as_means_do():
    rng = np.random.default_rng(0)
    truths = (rng.random((20, 30)) < 0.2).astype(np.int8)
    view, loss = pair(F1(), LabelSets(range(30)).fit(truths), truths)
    by_means = RiskProblem(view, loss, truths)
    by_weights = RiskProblem(view, loss, truths, by_weights=True)
    assert by_weights.by_weights
    weights = rng.dirichlet(np.full(20, 0.3), 9)
    one, other = by_means.decode(weights @ by_means.targets()), by_weights.decode(weights)
    assert np.array_equal(one.outputs, other.outputs)
    assert one.values == pytest.approx(other.values, abs=1e-8)
    assert np.array_equal(by_weights.from_weights().decode(weights).outputs, other.outputs)


class Cheaper(F1):
    """A loss of the user's own: the costs that it brings must decide."""

    def cost(self, g, total):
        return -np.ones_like(g)


def test_a_child_with_costs_of_its_own_is_decided_by_them():
    truths = np.eye(3, dtype=np.int8)
    view, loss = pair(Cheaper(), LabelSets("abc").fit(truths), truths)
    assert not Form.of(loss).decides_from_means(view)
    problem = RiskProblem(view, loss, truths)
    assert problem.decode(problem.targets()).outputs.all()  # all labels cost least
