# SPDX-License-Identifier: BSD-3-Clause
"""What is written as ARFF reads back the same, whatever the names and numbers."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct.datasets.dataset import named_edges
from skstruct.datasets.formats.arff import reading as arff_rows
from skstruct.datasets.formats.arff.reading import ArffTable, read_arff
from skstruct.datasets.formats.arff.writing import declared_hierarchy, write_arff, write_number
from skstruct.exceptions import DataFormatError
from skstruct.spaces.common.label_graph import LabelGraph

# Lone halves of surrogate pairs and NUL are in no text file.
characters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
nasty = st.one_of(
    st.text(st.sampled_from("ab ,'\"\\%{}?@/\t\n\r\v\x1c\u2028é#"), min_size=1, max_size=5),
    st.text(characters, max_size=4),
    st.sampled_from(["", "?", "numeric", "{", "%", "\\", "\\n", "'", "@data", "root", "\ufeff"]),
)
numbers = st.floats(allow_infinity=False)


@st.composite
def tables(draw):
    n, p = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    names = draw(st.lists(nasty, min_size=p + 1, max_size=p + 1, unique=True))
    columns, values = [], []
    for _ in range(p):
        words = draw(st.none() | st.lists(nasty, min_size=1, max_size=4, unique=True))
        codes = st.integers(0, len(words or ()) - 1).map(float) | st.just(np.nan)
        columns.append(draw(arrays(np.float64, n, elements=codes if words else numbers)))
        values.append(None if words is None else tuple(words))
    data = np.column_stack(columns)
    keys = {names[p]: tuple(draw(st.lists(nasty, min_size=n, max_size=n)))}
    keys = draw(st.sampled_from([{}, keys]))
    data = sparse.csr_array(data) if draw(st.booleans()) else data
    return ArffTable(tuple(names[:p]), tuple(values), data, keys=keys, relation=draw(nasty))


def again(table, relation=None):
    """Written and read, through bytes."""
    file = io.StringIO()
    write_arff(table, file, relation)
    lines = file.getvalue().encode().decode().split("\n")
    return read_arff(lines)


def dense(data):
    return data.toarray() if sparse.issparse(data) else data


@pytest.mark.slow
@settings(max_examples=300)
@given(tables(), st.booleans())
def test_tables_read_back_the_same(table, compiled):
    before = arff_rows.COMPILED_FROM
    arff_rows.COMPILED_FROM = 0 if compiled else 1 << 60
    try:
        read = again(table)
    finally:
        arff_rows.COMPILED_FROM = before
    assert (read.names, read.values, read.keys) == (table.names, table.values, table.keys)
    assert read.relation == (table.relation or "data")
    assert_array_equal(dense(read.data), dense(table.data))
    if len(table):
        assert sparse.issparse(read.data) == sparse.issparse(table.data)


labels = st.text(st.sampled_from("ab ,'\"\\%{}?é\t\n"), min_size=1, max_size=3)


@st.composite
def graphs(draw):
    names = draw(st.lists(labels, min_size=1, max_size=6, unique=True))
    pairs = [(i, j) for j in range(len(names)) for i in range(j)]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([]))
    order = draw(st.permutations(range(len(names))))
    index = {old: new for new, old in enumerate(order)}
    return LabelGraph(tuple(names[k] for k in order), [(index[i], index[j]) for i, j in arcs])


@st.composite
def trees_of_paths(draw):
    steps = st.lists(labels.filter(lambda s: s != "root"), min_size=1, max_size=3)
    return LabelGraph.read(["/".join(path) for path in draw(st.lists(steps, min_size=1))])


@pytest.mark.slow
@settings(max_examples=300)
@given(graphs() | trees_of_paths(), st.data(), st.booleans())
def test_hierarchies_read_back_the_same(graph, data, is_sparse):
    rows = data.draw(st.lists(st.lists(st.sampled_from(graph.names), unique=True), max_size=4))
    classes = [tuple(row) for row in rows]
    X = np.arange(len(rows), dtype=np.float64)[:, None]
    X = sparse.csr_array(X) if is_sparse else X
    read = again(ArffTable(("x",), (None,), X, graph, classes))
    assert read.classes == classes
    assert set(read.hierarchy.names) == set(graph.names)
    assert set(named_edges(read.hierarchy)) == set(named_edges(graph))


def test_labels_keep_their_order_where_parents_come_first():
    graph = LabelGraph(("b", "a", "c"), [(0, 2), (1, 2)])
    assert declared_hierarchy(graph) == "root/b,root/a,b/c,a/c"
    graph = LabelGraph(("c", "a"), [(1, 0)])
    assert declared_hierarchy(graph) == "root/a,a/c"


@pytest.mark.parametrize(
    ("names", "arcs"),
    [
        (("a@b",), []),
        (("a", ""), []),
        (("a", "a/b"), []),  # no arc from a to a/b, as the names would say
        (("a", "b/c"), [(0, 1)]),
        (("root", "a"), [(0, 1)]),
        (("root", "root/a"), [(0, 1)]),
    ],
)
def test_labels_that_would_read_otherwise_are_refused(names, arcs):
    with pytest.raises(DataFormatError):
        declared_hierarchy(LabelGraph(names, arcs))


@given(numbers)
def test_numbers_by_their_shortest_text(value):
    text = write_number(value)
    assert text == "?" if np.isnan(value) else repr(float(text)) == repr(value)


def test_infinite_numbers_and_zeros_are_refused():
    with pytest.raises(DataFormatError, match="infinite"):
        again(ArffTable(("x",), (None,), np.array([[np.inf]])))
    with pytest.raises(DataFormatError, match="no text file holds"):
        again(ArffTable(("a\0",), (None,), np.array([[1.0]])))
