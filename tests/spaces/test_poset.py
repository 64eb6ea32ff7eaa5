# SPDX-License-Identifier: BSD-3-Clause
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError
from skstruct.learners import StructuredSVM
from skstruct.losses import F1, Hamming, HierarchicalLoss, ZeroOne
from skstruct.spaces import Embeddings, Hierarchy
from skstruct.spaces.poset.space import Poset
from skstruct.testing import check_loss, check_space
from strategies import dags

ANIMALS = [("animal", "cat"), ("animal", "dog"), ("dog", "poodle")]


def rows_of(space):
    """psi of every element, by walking up from it."""
    dag, rows = space.dag_, []
    for z in range(dag.n_nodes):
        marked, front = {z}, [z]
        while front:
            found = [p for p, c in zip(dag.parents, dag.children) if c in front]
            front = [p for p in found if p not in marked]
            marked.update(front)
        rows.append([int(j in marked) for j in range(dag.n_nodes)])
    return np.array(rows, dtype=np.int8)


@st.composite
def posets(draw, **params):
    edges = draw(dags()).edges
    relation = [
        (edges.names[p], edges.names[c]) for p, c in zip(edges.dag.parents, edges.dag.children)
    ]
    return Poset(relation, labels=edges.names, **params), edges.dag


@pytest.mark.slow
@given(posets())
def test_all_elements(case):
    space, dag = case
    rows = rows_of(space)
    assert_array_equal(
        rows, dag.ancestors.toarray()
    )  # leaving out arcs that follow changes nothing
    check_space(space, rows, n_costs=5, n_draws=500)
    check_space(Poset(space.relation, space.labels, leaves_only=True), rows[dag.n_children == 0],
                n_costs=5, n_draws=500)  # fmt: skip


@pytest.mark.slow
@given(posets(), st.data())
def test_restricted(case, data):
    space, _ = case
    labels = st.sets(st.sampled_from(space.labels_), max_size=2)
    include, exclude = data.draw(labels), data.draw(labels)
    rows = rows_of(space)
    good = [r for r in rows if all(r[j] for j in include) and not any(r[j] for j in exclude)]
    narrowed = space.restrict(include=include, exclude=exclude)
    if good:
        check_space(narrowed, good, n_costs=5, n_draws=500)
    else:
        assert narrowed.size() == 0
        for ask in (narrowed.mean_embedding, lambda: narrowed.argmin(np.zeros((1, len(rows))))):
            with pytest.raises(InfeasibleError):
                ask()


@pytest.mark.slow
@given(posets())
def test_losses(case):
    space, _ = case
    rows = rows_of(space)
    for loss in (Hamming(), ZeroOne(), F1(), HierarchicalLoss()):
        check_loss(loss, space, rows)


@given(posets(), st.integers(0, 1000))
def test_other_embeddings_have_costs_element_by_element(case, seed):
    space, _ = case
    rows, rng = rows_of(space), np.random.default_rng(seed)
    for name in ("sized indicators", "indicators and parents"):
        view = Embeddings.of(space).view(name)
        psi = np.asarray(view.embed(rows).toarray() if name[0] == "s" else view.embed(rows))
        costs = rng.standard_normal((4, psi.shape[1]))
        assert_allclose(view.argmin(costs).values, (costs @ psi.T).min(axis=1))
        assert_allclose(view.kbest(costs, 2).values, np.sort(costs @ psi.T, axis=1)[:, :2])


def test_constraints_of_each_row():
    space = Poset(ANIMALS).restrict(include=[["dog"], ["cat"], []], exclude=[["poodle"], [], []])
    costs = np.array([[-1.0, 0.0, 5.0, -9.0]] * 3)
    assert space.restore(space.argmin(costs).outputs).tolist() == ["dog", "cat", "poodle"]
    assert [space.rows([i]).size() for i in range(3)] == [1, 1, 4]
    with pytest.raises(ValueError, match="3 rows; got 1"):
        space.argmin(costs[:1])
    with pytest.raises(ValueError, match="rows"):
        space.size()


def test_relations_in_all_forms():
    closed = [*ANIMALS, ("animal", "poodle"), ("dog", "dog")]  # what follows may be said
    given_forms = [
        ANIMALS, closed, nx.DiGraph(closed[:4]), Hierarchy(ANIMALS).edges,
        {"cat": "animal", "dog": "animal", "poodle": ["dog", "animal"]},
    ]  # fmt: skip
    for relation in given_forms:
        space = Poset(relation)
        assert_array_equal(space.validate(["poodle"])[:, [space.labels_.index("cat")]], [[0]])
        assert space.dag_.is_forest
        assert space.size() == 4
    paths = Poset(["a/b", "a/c"])
    assert paths.labels_ == ("a", "a/b", "a/c")


