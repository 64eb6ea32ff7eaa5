# SPDX-License-Identifier: BSD-3-Clause
"""What every space answers under constraints, contradictory ones included, against its list.

What a constraint means is said here once more, of names and sets of them.
"""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import (
    Assignments,
    BinaryPolytope,
    Box,
    Cliques,
    Cycles,
    Flows,
    Graphs,
    Hierarchy,
    Inference,
    Knapsacks,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    PartialOrders,
    Polytope,
    Portfolios,
    Poset,
    Rankings,
    Sequences,
    ShortestPaths,
    SpanningTrees,
    Strings,
    Tournaments,
)
from skstruct.spaces.contracts import KBest, Restrictable
from space_cases import SMALL
from strategies import shown


def some(names, most=3):
    return st.lists(st.sampled_from(list(names)), unique=True, max_size=most)


# ------------------------------------------------------------------------------ sets
def set_arguments(space):
    """Constraints on labels: those of each row, and those that all rows share."""
    return {"include": some(space.labels_), "exclude": some(space.labels_)}


def sized_arguments(space):
    sizes = st.integers(0, len(space.labels_))
    groups = st.lists(some(space.labels_).filter(len), min_size=1, max_size=2)
    return {"min_size": sizes, "max_size": sizes, "exclusive": groups}


def edge_sizes(space):
    sizes = st.integers(0, len(space.labels_))
    return {"min_size": sizes, "max_size": sizes}


def tree_arguments(space):
    return {**sized_arguments(space), "one_path": st.just(True)}


def none_shared(space):
    return {}


def named(space, z):
    return {name for name, bit in zip(space.labels_, z) if bit}


def won(space, z):
    pairs = [pair[::sign] for pair, sign in zip(space.labels_, z) if sign]
    return set(pairs)


def obeys_sets(found, space, include=(), exclude=(), min_size=0, max_size=99, exclusive=()):
    return (
        set(include) <= found
        and not set(exclude) & found
        and min_size <= len(found) <= max_size
        and all(len(set(group) & found) <= 1 for group in exclusive)
    )


def obeys_trees(found, space, one_path=False, **others):
    if one_path:
        above = nx.DiGraph(TREE if "e" in space.labels_ else DIAMOND)
        leaves = [v for v in above if not above.out_degree(v)]
        if found not in [{v, *nx.ancestors(above, v)} for v in leaves]:
            return False
    return obeys_sets(found, space, **others)


# ------------------------------------------------------------------------------ ways and rounds
def path_arguments(space):
    arcs, nodes = some(space.labels_), some(space.nodes_, 2)
    return {"include": arcs, "exclude": arcs, "via": nodes, "avoid": nodes,
            "max_length": st.integers(0, len(space.nodes_))}  # fmt: skip


def obeys_paths(arcs, space, include=(), exclude=(), via=(), avoid=(), max_length=99):
    nodes = {space.source, space.target}.union(*arcs)
    return (
        set(include) <= arcs
        and not set(exclude) & arcs
        and set(via) <= nodes
        and not set(avoid) & nodes
        and len(arcs) <= max_length
    )


def edges_of(space):
    return [tuple(space.nodes_[v] for v in edge) for edge in space.edges_]


def cycle_arguments(space):
    sizes, edges = st.integers(0, len(space.nodes_)), some(edges_of(space))
    return {"include": some(space.nodes_, 2), "exclude": some(space.nodes_, 2),
            "min_size": sizes, "max_size": sizes,
            "include_edges": edges, "exclude_edges": edges}  # fmt: skip


def around(space, z):
    return {edge for edge, bit in zip(edges_of(space), z) if bit}


def obeys_cycles(
    edges, space, include=(), exclude=(), min_size=0, max_size=99, include_edges=(),
    exclude_edges=(),
):  # fmt: skip
    nodes = set().union(*edges)
    return (
        obeys_sets(nodes, space, include, exclude, min_size, max_size)
        and set(include_edges) <= edges
        and not set(exclude_edges) & edges
    )


