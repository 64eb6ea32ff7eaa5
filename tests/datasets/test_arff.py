# SPDX-License-Identifier: BSD-3-Clause
"""The ARFF reader against texts written by hand and tables written at random."""

import gzip
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct.datasets.formats.arff import reading as arff_rows
from skstruct.datasets.formats.arff.reading import ArffError, check_same_declarations, read_arff

WEATHER = """
% written by hand
@RELATION 'a b'

@attribute temperature\tNUMERIC
@attribute 'wind speed' real
@attribute outlook {sunny, 'light rain', "snow, or \\"sleet\\""}
@attribute days integer
@attribute \t umbrella   {no,yes}

@data
21.5, 3, sunny, 1, no
%?,?,?,?,?

-1e3,?,'light rain',2 ,yes
?,0.5,"snow, or \\"sleet\\"",3,?
7,8,?,4,yes
"""

TREE = """@attribute id key
@attribute x numeric
@attribute class hierarchical a,a/b,c/d/e
@data
first,1,a/b@c
'second, too',2,a
"""

GRAPH = """@attribute x numeric
@attribute class hierarchical root/a,a/b,a/c,b/d,c/d,root/alone
@data
1,d
2,alone@b
"""


@pytest.fixture(params=["python", "compiled"], autouse=True)
def way(request, monkeypatch):
    """All of this holds of both ways to read rows."""
    monkeypatch.setattr(arff_rows, "COMPILED_FROM", 0 if request.param == "compiled" else 1 << 60)


def read(text):
    return read_arff(text.splitlines())


def test_dense():
    table = read(WEATHER)
    assert table.names == ("temperature", "wind speed", "outlook", "days", "umbrella")
    outlooks = ("sunny", "light rain", 'snow, or "sleet"')
    assert table.values == (None, None, outlooks, None, ("no", "yes"))
    nan = np.nan
    expected = [[21.5, 3, 0, 1, 0], [-1e3, nan, 1, 2, 1], [nan, 0.5, 2, 3, nan], [7, 8, nan, 4, 1]]
    assert_array_equal(table.data, expected)
    assert table.hierarchy is None
    assert table.classes is None