def test_a_cycle_is_named():
    with pytest.raises(ValueError, match=r"partial order.*'a' -> 'b' -> 'a'|'b' -> 'a' -> 'b'"):
        Poset([("a", "b"), ("b", "a")]).size()


def test_forms_come_back():
    names = ["cat", "poodle", "animal"]
    series = pd.Series(names, index=[4, 5, 6], name="kind")
    space = Poset(ANIMALS).fit(series)
    pd.testing.assert_series_equal(space.restore(space.validate(series), series.index), series)
    paths = [{"animal", "cat"}, {"animal", "dog", "poodle"}, {"animal"}]
    space = Poset(ANIMALS).fit(paths)
    assert space.restore(space.validate(paths)).tolist() == paths
    assert_array_equal(space.validate(names), space.validate(paths))
    table = space.validate(paths).astype(np.int64)
    assert_array_equal(Poset(ANIMALS).fit(table).restore(table), table)
    frame = pd.DataFrame(table, columns=space.labels_)
    space = Poset(ANIMALS).fit(frame)
    pd.testing.assert_frame_equal(space.restore(space.validate(frame)), frame)
    pairs = Poset([((0, 0), (0, 1)), ((0, 0), (1, 1))]).fit([(0, 1), (1, 1)])  # names are tuples
    assert pairs.restore(pairs.validate([(1, 1), (0, 0)])).tolist() == [(1, 1), (0, 0)]


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (["cat", "dgo"], r"Y\[1\] is the label 'dgo'.*'dog'"),
        ([{"animal", "cat"}, {"dog"}], r"Y\[1\] holds 'dog', which is not one element"),
        ([{"animal", "cat", "dog"}], r"Y\[0\] holds"),
        ([{"animal"}, set()], r"Y\[1\] holds nothing"),
        ([], "no rows"),
        (["cat", None], r"Y\[1\] is None"),
    ],
)
def test_bad_outputs(Y, message):
    with pytest.raises(ValueError, match=message):
        Poset(ANIMALS).fit(Y)


def test_without_a_relation_elements_are_classes():
    space = Poset().fit(["b", "a", "b"])
    assert space.labels_ == ("a", "b")
    check_space(space, np.eye(2, dtype=np.int8))
    with pytest.raises(NotFittedError):
        clone(space).size()
    with pytest.raises(ValueError, match="'c', which is not one of the 2 known"):
        clone(space.restrict(exclude=["a"])).fit(["a", "b", "c"])


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hamming", "zero_one", "f1", "hierarchical"])
@pytest.mark.parametrize("learner", [ConditionalRiskMinimizer, StructuredSVM])
@pytest.mark.parametrize("extra", [[], [("cat", "lion"), ("dog", "lion")]])
def test_learners(learner, loss, extra):
    rng = np.random.default_rng(0)
    y = np.array(["cat", "dog", "poodle", "animal"])[np.arange(40) % 4]
    X = np.eye(4)[np.arange(40) % 4] + 0.05 * rng.standard_normal((40, 4))
    model = learner(space=Poset(ANIMALS + extra), loss=loss).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    narrow = model.predict(X[:4], restrict={"include": ["dog"], "exclude": ["poodle"]})
    assert set(narrow) <= {"dog", "lion"}


def test_set_params_and_clone():
    space = Poset(ANIMALS).fit(["cat"])
    assert clone(space).size() == 4
    assert space.set_params(relation=[("a", "b")]).size() == 2
    assert space.set_params(leaves_only=True).size() == 1


@settings(max_examples=5)
@given(st.integers(0, 100))
def test_a_large_tree_counts_at_once(seed):
    rng = np.random.default_rng(seed)
    space = Poset([(int(rng.integers(j)), j) for j in range(1, 1000)])
    mean, moment = space.mean_embedding(), space.second_moment()
    assert space.size() == 1000
    assert mean[space.labels_.index(0)] == 1.0
    assert_allclose(np.diag(moment), mean)
    i, j = rng.integers(1000, size=2)
    assert moment[i, j] == (space.above_[:, i] & space.above_[:, j]).sum() / 1000