# ------------------------------------------------------------------------------ orders, symbols
def ranking_arguments(space):
    places = st.dictionaries(
        st.sampled_from(space.items_), st.integers(1, len(space.items_)), max_size=2
    )
    pair = st.tuples(*2 * [st.sampled_from(space.items_)]).filter(lambda pair: pair[0] != pair[1])
    return {"positions": places, "before": st.lists(pair, max_size=3)}


def ranked(space, z):
    return dict(zip(space.items_, z))


def obeys_rankings(rank, space, positions={}, before=()):  # noqa: B006
    last = max(rank.values())  # items behind the top are tied there
    behind = {item for item in rank if rank[item] == last} if len(set(rank.values())) > 1 else ()
    tied = behind if len(behind) > 1 else ()
    return all(rank[item] == place for item, place in positions.items()) and all(
        rank[a] < rank[b] or (a in tied and b in tied) for a, b in before
    )


def symbol_arguments(space):
    symbols = st.sampled_from(space.alphabet)
    known = st.dictionaries(st.integers(0, 1), symbols, max_size=2)
    end = st.sampled_from([None, *space.alphabet])
    pairs = st.lists(st.tuples(end, end).filter(any), max_size=4)
    return {"known": known, "forbidden": pairs}


def lengths(space):
    return {"length": st.integers(1, 3)}


def spelt(space, z):
    return [space.alphabet[int(j)] for j in z if j >= 0]


def obeys_symbols(symbols, space, known={}, forbidden=(), length=None):  # noqa: B006
    steps = zip([None, *symbols], [*symbols, None])
    return (
        all(at < len(symbols) and symbols[at] == symbol for at, symbol in known.items())
        and not set(forbidden) & set(steps)
        and length in (None, len(symbols))
    )


def state_arguments(space):
    label, state = st.sampled_from(space.labels_), st.sampled_from(space.states_)
    known = st.dictionaries(label, state, max_size=2)
    forbidden = st.dictionaries(label, st.lists(state, min_size=1, max_size=2), max_size=2)
    return {"known": known, "forbidden": forbidden}


def stated(space, z):
    return {name: space.states_[j] for name, j in zip(space.labels_, z)}


def obeys_states(states, space, known={}, forbidden={}):  # noqa: B006
    return all(states[name] == state for name, state in known.items()) and not any(
        states[name] in barred for name, barred in forbidden.items()
    )


def level_arguments(space):
    level = st.sampled_from(space.labels_)
    return {"min_level": level, "max_level": level, "exclude": some(space.labels_)}


def obeys_levels(reached, space, min_level=None, max_level=None, exclude=()):
    order = list(space.labels_)
    level = len(reached) - 1
    low = 0 if min_level is None else order.index(min_level)
    high = len(order) - 1 if max_level is None else order.index(max_level)
    return low <= level <= high and order[level] not in exclude


