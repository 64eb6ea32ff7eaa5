# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.losses import (
    F1,
    FBeta,
    Hamming,
    HierarchicalLoss,
    Listed,
    ZeroOne,
    pair,
    resolve_loss,
)
from skstruct.spaces import Candidates, Classes, Hierarchy, LabelSets
from skstruct.testing import check_loss
from strategies import closed_sets, dags, forests, subsets

LABEL_SETS = [Hamming(), Hamming([1.0, 0.5, 2.0, 0.0]), Hamming(normalize=True), F1(), FBeta(2.0)]


@pytest.mark.parametrize("loss", [*LABEL_SETS, FBeta(0.5), ZeroOne(), Listed(F1())], ids=repr)
def test_on_label_sets(loss):
    check_loss(loss, LabelSets(range(4)), subsets(4))


@pytest.mark.slow
@given(forests(5))
def test_on_forests(space):
    for loss in (HierarchicalLoss(), HierarchicalLoss("uniform"), Hamming(), F1(), ZeroOne()):
        check_loss(loss, space, closed_sets(space))


@pytest.mark.slow
@given(dags(5))
def test_on_dags(space):
    for loss in (HierarchicalLoss(), HierarchicalLoss(dag="average"), Hamming(), Listed(F1())):
        check_loss(loss, space, closed_sets(space))


@pytest.mark.slow
@given(dags(6))
def test_the_average_loss_is_an_upper_bound(space):
    rows = closed_sets(space)
    exact = HierarchicalLoss().bind(space).pairwise(rows, rows)
    average = HierarchicalLoss(dag="average").bind(space).pairwise(rows, rows)
    assert (average >= exact - 1e-12).all()


@given(dags(5), st.data())
def test_the_hierarchical_loss_by_its_words(space, data):
    """Weighted count of wrong labels all of whose ancestors are right."""
    rows, dag = closed_sets(space), space.dag_
    weights = data.draw(st.lists(st.integers(0, 3), min_size=dag.n_nodes, max_size=dag.n_nodes))
    loss = HierarchicalLoss(weights).bind(space)
    above = dag.ancestors.toarray().astype(bool) & ~np.eye(dag.n_nodes, dtype=bool)
    for z, y in zip(rows, rows[::-1]):
        wrong = z != y
        expected = sum(
            weights[j] for j in range(dag.n_nodes) if wrong[j] and not wrong[above[j]].any()
        )
        assert loss(z[None], y[None])[0] == expected


def test_sibling_weights():
    space = Hierarchy([("r", "a"), ("r", "b"), ("a", "c"), ("s", "d")])
    weights = dict(zip(space.labels_, HierarchicalLoss().bind(space).weights_))
    assert weights == {"r": 0.5, "s": 0.5, "a": 0.25, "b": 0.25, "c": 0.25, "d": 0.5}


def test_sibling_weights_where_parents_are_several():
    space = Hierarchy([("r", "a"), ("r", "b"), ("s", "b"), ("a", "c"), ("b", "c"), ("s", "c")])
    weights = dict(zip(space.labels_, HierarchicalLoss().bind(space).weights_))
    a, b = 1 / 4, (1 / 4 + 1 / 4) / 2
    expected = {"r": 1 / 2, "s": 1 / 2, "a": a, "b": b, "c": (a + b + 1 / 4) / 3}
    assert weights == pytest.approx(expected)


def test_restricted_f1_against_enumeration():
    space = LabelSets(range(4)).restrict(include=[1], max_size=3, exclusive=[[0, 2]])
    view, loss = pair(F1(), space, subsets(4))
    rows = space.enumerate()
    weights = np.random.default_rng(1).standard_normal((50, 16))
    psi = view.embed(subsets(4)).toarray()
    g, total = weights @ psi, weights.sum(axis=1, keepdims=True)
    risk = weights @ loss.pairwise(rows, subsets(4)).T
    decoded = view.argmin(loss.cost(g, total))
    assert space.contains(decoded.outputs).all()
    np.testing.assert_allclose(decoded.values + loss.offset(g, total), risk.min(axis=1), atol=1e-9)
    best = view.kbest(loss.cost(g, total), 3).values + loss.offset(g, total)[:, None]
    np.testing.assert_allclose(best, np.sort(risk, axis=1)[:, :3], atol=1e-9)


@pytest.mark.slow
@given(dags(5), st.data())
def test_restrictions_hold_under_every_loss(space, data):
    """Whatever the embedding, a restricted prediction is the best of the restricted sets."""
    constraints = data.draw(
        st.sampled_from([{"one_path": True}, {"max_size": 2}, {"include": [0]}, {"exclude": [0]}])
    )
    narrowed, everything = space.restrict(**constraints), closed_sets(space)
    rows = narrowed.enumerate()
    weights = np.random.default_rng(0).standard_normal((20, len(everything)))
    losses = [HierarchicalLoss(), HierarchicalLoss(dag="average"), ZeroOne(), Listed(F1())]
    if space.dag_.is_forest or "one_path" in constraints:
        losses.append(F1())
    for loss in losses:
        view, bound = pair(loss, narrowed, everything)
        psi = view.embed(everything)
        psi = psi.toarray() if hasattr(psi, "toarray") else psi
        g, total = weights @ psi, weights.sum(axis=1, keepdims=True)
        risk = weights @ bound.pairwise(rows, everything).T
        decoded = view.argmin(bound.cost(g, total))
        assert narrowed.contains(decoded.outputs).all()
        found = decoded.values + bound.offset(g, total)
        np.testing.assert_allclose(found, risk.min(axis=1), atol=1e-8)


