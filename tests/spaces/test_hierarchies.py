# SPDX-License-Identifier: BSD-3-Clause
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import Hierarchy, Uniform
from skstruct.testing import check_space
from strategies import closed_sets, dags, forests


@pytest.mark.slow
@given(forests())
def test_forest_against_enumeration(space):
    check_space(space, closed_sets(space))


@pytest.mark.slow
@given(dags())
def test_dag_against_enumeration(space):
    check_space(space, closed_sets(space))


@st.composite
def restrictions(draw, space):
    """A random restriction as keyword arguments, with its meaning as a predicate."""
    d = len(space.labels_)
    labels = st.lists(st.integers(0, d - 1), max_size=2, unique=True)
    include, exclude = draw(labels), draw(labels)
    low = draw(st.integers(0, d))
    high = draw(st.integers(low, d))
    exclusive = draw(st.sampled_from([None, "siblings", "pair"]))
    constraints = {"include": include, "exclude": exclude, "min_size": low, "max_size": high}
    if exclusive == "pair" and d > 1:
        constraints["exclusive"] = [draw(st.permutations(range(d)))[:2]]
    elif exclusive == "siblings":
        constraints["exclusive"] = "siblings"
    if draw(st.integers(0, 4)) == 0:
        constraints["one_path"] = True
    return {
        key: constraints[key] for key in constraints if draw(st.booleans()) or key == "one_path"
    }


def obeys(row, space, constraints):
    dag = space.dag_
    taken = set(np.flatnonzero(row).tolist())
    if not set(constraints.get("include", [])) <= taken or taken & set(
        constraints.get("exclude", [])
    ):
        return False
    if not constraints.get("min_size", 0) <= len(taken) <= constraints.get("max_size", len(row)):
        return False
    groups = constraints.get("exclusive", [])
    if groups == "siblings":
        groups = [[c for p, c in zip(dag.parents, dag.children) if p == v] for v in range(len(row))]
        groups.append(dag.roots.tolist())
    if any(len(taken & set(map(int, group))) > 1 for group in groups):
        return False
    if constraints.get("one_path"):
        leaves = [v for v in taken if v in set(dag.leaves.tolist())]
        graph = nx.DiGraph(list(zip(dag.parents.tolist(), dag.children.tolist())))
        graph.add_nodes_from(range(len(row)))
        return len(leaves) == 1 and taken == {leaves[0], *nx.ancestors(graph, leaves[0])}
    return True


@pytest.mark.slow
@given(st.data(), st.one_of(forests(5), dags(5)))
def test_restrictions_against_enumeration(data, space):
    constraints = data.draw(restrictions(space))
    narrowed = space.restrict(**constraints)
    listed = np.array([row for row in closed_sets(space) if obeys(row, space, constraints)])
    if len(listed):
        check_space(narrowed, listed.astype(np.int8))
    else:
        assert narrowed.size() == 0
        with pytest.raises(InfeasibleError, match="row 0"):
            narrowed.argmin(np.zeros((2, len(space.labels_))))


@given(st.data(), st.one_of(forests(5), dags(5)))
def test_per_row_restrictions(data, space):
    d = len(space.labels_)
    label = st.lists(st.integers(0, d - 1), max_size=1)
    include = [data.draw(label) for _ in range(3)]
    exclude = [data.draw(label) for _ in range(3)]
    costs = np.random.default_rng(0).standard_normal((3, d))
    narrowed = space.restrict(include=include, exclude=exclude)
    listed = closed_sets(space)
    feasible = [
        [r for r in listed if obeys(r, space, {"include": i, "exclude": e})]
        for i, e in zip(include, exclude)
    ]
    if not all(feasible):
        with pytest.raises(InfeasibleError):
            narrowed.argmin(costs)
        return
    best = [min(cost @ row for row in rows) for cost, rows in zip(costs, feasible)]
    np.testing.assert_allclose(narrowed.argmin(costs).values, best, atol=1e-9)
    np.testing.assert_allclose(narrowed.rows([1]).argmin(costs[[1]]).values, best[1:2], atol=1e-9)
    with pytest.raises(ValueError, match="3 rows; got 2"):
        narrowed.argmin(costs[:2])


EDGES = [("animal", "cat"), ("animal", "dog"), ("dog", "poodle")]