# ------------------------------------------------------------------------------ all of them
TRIANGLES = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
DIRECTED, UNDIRECTED = nx.DiGraph(TRIANGLES), nx.Graph(TRIANGLES)
CYCLIC = nx.DiGraph([*TRIANGLES, ("b", "a"), ("t", "a"), ("b", "s")])
TREE = [("a", "b"), ("a", "c"), ("d", "e")]
DIAMOND = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
SETS = set_arguments, none_shared, named, obeys_sets
SIZED = set_arguments, sized_arguments, named, obeys_sets
TREES = set_arguments, tree_arguments, named, obeys_trees
EDGES = set_arguments, edge_sizes, named, obeys_sets
PATHS = path_arguments, none_shared, named, obeys_paths
CYCLES = cycle_arguments, none_shared, around, obeys_cycles
SYMBOLS = symbol_arguments, lengths, spelt, obeys_symbols
CASES = {  # spaces, constraints of rows, those that rows share, an output by name, their meaning
    "LabelSets": ([LabelSets("abcd"), LabelSets("abcd", max_size=2)], *SIZED),
    "Hierarchy": ([Hierarchy(TREE), Hierarchy(DIAMOND)], *TREES),
    "Knapsacks": ([Knapsacks({"a": 1, "b": 2, "c": 2, "d": 1}, 4)], *SIZED),
    "BinaryPolytope": ([BinaryPolytope([[1, 1, 0, 2]], [2], labels="abcd")], *SIZED),
    "PairwiseLabels": ([PairwiseLabels("full", labels="abc")], *SETS),
    "Cliques": ([Cliques(list("abcd"))], *SETS),
    "Poset": ([Poset(DIAMOND[:3]), Poset([("a", "b"), ("c", "b"), ("a", "d")])], *SETS),
    "Assignments": ([Assignments(list("abc"), list("xyz"))], *SETS),
    "SpanningTrees": ([SpanningTrees(list("abcd")), SpanningTrees(graph=UNDIRECTED)], *SETS),
    "Matchings": ([Matchings(list("abcd")), Matchings(list("abcd"), perfect=True),
                   Matchings(list("abc"), list("xy"))], *SETS),
    "Graphs": ([Graphs(4, property="clique"), Graphs(4, property="connected"),
                Graphs(4, property="bipartite"), Graphs(4, property="planar")], *SETS),
    "Graphs of a size": ([Graphs(4), Graphs(4, property="acyclic")], *EDGES),
    "PartialOrders": ([PartialOrders(list("abc"))], *SETS),
    "Tournaments": ([Tournaments(list("abc")), Tournaments(list("abc"), partial=False)],
                    set_arguments, none_shared, won, obeys_sets),
    "ShortestPaths": ([ShortestPaths(DIRECTED, "s", "t"), ShortestPaths(CYCLIC, "s", "t"),
                       ShortestPaths(UNDIRECTED, "s", "t")], *PATHS),
    "Cycles": ([Cycles(list("abcd")), Cycles(list("abcd"), embedding="indicators"),
                Cycles(list("abcd"), directed=False)], *CYCLES),
    "Rankings": ([Rankings("abc"), Rankings("abcd").restrict(top=2), Rankings("abc", "pairs")],
                 ranking_arguments, none_shared, ranked, obeys_rankings),
    "Sequences": ([Sequences("ab", 3), Sequences("ab", 3, "bigrams")], *SYMBOLS),
    "Strings": ([Strings("ab", (1, 3), n=2), Strings("ab", (1, 3), n=3)], *SYMBOLS),
    "PairwiseStates": ([PairwiseStates([("x", "y"), ("y", "z")], "abc", "xyz")],
                       state_arguments, none_shared, stated, obeys_states),
    "Ordinal": ([Ordinal("abcd")], level_arguments, none_shared, named, obeys_levels),
}  # fmt: skip

SEEN_AT_ONCE = ("Rankings", "Sequences", "Strings")  # clashes are told by restrict itself


@st.composite
def restricted(draw, name, n_rows):
    """A space without and with constraints, and for each row which outputs of the list are left.

    Constraints come at once or in two steps; rows have their own, but for those that are shared.
    """
    spaces, of_rows, shared, read, obeys = CASES[name]
    space = draw(st.sampled_from(spaces))
    listed = space.enumerate()
    found, left = [read(space, z) for z in listed], np.ones((n_rows, len(listed)), bool)
    asked = [{} for _ in range(draw(st.integers(1, 2)))]
    for arguments, by_row in ((of_rows(space), n_rows > 1), (shared(space), False)):
        for argument, values in arguments.items():
            if draw(st.booleans()):
                rows = draw(st.lists(values, min_size=n_rows if by_row else 1,
                                     max_size=n_rows if by_row else 1))  # fmt: skip
                kept = [[obeys(z, space, **{argument: value}) for z in found] for value in rows]
                draw(st.sampled_from(asked))[argument] = rows if by_row else rows[0]
                left &= np.array(kept, bool)
    return space, listed, asked, left


def narrowed(space, asked):
    for constraints in asked:
        space = space.restrict(**constraints)
    return space


