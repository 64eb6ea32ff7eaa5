# SPDX-License-Identifier: BSD-3-Clause
"""The loss that compares penalties in place of one that takes long to decide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.kernels import RBF
from skstruct.learners.problem import risk_problem
from skstruct.losses import Hamming, HierarchicalLoss
from skstruct.model_selection import left_out_risk
from skstruct.spaces import Coordinates, Hierarchy
from skstruct.spaces.indicator_sets.parent_products import ParentProducts
from skstruct.spaces.solvers.binary_programs import BinaryProgram

ARCS = [("r", "a"), ("r", "b"), ("s", "b"), ("a", "c"), ("b", "c"), ("s", "d"), ("b", "d"),
        ("c", "e"), ("d", "e")]  # fmt: skip
DAG = Hierarchy(ARCS)
TREE = Hierarchy([("r", "a"), ("r", "b"), ("a", "c")])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
OUTPUTS = DAG.enumerate()
Y = OUTPUTS[(np.abs(X).sum(axis=1) * 9).astype(int) % len(OUTPUTS)]
ALPHAS = [0.03, 0.3, 3.0]


@pytest.fixture
def no_programs(monkeypatch):
    """Integer programs are not solved."""

    def solve(*_):
        raise AssertionError("an integer program was asked for")

    monkeypatch.setattr(BinaryProgram, "solve", solve)


def test_no_integer_program_in_a_search(no_programs):
    model = ConditionalRiskMinimizer(DAG, smoother="kernel_ridge").fit(X, Y)
    assert len(model.search_.trials) == 22


def risks_of_refits(decided_by, alpha):
    """Mean left-out loss by fitting without each row and looking at every closed set."""
    loss = decided_by.bind(DAG)
    gamma = 1 / (X.shape[1] * X.var())
    losses, of_all = [], loss.pairwise(OUTPUTS, Y)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        K = rbf_kernel(X[others], gamma=gamma) + alpha * np.eye(len(X) - 1)
        ones = np.ones(len(K))
        v, inverse = rbf_kernel(X[[i]], X[others], gamma=gamma)[0], np.linalg.inv(K)
        w = inverse @ v + inverse @ ones * (1 - ones @ inverse @ v) / (ones @ inverse @ ones)
        risks = np.round(of_all[:, others] @ w, 9)
        best = np.flatnonzero(risks == risks.min())
        losses.append(loss(OUTPUTS[best], np.repeat(Y[[i]], len(best), axis=0)))
    return np.mean([mine.min() for mine in losses]), np.mean([mine.max() for mine in losses])


@pytest.mark.slow
def test_risks_are_those_of_the_averaged_loss():
    gamma = 1 / (X.shape[1] * X.var())  # of all rows, as refits must have it
    model = ConditionalRiskMinimizer(DAG, alpha=ALPHAS, kernel=RBF(gamma)).fit(X, Y)
    average = HierarchicalLoss(dag="average")
    for trial in model.search_.trials:
        low, high = risks_of_refits(average, trial["alpha"])  # apart where decisions tie
        assert low - 1e-9 <= trial["risk"] <= high + 1e-9
    path = left_out_risk(model, loss=average, alphas=[t["alpha"] for t in model.search_.trials])
    assert_allclose([t["risk"] for t in model.search_.trials], path)
    assert model.alpha_ == model.search_.trials[int(np.argmin(path))]["alpha"]


def test_predictions_are_those_of_the_exact_loss():
    model = ConditionalRiskMinimizer(DAG, smoother="kernel_ridge").fit(X, Y)
    alone = ConditionalRiskMinimizer(DAG, alpha=model.alpha_).fit(X, Y)
    new = RNG.normal(size=(30, 3))
    decoded, expected = model.decode(new), alone.decode(new)
    assert_array_equal(decoded.outputs, expected.outputs)
    assert_allclose(decoded.values, expected.values, atol=1e-9)
    weights = alone.smoother_.weights(new)
    risks = weights @ HierarchicalLoss().bind(DAG).pairwise(OUTPUTS, Y).T
    assert_allclose(decoded.values, risks.min(axis=1), atol=1e-7)
    assert_allclose(decoded.bounds, decoded.values, atol=1e-6)


def test_the_search_says_which_loss_it_was(tmp_path):
    model = ConditionalRiskMinimizer(DAG, HierarchicalLoss("uniform"), alpha=ALPHAS).fit(X, Y)
    assert repr(model.search_.loss) == "HierarchicalLoss(dag='average', weights='uniform')"
    assert not hasattr(model.search_.loss, "format_")  # the loss as such, without arrays
    save_model(model, tmp_path / "m.model")
    loaded = load_model(tmp_path / "m.model")
    assert repr(loaded.search_.loss) == repr(model.search_.loss)
    assert_array_equal(loaded.predict(X), model.predict(X))


def test_other_losses_search_by_themselves():
    assert ConditionalRiskMinimizer(DAG, "hamming", alpha=ALPHAS).fit(X, Y).search_.loss is None
    average = HierarchicalLoss(dag="average")
    assert ConditionalRiskMinimizer(DAG, average, alpha=ALPHAS).fit(X, Y).search_.loss is None
    tree_rows = TREE.enumerate()[RNG.integers(TREE.size(), size=40)]
    assert ConditionalRiskMinimizer(TREE, alpha=ALPHAS).fit(X, tree_rows).search_.loss is None


def test_it_is_said(capsys, shown_at_once):
    ConditionalRiskMinimizer(DAG, alpha=ALPHAS, verbose=1).fit(X, Y)
    told = capsys.readouterr()
    assert "compared by HierarchicalLoss(dag='average')" in told.err
    assert told.out == ""


def test_blocks_and_further_rows(no_programs):
    """What is smoothed there are labels and products; the search reads off the labels."""
    fitted = ConditionalRiskMinimizer(DAG, alpha=ALPHAS, solver="nystroem").fit(X, Y)
    streamed = ConditionalRiskMinimizer(DAG, alpha=ALPHAS).fit(iter([(X, Y)]))
    assert repr(streamed.search_.loss) == repr(fitted.search_.loss) is not None
    risks = [[t["risk"] for t in model.search_.trials] for model in (fitted, streamed)]
    path = left_out_risk(fitted, loss=HierarchicalLoss(dag="average"), alphas=sorted(ALPHAS)[::-1])
    assert_allclose(risks[0], path)
    assert_allclose(risks[1], path)
    further = ConditionalRiskMinimizer(DAG, alpha=ALPHAS).partial_fit(X, Y)
    assert further.alpha_ == fitted.alpha_


def test_groups_and_kernels_are_searched_by_it(no_programs):
    groups = np.arange(40) // 4
    model = ConditionalRiskMinimizer(DAG, alpha=ALPHAS, kernel=RBF([0.1, 1.0])).fit(
        X, Y, groups=groups
    )
    assert len(model.search_.trials) == 6
    best = model.search_.best
    alone = ConditionalRiskMinimizer(
        DAG, HierarchicalLoss(dag="average"), alpha=best["alpha"], kernel=RBF(best["gamma"])
    ).fit(X, Y)
    assert_allclose(left_out_risk(alone, groups=groups), best["risk"])


# ---------------------------------------------------------------------- embeddings
@st.composite
def graphs(draw):
    d = draw(st.integers(1, 8))
    arcs = [(k, j) for j in range(d) for k in range(j) if draw(st.integers(0, 2)) == 0]
    return Hierarchy(arcs, labels=range(d))


@given(graphs(), st.integers(0, 2**31))
def test_products_are_minima_over_parents(space, seed):
    view = ParentProducts(space)
    Z = space.enumerate()
    Z = Z[np.random.default_rng(seed).permutation(len(Z))]
    columns = [Z[:, space.dag_.parents_of[j]].min(axis=1) for j in view.shared_]
    expected = np.column_stack([Z, *columns]).astype(float)
    found = view.embed(Z)
    assert found.dtype == np.float64
    assert_array_equal(found, expected)
    assert_array_equal(Coordinates.of(view).project(found, "indicators"), Z)
    assert_array_equal(Coordinates.of(view).project(found, view.embedding), found)


def test_no_rows_and_no_products():
    assert ParentProducts(DAG).embed(np.zeros((0, 7), np.int8)).shape == (0, 11)
    assert ParentProducts(TREE).embed(TREE.enumerate()).shape == (TREE.size(), 4)


def test_means_that_cannot_be_read_off():
    with pytest.raises(ValueError, match="means of positions cannot be read off"):
        Coordinates.of(ParentProducts(DAG)).project(np.zeros((1, 11)), "positions")
    with pytest.raises(ValueError, match="means of positions cannot be read off"):
        Coordinates.of(TREE).project(np.zeros((1, 4)), "positions")


@given(graphs(), st.integers(0, 2**31))
def test_averaged_loss_by_its_definition(space, seed):
    rng, outputs = np.random.default_rng(seed), space.enumerate()
    Z, T = outputs[rng.integers(len(outputs), size=(2, 5))]
    weights = rng.random(len(space.labels_))
    found = HierarchicalLoss(weights, dag="average").bind(space)(Z, T)
    for z, t, value in zip(Z, T, found):
        expected = 0.0
        for j, parents in enumerate(space.dag_.parents_of):
            both = np.mean(z[parents] * t[parents]) if len(parents) else 1.0
            expected += weights[j] * (z[j] != t[j]) * both
        assert np.isclose(value, expected)


@settings(max_examples=30)
@given(graphs(), st.sampled_from(["exact", "average"]), st.integers(0, 2**31))
def test_costs_price_every_output(space, dag, seed):
    rng = np.random.default_rng(seed)
    problem = risk_problem(space, HierarchicalLoss(dag=dag), space.enumerate())
    view, loss = problem.space, problem.loss
    outputs = view.space.enumerate() if hasattr(view, "space") else view.enumerate()
    w = rng.normal(size=(3, len(outputs)))
    psi = view.embed(outputs)
    g, total = w @ psi, w.sum(axis=1, keepdims=True)
    priced = loss.cost(g, total) @ psi.T + loss.offset(g, total)[:, None]
    assert_allclose(priced, w @ loss.pairwise(outputs, outputs).T, atol=1e-9)


@pytest.mark.parametrize("loss", [Hamming(), HierarchicalLoss()], ids=repr)
def test_sparse_and_dense_embeddings_are_one(loss, monkeypatch):
    """Rows fewer than labels are decided by weights, and thin embeddings are kept sparse."""
    wide = Hierarchy([(0, j) for j in range(2, 60)] + [(1, j) for j in range(50, 60)],
                     labels=range(60))  # fmt: skip
    Z = np.zeros((30, 60), np.int8)
    Z[:, 0] = 1
    Z[np.arange(30), np.arange(2, 32)] = 1
    means = RNG.normal(size=(5, 30))
    problems = []
    for thin in (1.0, 0.0):
        monkeypatch.setattr("skstruct.learners.problem.THIN", thin)
        problem = risk_problem(wide, loss, Z, by_weights=True)
        problems += [problem, problem.for_search()]
    assert [hasattr(p._psi, "indptr") for p in problems] == [True, True, False, False]
    for ours, theirs in zip(problems[:2], problems[2:]):
        assert_allclose(ours.mean_embedding(means)[0], theirs.mean_embedding(means)[0], atol=1e-12)
        assert_array_equal(ours.decode(means).outputs, theirs.decode(means).outputs)
