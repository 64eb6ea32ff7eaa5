# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer
from skstruct._arrays.rows import dense
from skstruct.exceptions import InfeasibleError
from skstruct.sampling import SimulatedAnnealing
from skstruct.spaces import (
    Coordinates,
    Embeddings,
    Hierarchy,
    Inference,
    LabelSets,
    PairwiseLabels,
    Rankings,
    SpanningTrees,
    Targets,
)
from skstruct.testing import check_space
from strategies import closed_sets, dags, subsets

TREE = Hierarchy([("a", "b"), ("a", "c"), ("c", "d"), ("c", "e")])


def costs_of_all(space, costs):
    """What every output costs; shape (n, size)."""
    psi = space.embed(space.enumerate())
    return costs @ (psi.toarray() if hasattr(psi, "toarray") else psi).T


@settings(max_examples=10)
@given(dags(5))
def test_is_a_space(space):
    """Values, bounds, names, counts and draws, whatever the search finds."""
    check_space(SimulatedAnnealing(space, n_sweeps=3, n_chains=1), closed_sets(space))


@pytest.mark.parametrize("bound", ["range", "decoder"])
@pytest.mark.parametrize("schedule", ["geometric", "linear"])
def test_is_a_space_with_every_option(bound, schedule):
    how = {"n_sweeps": 5, "n_chains": 2, "bound": bound, "schedule": schedule}
    check_space(SimulatedAnnealing(LabelSets(range(4)), **how), subsets(4))


@pytest.mark.parametrize(
    "space",
    [
        LabelSets(range(8), max_size=3),
        TREE,
        PairwiseLabels(labels=range(7)),
        Rankings(range(5), "pairs"),
        SpanningTrees(range(5)),
    ],
    ids=lambda space: type(space).__name__,
)
def test_finds_the_best_of_few(space):
    """At least 95 of 100 rows of Gaussian costs, and never less than the bound."""
    d = space.embed(space.sample(1, 0)).shape[1]
    costs = np.random.default_rng(0).standard_normal((100, d))
    every = costs_of_all(space, costs)
    found = SimulatedAnnealing(space).argmin(costs)
    best = every.min(axis=1)
    assert (found.values >= best - 1e-9).all()
    assert (found.bounds <= best + 1e-9).all()
    assert (found.values <= best + 1e-9).sum() >= 95
    proven = SimulatedAnnealing(space, bound="decoder").argmin(costs)
    assert (proven.outputs == found.outputs).all()
    assert (proven.bounds >= found.bounds - 1e-9).all()


def test_growing_cold_helps():
    """Chains that stay hot, or are cold from the start, find the best of fewer rows."""
    space = PairwiseLabels(labels=range(9))
    costs = np.random.default_rng(1).standard_normal((400, 45))
    best = costs_of_all(space, costs).min(axis=1)

    def share(betas):
        how = {"n_sweeps": 40, "n_chains": 1, "schedule": "linear"}
        values = SimulatedAnnealing(space, betas=betas, **how).argmin(costs).values
        return (values <= best + 1e-9).mean()

    assert share((0.3, 4.0)) > max(share((0.0, 0.0)), share((100.0, 100.0))) + 0.1


def test_costs_of_any_size():
    """Temperatures follow the size of costs: nothing changes with their unit."""
    costs = np.random.default_rng(0).standard_normal((20, 6))
    space = SimulatedAnnealing(LabelSets(range(6)), n_sweeps=4, n_chains=1)
    expected = space.argmin(costs).outputs
    for unit in (2.0**-60, 2.0**60, 2.0**900):
        assert (space.argmin(unit * costs).outputs == expected).all()
    assert space.argmin(np.zeros((2, 6))).values.tolist() == [0.0, 0.0]
    assert space.argmin(np.zeros((0, 6))).outputs.shape == (0, 6)


def test_as_the_space_of_a_learner():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 3)), TREE.sample(40, 0)
    annealed = ConditionalRiskMinimizer(space=SimulatedAnnealing(TREE), loss="hamming", alpha=1.0)
    exact = ConditionalRiskMinimizer(space=TREE, loss="hamming", alpha=1.0).fit(X, Y)
    annealed.fit(X, Y)
    assert (annealed.predict(X) == exact.predict(X)).mean() > 0.98
    decoded, best = annealed.decode(X), exact.decode(X)
    assert (decoded.values >= best.values - 1e-9).all()
    assert (decoded.bounds <= best.values + 1e-9).all()
    known = annealed.predict(X, restrict={"include": ["b"]})
    assert known[:, 1].all()
    by_name = clone(annealed).set_params(space__n_sweeps=7, loss="hierarchical")
    assert by_name.fit(X, [["a"], ["a", "b"]] * 20).space_.n_sweeps == 7
    assert {tuple(y) for y in by_name.predict(X)} <= {("a",), ("a", "b")}