def refused(ask):
    """Whether a question has no answer since nothing meets the constraints."""
    try:
        return ask() is None
    except InfeasibleError:
        return True


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@given(data=st.data(), seed=st.integers(0, 2**16))
@settings(max_examples=25)
def test_answers_are_those_that_are_left(name, data, seed):
    space, listed, asked, left = data.draw(restricted(name, 1))
    costs = np.random.default_rng(seed).integers(-3, 4, (2, space.embed(listed).shape[1]))
    kept, costs = listed[left[0]], costs.astype(float)
    if not len(kept):
        assert_nothing_is_answered(lambda: narrowed(space, asked), costs)
        return
    narrow = narrowed(space, asked)
    np.testing.assert_array_equal(narrow.contains(listed), left[0])
    assert narrow.size() == len(kept)
    assert sorted(map(tuple, narrow.enumerate())) == sorted(map(tuple, kept))
    assert_the_best(narrow, costs, costs @ space.embed(kept).T)
    assert_draws(narrow, costs, space.embed(kept))


def assert_nothing_is_answered(narrow, costs):
    """Each of these says that there is no output, or that there are none."""
    questions = [
        lambda space: space.argmin(costs),
        lambda space: space.kbest(costs, 2) if isinstance(space, KBest) else None,
        lambda space: space.sample(2, 0),
        lambda space: space.mean_embedding(),
        lambda space: Inference.of(space).distribution(costs),
        lambda space: space.size() or None,
        lambda space: space.enumerate().size or None,
    ]
    for question in questions:
        assert refused(lambda: question(narrow()))  # noqa: B023


@pytest.mark.parametrize(
    "space",
    [
        ShortestPaths(DIRECTED, "s", "t"),
        ShortestPaths(CYCLIC, "s", "t"),
        Assignments(["s", "a", "u"], ["a", "b", "t"]),
        Assignments(["s", "a"], ["a", "b", "t"]),
    ],
    ids=shown,
)
def test_contradictions_that_a_third_pair_joins(space):
    """Two pairs that rule out each other, and a third one that leads from one to the other."""
    pairs = [("s", "a"), ("s", "b"), ("a", "b")]
    costs = np.ones((1, len(space.labels_)))
    assert_nothing_is_answered(lambda: space.restrict(include=pairs), costs)


def assert_the_best(space, costs, values):
    """Best outputs of each row of costs, of which ``values`` (n, m) are those of all outputs."""
    best = space.argmin(costs)
    assert space.contains(best.outputs).all()
    assert_allclose(best.values, values.min(axis=1), atol=1e-9)
    assert (best.bounds <= best.values + 1e-9).all()
    if isinstance(space, KBest):
        several = space.kbest(costs, 3)
        for outputs, found, expected in zip(several.outputs, several.values, np.sort(values)):
            there = np.isfinite(found)
            assert space.contains(outputs[there]).all()
            assert_allclose(found[there], expected[:3], atol=1e-9)


def assert_draws(space, costs, embedded):
    """Draws and means of the uniform distribution, and of the one that costs make."""
    rng = np.random.default_rng(0)
    assert space.contains(space.sample(5, rng)).all()
    assert_allclose(space.mean_embedding(), embedded.mean(axis=0), atol=1e-9)
    distribution = Inference.of(space).distribution(-costs)
    if distribution is None:
        return
    scores = -costs @ embedded.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    mean = weights @ embedded / weights.sum(axis=1, keepdims=True)
    assert_allclose(distribution.marginals(), mean, atol=1e-7)
    drawn = distribution.sample(4, rng)
    assert space.contains(drawn.reshape(-1, *drawn.shape[2:])).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@given(data=st.data(), seed=st.integers(0, 2**16))