def test_zero_one_over_given_candidates():
    space = LabelSets(range(3))
    view, loss = pair(ZeroOne(candidates=np.eye(3, dtype=int)), space, subsets(3))
    assert view.n_candidates_ == 3
    assert view.listed_[:3].tolist() == np.eye(3).tolist()
    only = view.restrict(exclude=[0]).argmin(np.array([[-5.0, -1.0, -2.0, -9, -9, -9, -9, -9]]))
    assert only.outputs.tolist() == [[0, 0, 1]]
    assert loss.pairwise(view.listed_, view.listed_).shape == (8, 8)
    best = view.restrict(exclude=[0]).kbest(np.zeros((1, 8)), 5)
    assert best.values.shape == (1, 2)  # two candidates are left


@pytest.mark.parametrize("loss", [Hamming(), F1(), lambda z, y: float(abs(sum(z) - sum(y)))])
def test_training_outputs_beyond_the_candidates_count(loss):
    """The risk of a candidate is its loss against all training outputs, listed or not."""
    space, everything = LabelSets(range(3)), subsets(3)
    candidates = np.array([[1, 0, 0], [0, 1, 1]])
    view, bound = pair(Listed(loss, candidates=candidates), space, everything)
    weights = np.random.default_rng(0).standard_normal((20, 8))
    g, total = weights @ view.embed(everything).toarray(), weights.sum(axis=1, keepdims=True)
    decoded = view.argmin(bound.cost(g, total))
    one = [[bound(z[None], y[None])[0] for y in everything] for z in candidates.astype(np.int8)]
    risk = weights @ np.array(one).T
    np.testing.assert_allclose(decoded.values + bound.offset(g, total), risk.min(axis=1))
    np.testing.assert_array_equal(decoded.outputs, candidates[risk.argmin(axis=1)])


def test_candidates_narrow_classes_too():
    for space in (Classes().fit(["a", "b", "c"]), Candidates(["a", "b", "c"]).fit(["a", "d"])):
        n = space.embed(np.arange(2)).shape[1]
        for loss in (ZeroOne(candidates=["b"]), Listed(ZeroOne(), candidates=["b"])):
            view, _ = pair(loss, space, np.arange(2))
            assert view.argmin(np.zeros((2, n))).outputs.tolist() == [1, 1]
            assert view.kbest(np.zeros((2, n)), 3).values.shape == (2, 1)
        assert space.argmin(np.zeros((1, n))).outputs.tolist() == [0]  # itself unchanged


def test_any_callable_over_any_objects():
    words = ["cat", "cart", "dog", "door"]
    space = Candidates(words, loss=None).fit(words)
    check_loss(Listed(lambda z, y: len(set(z) ^ set(y))), space, np.arange(4))


def test_classes_with_a_cost_matrix():
    space = Classes().fit(["a", "b", "c"])
    check_loss(Listed(lambda z, y: 2.0 * (z < y) + (z > y)), space, np.arange(3))


def test_names_and_bad_losses():
    assert isinstance(resolve_loss("f1"), F1)
    with pytest.raises(ValueError, match="Unknown loss 'f2'; known are zero_one"):
        resolve_loss("f2")
    with pytest.raises(TypeError, match=r"give Hamming\(\)"):
        resolve_loss(Hamming)
    with pytest.raises(TypeError, match="got 3"):
        resolve_loss(3)
    with pytest.raises(ValueError, match="asks for sized indicators"):
        pair(F1(), Classes().fit([0, 1]), np.arange(2))
    with pytest.raises(ValueError, match="needs a space with arcs"):
        pair(HierarchicalLoss(), Classes().fit([0, 1]), np.arange(2))
    with pytest.raises(ValueError, match="beta is a positive number"):
        FBeta(0)([[1]], [[1]])
    with pytest.raises(ValueError, match="3 weights"):
        Hamming([1, 2]).bind(LabelSets(range(3)))
    with pytest.raises(ValueError, match="weights has no entry for 'b'"):
        Hamming({"a": 1}).bind(LabelSets(["a", "b"]))
    with pytest.raises(ValueError, match="label 1 is -1"):
        Hamming([1, -1]).bind(LabelSets(range(2)))
    with pytest.raises(ValueError, match=r"call bind\(space\) first"):
        Listed(lambda z, y: 0.0)(np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match=r"against .* is nan, not a finite number"):
        Listed(lambda z, y: float("nan")).bind(Classes().fit([0, 1]))
    space = Hierarchy([("a", "c"), ("b", "c")])
    view, _ = pair(F1(), space, closed_sets(space))
    with pytest.raises(ValueError, match="give candidates"):
        view.argmin(np.zeros((1, 10)))


def test_two_empty_sets_agree_under_f1():
    assert F1()([[0, 0]], [[0, 0]]).tolist() == [0.0]
    assert F1()([[0, 0]], [[0, 1]]).tolist() == [1.0]