def test_one_hot():
    X, names = read(WEATHER).one_hot()
    assert names[2:5] == ("outlook=sunny", "outlook=light rain", 'outlook=snow, or "sleet"')
    assert names[5:] == ("days", "umbrella")
    assert_array_equal(X[:, 2:5], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert_array_equal(X[:, 6], [0, 1, 0, 1])
    assert_array_equal(np.isnan(X).any(axis=1), [False, True, True, False])


def test_sparse():
    text = """@attribute a numeric
@attribute b {x,'y z',w}
@attribute id key
@attribute c {0,1}
@data
{0 2.5, 1 'y z',2 first}
{ }
{1 ?, 3 1}
{0 ?,3 ?}
"""
    table = read(text)
    assert sparse.issparse(table.data)
    nan = np.nan
    expected = [[2.5, 1, 0], [0, 0, 0], [0, nan, 1], [nan, 0, nan]]
    assert_array_equal(table.data.toarray(), expected)
    X, names = table.one_hot()
    assert names == ("a", "b=x", "b=y z", "b=w", "c")
    expected = [[2.5, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1], [nan, 1, 0, 0, 0]]
    assert_array_equal(X.toarray(), expected)


def test_hierarchy_of_paths():
    table = read(TREE)
    assert table.names == ("x",)
    assert_array_equal(table.data, [[1], [2]])
    assert table.hierarchy.names == ("a", "a/b", "c", "c/d", "c/d/e")
    assert table.classes == [("a/b", "c"), ("a",)]


def test_hierarchy_of_arcs():
    table = read(GRAPH)
    assert table.hierarchy.names == ("a", "b", "c", "d", "alone")
    assert_array_equal(table.hierarchy.dag.n_parents, [0, 1, 1, 2, 0])
    assert table.classes == [("d",), ("alone", "b")]


def test_sparse_hierarchy():
    header = "@attribute x numeric\n@attribute class hierarchical a,a/b\n@data\n"
    assert read(header + "{0 1,1 a/b}\n{1 a@a/b}").classes == [("a/b",), ("a", "a/b")]
    with pytest.raises(ArffError, match="line 5: no value for 'class'"):
        read(header + "{1 a}\n{0 1}")


def test_strings_are_nominal_with_the_values_seen():
    header = "@attribute s string\n@attribute x numeric\n@data\n"
    table = read(header + "b,1\n'a, c',2\n?,3\nb,4")
    assert table.values == (("b", "a, c"), None)
    assert table.strings == ("s",)
    assert_array_equal(table.data, [[0, 1], [1, 2], [np.nan, 3], [0, 4]])
    table = read(header + "{0 b,1 1}\n{1 2}")  # what a sparse row omits is the empty string
    assert table.values == (("", "b"), None)
    assert_array_equal(table.data.toarray(), [[1, 1], [0, 2]])
    table = read(header + "{0 b,1 1}\n{0 c}")
    assert table.values == (("b", "c"), None)
    assert_array_equal(table.data.toarray(), [[0, 1], [1, 0]])


def test_keys_name_the_rows():
    assert read(TREE).keys == {"id": ("first", "second, too")}
    assert read(GRAPH).keys == {}


def test_no_label_at_all():
    assert read(TREE + "x,3,?").classes == [("a/b", "c"), ("a",), ()]


def test_escapes_and_quotes():
    text = r"""@attribute 'a\'b\t{50%}, c' numeric
@attribute "say \"x\"" {'?', 'a\nb', "it's", }}
@data
1,'?'
2,'a\nb'
3,"it's"
4,?
5,}
"""
    table = read(text)
    assert table.names == ("a'b\t{50%}, c", 'say "x"')
    assert table.values[1] == ("?", "a\nb", "it's", "}")
    assert_array_equal(table.data[:, 1], [0, 1, 2, np.nan, 3])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(tmp_path, end):
    path = tmp_path / "weather.arff"
    path.write_bytes(b"\xef\xbb\xbf" + WEATHER.replace("\n", end).encode())
    table = read_arff(path)
    assert_array_equal(table.data, read(WEATHER).data)
    assert table.relation == "a b"


def test_no_rows():
    assert read("@attribute x numeric\n@attribute y {a,b}\n@data").data.shape == (0, 2)


X, XY = "@attribute x numeric\n", "@attribute x numeric\n@attribute y {a,b}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        (XY + "@data\n1,a\n\n2", 6, 1, "1 values for 2 attributes"),
        (XY + "@data\n1,a,b", 4, 3, "3 values for 2 attributes"),
        (XY + "@data\n1,a\n2,c", 5, 2, "'c' is none of a, b .attribute 'y'"),
        (XY + "@data\n1,a\n%\nfoo,a", 6, 1, "'foo' is not a number .attribute 'x'"),
        (XY + "@data\n1_0,a", 4, 1, "'1_0' is not a number"),
        (XY + "@data\n,a", 4, 1, "'' is not a number"),
        (XY + "@data\n1,'a", 4, None, "a quote is never closed"),
        (XY + "@data\n{0 1}\n{1 c}", 5, 2, "'c' is none of a, b"),
        (XY + "@data\n{0 1}\n{0 z}", 5, 1, "'z' is not a number"),
        (XY + "@data\n{0 1}\n1,a", 5, None, "expected a row {position value, ...}"),
        (XY + "@data\n1,a\n{0 1,1 a}", 5, None, "a sparse row among others"),
        (XY + "@data\n{0 1,2 1}", 4, 2, "positions rise and end at 1; got 2 after 0"),
        (XY + "@data\n{1 a,0 1}", 4, 2, "got 0 after 1"),
        (XY + "@data\n{x 1}", 4, 1, "expected 'position value', got 'x 1'"),
        (XY + "@data\n{0}", 4, 1, "expected 'position value', got '0'"),
        (X + "@attribute s date\n@data", 2, None, "'s' is of type 'date'; known are numeric"),
        (X + "@attribute s date yyyy\n@data", 2, None, "Write dates as numbers"),
        (X + "@attribute s relational\n@data", 2, None, "known are numeric"),
        (X + "@attribute s {a,,b}\n@data", 2, None, "a nominal value is empty"),
        (X + "@data 1", 2, None, "nothing follows @data"),
        (XY + "@data\n1,a,{5}", 4, None, "weights of rows are not read; remove '.5.'"),
        (XY + "@data\n{0 1},{5}", 4, None, "weights of rows are not read"),
        (XY + "@data\n1,a\nnan,b", 5, 1, "'nan' is not a finite number; a missing one is"),
        (XY + "@data\n1e999,a", 4, 1, "'1e999' is not a finite number"),
        (XY + "@data\n٣,a", 4, 1, "'٣' is not a number"),
        (XY + "@data\n1 2,a", 4, 1, "'1 2' is not a number"),
        (XY + "@data\n{0 1,}", 4, 2, "expected 'position value', got ''"),
        (XY + "@data\n{9999999999 1}", 4, 1, "expected 'position value'"),
        (X + "@attribute s\n@data", 2, None, "expected '@attribute name type'"),
        (X + "@attribute s {a,b\n@data", 2, None, "lack the closing brace"),
        (X + "@attribute s {a,b,a}\n@data", 2, None, "a nominal value is listed twice"),
        (X + "1,2", 2, None, "expected @attribute or @data, got '1,2'"),
        (X, 1, None, "ends without a @data line"),
        ("\n@data\n", 2, None, "@data comes before any @attribute"),
        ("@attribute c hierarchical a\n" + X, 2, None, "'c' has to be the last"),
        ("@attribute c hierarchical a//b", 1, None, "empty step"),
        ("@attribute c hierarchical a" + "/a" * 500_000, 1, None, "more than 200 steps"),
        ("@attribute c hierarchical root/a,a/b/c", 1, None, "expected an arc parent/child"),
        ("@attribute c hierarchical root/a,a/b,b/a", 1, None, "no cycles"),
        (TREE + "x,3,a@a/c", 7, 3, "the label 'a/c' is not in the declared hierarchy"),
    ],
)
def test_errors(text, line, column, problem):
    with pytest.raises(ArffError, match=problem) as caught:
        read(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    where = f"line {line}: " if column is None else f"line {line}, column {column}: "
    assert str(caught.value).startswith(where)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_path(tmp_path):
    path = tmp_path / "weather.arff.gz"
    path.write_bytes(gzip.compress(WEATHER.encode()))
    assert read_arff(path).data.shape == read_arff(str(path)).data.shape == (4, 5)
    path.write_bytes(gzip.compress(b"@data"))
    with pytest.raises(ArffError) as caught:
        read_arff(path)
    assert str(caught.value) == f"{path}, line 1: @data comes before any @attribute."


def test_parts_must_agree():
    check_same_declarations([read(TREE), read(TREE)], "trees")
    with pytest.raises(ValueError, match="'trees' declare different"):
        check_same_declarations([read(TREE), read(TREE.replace("a/b", "a/f"))], "trees")


def test_many_rows_come_in_blocks(monkeypatch):
    monkeypatch.setattr(arff_rows, "BLOCK_CHARACTERS", 10)
    header = "@attribute x numeric\n@attribute s string\n@attribute y {a,b}\n@data\n"
    expected = [[i, i % 7, i % 2] for i in range(50)]
    dense = read(header + "\n".join(f"{i},s{i % 7},{'ab'[i % 2]}" for i in range(50)))
    assert_array_equal(dense.data, expected)
    rows = (f"{{0 {i},1 s{i % 7},2 {'ab'[i % 2]}}}" for i in range(50))
    assert_array_equal(read(header + "\n".join(rows)).data.toarray(), expected)


numbers = st.floats(allow_infinity=False, width=64)
words = st.text("abc ,'\"\\%{}?é", min_size=1, max_size=4).filter(lambda word: word == word.strip())


def quoted(word):
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=numbers),
    st.lists(words, min_size=1, max_size=4, unique=True),
    st.data(),
)
def test_round_trip(data, values, draw):
    n, p = data.shape
    codes = draw.draw(arrays(np.int64, n, elements=st.integers(0, len(values) - 1)))
    lines = [f"@attribute x{j} numeric" for j in range(p)]
    lines += [f"@attribute 'the class' {{{','.join(map(quoted, values))}}}", "@data"]
    for row, code in zip(data, codes):
        cells = ["?" if np.isnan(value) else repr(float(value)) for value in row]
        lines.append(",".join([*cells, quoted(values[code])]))
    table = read_arff(lines)
    assert table.values == (None,) * p + (tuple(values),)
    assert_array_equal(table.data, np.column_stack([data, codes]))