@settings(max_examples=12)
def test_rows_have_their_own_constraints(name, data, seed):
    """Decided in one batch; the first row that has no output is named."""
    space, listed, asked, left = data.draw(restricted(name, 3))
    lost = np.flatnonzero(~left.any(axis=1))
    embedded = space.embed(listed)
    costs = np.random.default_rng(seed).integers(-3, 4, (3, embedded.shape[1])).astype(float)
    if len(lost):
        with pytest.raises(InfeasibleError) as error:
            narrowed(space, asked).argmin(costs)
        assert error.value.row == lost[0] or name in SEEN_AT_ONCE
        assert error.value.row in lost
        return
    narrow = narrowed(space, asked)
    best = narrow.argmin(costs)
    values = np.where(left, costs @ embedded.T, np.inf)
    assert narrow.contains(best.outputs).all()
    assert_allclose(best.values, values.min(axis=1), atol=1e-9)


# ------------------------------------------------------------------------------ quantities
A_UB, A_EQ = np.array([[1.0, 1.0, 0.0], [0.0, -1.0, -1.0]]), np.array([[1.0, -1.0, 1.0]])
ARCS = [("s", "a", 2), ("s", "t", 1), ("a", "t", 2)]
LEAVES = np.array([[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, -1.0]])  # of s, a and t
NUMBERS = st.lists(st.integers(-2, 2), min_size=3, max_size=3)


def limited(draw, name):
    """A narrowed space of three numbers, and what is known of it, as linprog takes it."""
    low, high, b = (np.array(draw(NUMBERS), float) for _ in range(3))
    within = list(zip(low, high))
    if name == "Box":
        inside = list(zip(np.maximum(low, -1), np.minimum(high, 1)))
        return lambda: Box(-np.ones(3), np.ones(3)).restrict(low=low, high=high), {"bounds": inside}
    if name == "Portfolios":
        inside = list(zip(np.maximum(low, 0), np.minimum(high / 2, 1)))
        rest = {"A_eq": np.ones((1, 3)), "b_eq": [1], "bounds": inside}
        return lambda: Portfolios(np.eye(3)).restrict(low=low, high=high / 2), rest
    if name == "Polytope":
        whole = Polytope(A_EQ, [0], A_UB, [1, 1], (-2, 2))
        rest = {"A_ub": A_UB, "b_ub": b[:2], "A_eq": A_EQ, "b_eq": b[2:], "bounds": within}
        return lambda: whole.restrict(b_eq=b[2:], b_ub=b[:2], bounds=within), rest
    supply = dict(zip("sat", b))
    rest = {"A_eq": LEAVES, "b_eq": b, "bounds": [(0, 2), (0, 1), (0, 2)]}
    return lambda: Flows(ARCS, {"s": 1, "t": -1}).restrict(supply=supply), rest


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Box", "Polytope", "Flows", "Portfolios"])
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_quantities_are_within_their_limits(name, data, seed):
    narrow, rest = limited(data.draw, name)
    cost = np.random.default_rng(seed).integers(-3, 4, 3).astype(float)
    crossed = any(low > high for low, high in rest["bounds"])
    least = None if crossed else linprog(cost, **rest).fun
    if least is None:
        with pytest.raises(ValueError):  # some are told as wrong limits
            narrow().argmin(costs_of(name, cost))
        return
    space = narrow()
    best = space.argmin(costs_of(name, cost))
    assert space.contains(best.outputs).all()
    assert_allclose(best.outputs @ cost, least, atol=1e-6)
    assert_allclose(best.values, least, atol=1e-6)


def costs_of(name, cost):
    """Costs of the coordinates; portfolios have one of the risk, boxes those of squares."""
    return np.append(cost, 0.0)[None] if name == "Portfolios" else cost[None]


def test_no_space_with_constraints_is_left_out():
    tested = {type(space).__name__ for spaces, *_ in CASES.values() for space in spaces}
    tested |= {"Box", "Polytope", "Flows", "Portfolios"}
    elsewhere = {"Interval", "SolverSpace"}  # a box of one number, and whatever a solver takes
    narrows = {name for name, (space, _) in SMALL.items() if isinstance(space, Restrictable)}
    assert narrows == tested | elsewhere
