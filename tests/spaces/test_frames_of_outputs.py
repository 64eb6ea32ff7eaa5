# SPDX-License-Identifier: BSD-3-Clause
"""Outputs in frames and columns of pandas, polars and pyarrow are the same outputs."""

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor
from skstruct.model_selection import evaluate
from skstruct.spaces import (
    Assignments,
    BinaryPolytope,
    Box,
    Candidates,
    Classes,
    Cliques,
    Cycles,
    GraphNodes,
    Graphs,
    Hierarchy,
    Interval,
    Knapsacks,
    Known,
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
    Simplex,
    SpanningTrees,
    Sphere,
    Strings,
    Tournaments,
)  # fmt: skip
from skstruct.spaces.infer_space import infer_space

N, ABC = 24, ("a", "b", "c")
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
T = (rng.random((N, 3)) < 0.5).astype(int)
T[0] = 1
CLOSED = T * np.array([1, 0, 0]) + T * T[:, :1] * np.array([0, 1, 1])
NAMES = [ABC[i] for i in rng.integers(0, 3, N)]
WORDS = [[ABC[i] for i in rng.integers(0, 3, 4)] for _ in range(N)]
ORDERS = [[ABC[i] for i in rng.permutation(3)] for _ in range(N)]
RANKS = [rng.permutation(3) + 1 for _ in range(N)]
SHARES = rng.dirichlet(np.ones(3), N)
PLACES = [["a", "b", "c", "d"], ["a", "c", "b", "d"], ["a", "b", "d", "c"]]
TREES = [[["a", "b"], ["b", "c"]], [["a", "c"], ["b", "c"]]]


def names_of(table):
    return [[name for name, inside in zip(ABC, row) if inside] for row in table]


def alternating(outputs):
    return [outputs[i % len(outputs)] for i in range(N)]


def gaps(table):
    return [[None if rng.random() < 0.2 else value for value in row] for row in table.tolist()]


# rows: tables with a column for each name, and columns of one output each
FRAMES = {
    "label sets": (LabelSets(), T),
    "label sets with names": (LabelSets(["c", "a", "b"]), T),
    "label sets with gaps": (LabelSets(), gaps(T)),
    "hierarchy": (Hierarchy([("a", "b"), ("a", "c")]), CLOSED),
    "hierarchy with gaps": (Hierarchy([("a", "b"), ("a", "c")]), gaps(CLOSED)),
    "knapsacks": (Knapsacks({"c": 1, "a": 1, "b": 1}, 3), T),
    "binary polytope": (BinaryPolytope([[1, 1, 1]], [3], labels=["b", "a", "c"]), T),
    "pairwise labels": (PairwiseLabels(networkx.path_graph(ABC)), T),
    "pairwise states": (PairwiseStates(networkx.path_graph(ABC)), [list(row)[:3] for row in WORDS]),
    "rankings": (Rankings(), RANKS),
    "partial orders": (PartialOrders(), RANKS),
    "box": (Box(), rng.normal(size=(N, 3))),
    "box with gaps": (Box(), gaps(rng.normal(size=(N, 3)))),
    "simplex": (Simplex(), SHARES),
    "portfolios": (Portfolios(np.eye(3), labels=ABC), SHARES),
    "polytope": (Polytope([[1, 1, 1]], [1], labels=["c", "b", "a"]), SHARES),
    "sphere": (Sphere(), SHARES / np.linalg.norm(SHARES, axis=1, keepdims=True)),
    "assignments": (Assignments(ABC, ABC), ORDERS),
    "none given": (None, T),
}
COLUMNS = {
    "classes": (Classes(), NAMES),
    "classes with gaps": (Classes(), [None, *NAMES[1:]]),
    "whole numbers": (Classes(), [ABC.index(name) for name in NAMES]),
    "levels": (Ordinal(["a", "b", "c"]), NAMES),
    "nodes": (GraphNodes(networkx.path_graph(ABC)), NAMES),
    "poset": (Poset([("a", "b"), ("a", "c")]), NAMES),
    "candidates": (Candidates(list(ABC)), NAMES),
    "interval": (Interval(), rng.normal(size=N)),
    "label sets": (LabelSets(), names_of(T)),
    "label sets with gaps": (LabelSets(), [None, *names_of(T)[1:]]),
    "hierarchy": (Hierarchy([("a", "b"), ("a", "c")]), names_of(CLOSED)),
    "rankings": (Rankings(), ORDERS),
    "sequences": (Sequences(), WORDS),
    "sequences with gaps": (Sequences(), [[None, *WORDS[0][1:]], *WORDS[1:]]),
    "texts": (Sequences(), ["".join(row) for row in WORDS]),
    "strings": (Strings("abc", length=4), ["".join(row) for row in WORDS]),
    "paths": (ShortestPaths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c"),
              alternating([["a", "b", "c"], ["a", "c"]])),
    "cycles": (Cycles(list("abcd")), alternating(PLACES)),
    "cliques": (Cliques(list("abcd")), alternating([["a", "b"], ["b", "c", "d"]])),
    "matchings": (Matchings(list("abcd")), alternating([[["a", "b"], ["c", "d"]], [["a", "c"]]])),
    "graphs": (Graphs(list("abc")), alternating(TREES)),
    "spanning trees": (SpanningTrees(list("abc")), alternating(TREES)),
    "tournaments": (Tournaments(list("abc")),
                    alternating([[["a", "b"], ["b", "c"], ["a", "c"]]])),
    "none given": (None, names_of(T)),
}  # fmt: skip
BY_PANDAS = {
    "frame": lambda rows: pd.DataFrame(list(map(list, rows)), columns=list(ABC)),
    "column": pd.Series,
}
TURNED = ["b", "c", "a"]
PACKAGES = {
    ("frame", "polars"): lambda rows: pl.DataFrame(
        list(map(list, rows)), schema=list(ABC), orient="row"
    ).select(TURNED),
    ("frame", "pyarrow"): lambda rows: pa.table(
        {name: [row[j] for row in rows] for j, name in enumerate(ABC)}
    ).select(TURNED),
    ("column", "polars"): pl.Series,
    ("column", "pyarrow"): lambda rows: pa.chunked_array([pa.array(list(rows))]),
    ("column", "array of pyarrow"): lambda rows: pa.array(list(rows)),
    ("column", "frame of polars"): lambda rows: pl.DataFrame({"y": rows}),
}
CASES = [
    (form, name, package)
    for form, cases in (("frame", FRAMES), ("column", COLUMNS))
    for name in cases
    for kind, package in PACKAGES
    if kind == form and name != "none given"
    if package not in ("frame of polars", "array of pyarrow") or name in ("label sets", "classes")
]
ENTRIES = [(form, "none given", package) for form, package in PACKAGES]
ENTRIES += [("frame", "hierarchy with gaps", "polars"), ("frame", "box", "pyarrow")]