def test_every_way_to_write_a_hierarchy():
    expected = Hierarchy(EDGES)
    mapping = {"animal": None, "cat": "animal", "dog": ["animal"], "poodle": "dog"}
    for edges in (mapping, nx.DiGraph(EDGES), np.array(EDGES), Hierarchy(EDGES).edges):
        space = Hierarchy(edges)
        assert set(space.labels_) == set(expected.labels_)
        assert space.size() == expected.size()
    assert Hierarchy({"a": None, "b": None, "c": ["a", "b"], "d": "b"}).labels_ == tuple("abcd")
    paths = Hierarchy(["1/2/3", "1/4"])
    assert paths.labels_ == ("1", "1/2", "1/2/3", "1/4")
    assert paths.size() == Hierarchy([("1", "2"), ("2", "3"), ("1", "4")]).size()
    assert Hierarchy(EDGES, labels=["poodle", "dog", "cat", "animal", "alone"]).size() == 2 * 7


def test_clear_errors():
    with pytest.raises(ValueError, match=r"'a' -> 'b' -> 'a'|'b' -> 'a' -> 'b'"):
        Hierarchy([("a", "b"), ("b", "a")])
    with pytest.raises(ValueError, match="cycle"):
        Hierarchy([("a", "a")])
    with pytest.raises(ValueError, match=r"edges\[0\] is 3"):
        Hierarchy([3])
    with pytest.raises(ValueError, match="not directed"):
        Hierarchy(nx.Graph(EDGES))
    with pytest.raises(ValueError, match="empty step"):
        Hierarchy(["1//2"])
    with pytest.raises(ValueError, match=r"'cat'.*not one of the 1"):
        Hierarchy([("animal", "cat")], labels=["animal"])
    with pytest.raises(ValueError, match="listed twice"):
        Hierarchy([], labels=["a", "a"])
    with pytest.raises(ValueError, match="no label"):
        Hierarchy([])
    space = Hierarchy(EDGES)
    with pytest.raises(ValueError, match=r"Y\[1\] has 'cat' without its parent 'animal'"):
        space.validate([{"animal"}, {"cat"}])
    with pytest.raises(ValueError, match=r"Y\[0\] holds the label 'poodel'.*mean 'poodle'"):
        space.validate([{"poodel"}])
    with pytest.raises(ValueError, match="include holds the label 'x'"):
        space.restrict(include=["x"])
    with pytest.raises(ValueError, match="got the text 'cat'"):
        space.restrict(include="cat")
    with pytest.raises(ValueError, match="max_size is a whole number"):
        space.restrict(max_size=-1)
    costs = np.zeros((2, 4))
    costs[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"costs\[1, 2\] is nan"):
        space.argmin(costs)
    with pytest.raises(ValueError, match=r"\(n_samples, 4\); got shape \(2, 3\)"):
        space.argmin(np.zeros((2, 3)))


def test_parameters_can_be_set_again():
    space = Hierarchy(EDGES)
    turned = Hierarchy(space.edges, labels=["poodle", "dog", "cat", "animal"])
    assert turned.labels_ == ("poodle", "dog", "cat", "animal")
    assert turned.size() == space.size() == 7
    assert space.set_params(edges=[("a", "b")]).size() == 3
    assert space.set_params(labels=["b", "a"]).labels_ == ("b", "a")


def test_close_adds_ancestors():
    space = Hierarchy(EDGES, close=True)
    assert space.restore(space.validate([{"poodle"}]))[0].tolist() == [1, 0, 1, 1]


def test_counting_does_not_overflow():
    chain = Hierarchy([(j, j + 1) for j in range(999)])
    star = Hierarchy([(0, j) for j in range(1, 1000)])
    assert chain.size() == 1001
    assert star.size() == 2**999 + 1
    assert np.isclose(Uniform.of(star).log_size(), 999 * np.log(2))
    assert np.allclose(Uniform.of(star).mean_embedding()[1:], 0.5)
    assert star.sample(3, 0).shape == (3, 1000)
    bipartite = Hierarchy([(i, 40 + j) for i in range(40) for j in range(40) if (i * j) % 7 == 3])
    with pytest.raises(UndecidableError, match="more than"):
        bipartite.enumerate(limit=100)


def test_ties_go_to_the_smallest_set():
    space = Hierarchy(EDGES)
    assert space.argmin(np.zeros((1, 4))).outputs.sum() == 0
    assert space.argmin(np.array([[1.0, -1.0, 0.0, 0.0]])).outputs.sum() == 0