def test_parameters_and_copies():
    space = SimulatedAnnealing(LabelSets(), n_sweeps=3, rng=4).fit([["x"], ["y", "z"]])
    assert space.labels_ == ("x", "y", "z")
    assert space.embedding == "indicators"
    assert space.guarantee.kind == "bound only"
    assert space.default_loss == "hamming"
    costs = np.array([[1.0, -1.0, -2.0]])
    expected = space.argmin(costs)
    for same in (pickle.loads(pickle.dumps(space)), clone(space).fit([["x"], ["y", "z"]])):
        assert (same.argmin(costs).outputs == expected.outputs).all()
    assert clone(space).get_params()["n_sweeps"] == 3
    # Bounds follow the space, though the ranges of its coordinates are remembered.
    assert expected.bounds[0] == -3.0
    assert space.restrict(exclude=["z"]).argmin(costs).bounds[0] == -1.0
    assert space.set_params(space__max_size=0).argmin(costs).bounds[0] == 0.0


def test_constraints_row_by_row():
    limited = TREE.restrict(include=[["d"], []], exclude=[[], ["a"]])
    costs = np.random.default_rng(0).standard_normal((2, 5))
    found = SimulatedAnnealing(limited).argmin(costs)
    exact = limited.argmin(costs)
    assert (found.outputs == exact.outputs).all()
    assert (found.bounds <= exact.values).all()
    assert found.bounds[1] == found.values[1] == 0.0
    with pytest.raises(ValueError, match="for 2 rows; got 3"):
        SimulatedAnnealing(limited).argmin(np.zeros((3, 5)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_do_not_matter(n_jobs):
    costs = np.random.default_rng(0).standard_normal((80, 5))
    expected = SimulatedAnnealing(TREE, n_sweeps=2).argmin(costs)
    found = SimulatedAnnealing(TREE, n_sweeps=2, n_jobs=n_jobs).argmin(costs)
    assert (found.outputs == expected.outputs).all()


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"n_sweeps": 0}, "n_sweeps is a whole number from 1; got 0"),
        ({"n_chains": 1.5}, "n_chains is a whole number"),
        ({"schedule": "slow"}, "schedule is one of geometric, linear"),
        ({"bound": "none"}, "bound is one of range, decoder"),
        ({"betas": (0.0, 1.0)}, "above 0 in a geometric schedule"),
        ({"betas": (2.0, 1.0)}, "first and the last"),
        ({"chain": "long"}, "proposals is one of auto"),
    ],
)
def test_what_cannot_be(how, says):
    with pytest.raises(ValueError, match=says):
        SimulatedAnnealing(TREE, **how).argmin(np.zeros((1, 5)))


def test_costs_that_cannot_be():
    with pytest.raises(ValueError, match=r"costs\[0, 2\] is nan"):
        SimulatedAnnealing(TREE).argmin([[0.0, 0.0, np.nan, 0.0, 0.0]])
    with pytest.raises(ValueError, match=r"shape \(n_samples, 5\)"):
        SimulatedAnnealing(TREE).argmin(np.zeros((1, 4)))
    with pytest.raises(InfeasibleError):
        SimulatedAnnealing(TREE.restrict(include=["d"], exclude=["a"])).argmin(np.zeros((1, 5)))


def test_all_but_decoding_is_that_of_the_space():
    space = Rankings(range(4), "pairs")
    annealed = SimulatedAnnealing(space, n_sweeps=5)
    every, scores = space.enumerate(), np.random.default_rng(0).standard_normal((2, 6))
    assert_array_equal(
        dense(Targets.of(annealed).targets(every)), dense(Targets.of(space).targets(every))
    )
    ours, theirs = annealed.covariance(), space.covariance()
    assert_allclose(ours.dense(), theirs.dense())
    assert annealed.counted is space
    labels = LabelSets(range(4))
    annealed = SimulatedAnnealing(labels)
    assert_allclose(Inference.of(annealed).distribution(scores[:, :4]).marginals(),
                    1 / (1 + np.exp(-scores[:, :4])))  # fmt: skip
    assert type(Inference.of(annealed).proposals()) is type(Inference.of(labels).proposals())


def test_another_embedding_is_searched_too():
    """Costs of ranks, whose minimum the list of all rankings tells."""
    annealed = SimulatedAnnealing(Rankings(range(4), "positions"), n_sweeps=200)
    view = Embeddings.of(annealed).view("ranks")
    assert Embeddings.of(annealed).view("positions") is annealed
    assert view.embedding == "ranks"
    costs = np.random.default_rng(0).standard_normal((5, 4))
    every = costs_of_all(view.space, costs)
    found = view.argmin(costs)
    assert_allclose(found.values, every.min(axis=1))
    assert (found.bounds <= found.values + 1e-12).all()
    # The same costs, written for positions.
    assert_allclose(
        costs_of_all(annealed.space, Coordinates.of(annealed).lift(costs, "ranks")), every
    )