def outputs_and_known(space, Y):
    if not Known.of(space).has_gaps(Y):
        return [space.fit_validate(Y)]
    partial = Known.of(space).read(Y)
    return [partial.outputs, partial.known]


def rows_of(form, name, package):
    space, rows = (FRAMES if form == "frame" else COLUMNS)[name]
    return space, BY_PANDAS[form](rows), PACKAGES[form, package](rows)


@pytest.mark.parametrize(("form", "name", "package"), CASES)
def test_every_space_reads_outputs_of_any_package(form, name, package):
    space, known, given = rows_of(form, name, package)
    # names that are learned are those of the columns, in the order of fit
    like = known[TURNED] if form == "frame" else known
    expected = outputs_and_known(clone(space), like)
    space = clone(space)
    for one, other in zip(outputs_and_known(space, given), expected, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if len(expected) == 1:
        assert np.array_equal(space.validate(known), space.validate(given))


@pytest.mark.parametrize(("form", "name", "package"), ENTRIES)
def test_learners_and_measures_read_outputs_of_any_package(form, name, package):
    space, known, given = rows_of(form, name, package)
    kind = ConditionalRiskMinimizer(space, smoother="kernel_ridge", alpha=1.0)
    model, other = clone(kind).fit(X, known), clone(kind).fit(X, given)
    assert np.allclose(model.decode(X).values, other.decode(X).values)
    for judge in (model.score, lambda X, y: evaluate(other, X, y, n_bootstrap=1)[0].mean):
        assert judge(X, given) == pytest.approx(judge(X, known), rel=1e-9)


def test_as_many_rows_as_labels_are_rows():
    """Six rows of six labels: columns were once taken for rows."""
    Y = np.triu(np.ones((6, 6), int))
    for frame in (pl.DataFrame(Y, schema=list("abcdef")), pa.table(dict(zip("abcdef", Y.T)))):
        space = infer_space(frame).fit(frame)
        assert space.labels_ == tuple("abcdef")
        assert np.array_equal(space.validate(frame), Y)


def permuted(frame):
    return frame.select(TURNED) if isinstance(frame, (pl.DataFrame, pa.Table)) else frame[TURNED]


TABLES = {
    "pandas": lambda T, names: pd.DataFrame(T, columns=list(names)),
    "polars": lambda T, names: pl.DataFrame(T, schema=list(names)),
    "pyarrow": lambda T, names: pa.table(dict(zip(names, T.T))),
}


@pytest.mark.parametrize("package", TABLES)
def test_blocks_of_frames_of_any_package(package):
    made = TABLES[package]
    kind = ConditionalRiskMinimizer(LabelSets(), kernel="rbf", alpha=1.0, random_state=0)
    blocks = [(made(X[i : i + 6], "uv"), made(T[i : i + 6], ABC)) for i in range(0, N, 6)]
    turned = [(rows, permuted(outputs)) for rows, outputs in blocks]
    frame = pd.DataFrame(X, columns=["u", "v"])
    expected = clone(kind).fit(lambda: zip(np.split(X, 4), np.split(T, 4)))
    for source in (lambda: blocks, iter(blocks), lambda: [blocks[0], *turned[1:]]):
        model = clone(kind).fit(source)
        assert model.space_.labels_ == ABC
        assert np.allclose(model.predict_marginals(frame), expected.predict_marginals(X))


@pytest.mark.parametrize("package", TABLES)
@pytest.mark.parametrize("space", [None, LabelSets()])
def test_regression_between_kernels_reads_outputs_by_name(package, space):
    made = TABLES[package](T, ABC)
    model = OutputKernelRegressor(space, alpha=0.1).fit(X, made)
    expected = OutputKernelRegressor(LabelSets(), alpha=0.1).fit(X, T).score(X, T)
    assert model.score(X, made) == model.score(X, permuted(made)) == expected > -0.5
    away = X + 1e-3  # rows that were not those of training
    one, other = (model.certify(away, Y, bound="held_out").value for Y in (made, permuted(made)))
    assert one == other
