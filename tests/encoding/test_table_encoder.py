# SPDX-License-Identifier: BSD-3-Clause
"""Tables as numbers, the same way for all later rows: against the definition, cell by cell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from skstruct.encoding import TableEncoder
from skstruct.encoding.tables import Table
from skstruct.exceptions import DataFormatError

SKY = ("sunny", "rainy", "cloudy")


@st.composite
def tables(draw):
    """Up to four columns, numeric, two-valued or many-valued, with gaps."""
    n = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from([None, ("no", "yes"), SKY]), min_size=1, max_size=4))
    number = st.floats(-1e3, 1e3, allow_subnormal=False) | st.just(np.nan)
    columns = []
    for values in kinds:
        cell = number if values is None else st.sampled_from([*range(len(values)), np.nan])
        columns.append(draw(st.lists(cell, min_size=n, max_size=n)))
    names = tuple(f"c{j}" for j in range(len(kinds)))
    return Table(names, tuple(kinds), np.array(columns, dtype=np.float64).T)


def slowly(train, table, rare=3, many=20, scaled=True):
    """Encoded cell by cell, from the definition."""
    rows = []
    for i in range(len(table)):
        row, flags = [], []
        for j, values in enumerate(train.values):
            value, column = table.data[i, j], train.data[:, j]
            if np.isnan(column).any():
                flags.append(float(np.isnan(value)))
            known = column[~np.isnan(column)]
            if values is None:
                row.append(number(value, known, scaled))
            else:
                row += indicators(value, known, values, rare, many)
        rows.append(row + flags)
    return np.array(rows)


def number(value, known, scaled):
    value = value if not np.isnan(value) else np.median(known) if len(known) else 0.0
    mean = known.mean() if len(known) else 0.0
    width = np.sqrt(((known - mean) ** 2).mean()) if len(known) else 0.0
    plain = set(known) <= {0.0, 1.0} or width**2 <= 1e-20 * max(1.0, mean**2)
    return value if plain or not scaled else (value - mean) / width


def indicators(value, known, values, rare, many):
    slots = [[k] for k in range(len(values))]
    few = [k for k in range(len(values)) if (known == k).sum() < rare]
    if len(values) > many and few:
        slots = [[k] for k in range(len(values)) if k not in few] + [few]
    found = [float(value in slot) for slot in slots]
    return found if len(slots) > 2 else found[1:] or [0.0]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_encoding_is_that_of_the_definition(table, rare, many, scaled):
    encoder = TableEncoder("standard" if scaled else "none", rare, many).fit(table)
    X, expected = encoder.transform(table), slowly(table, table, rare, many, scaled)
    np.testing.assert_allclose(X, expected, rtol=1e-9, atol=1e-9)
    assert X.shape[1] == len(encoder.get_feature_names_out())
    packed = Table(table.names, table.values, sparse.csr_array(table.data))
    plain = TableEncoder("none", rare, many)
    np.testing.assert_allclose(
        plain.fit(packed).transform(packed).toarray(), slowly(table, table, rare, many, False)
    )


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(tables(), tables())
def test_later_rows_are_encoded_by_the_rows_of_training(table, later):
    """Of columns that are of the same kind; gaps that only later rows have are filled."""
    names = [n for n, v in zip(table.names, table.values) if v in later.values]
    if not names:
        return
    train = table.take([table.names.index(name) for name in names])
    columns = [later.values.index(values) for values in train.values]
    new = Table(train.names, train.values, later.data[:, columns])
    X = TableEncoder().fit(train).transform(new)
    np.testing.assert_allclose(X, slowly(train, new), rtol=1e-9, atol=1e-9)
    assert not np.isnan(X).any()


@settings(max_examples=50, deadline=None)
@given(tables(), st.randoms())
def test_columns_are_found_by_name(table, random):
    order = list(range(len(table.names)))
    random.shuffle(order)
    more = Table(("more",), (None,), np.zeros((len(table), 1)))
    mixed = table.take(order)
    mixed = Table(
        (*mixed.names, *more.names), (*mixed.values, None), np.hstack([mixed.data, more.data])
    )
    encoder = TableEncoder().fit(table)
    np.testing.assert_array_equal(encoder.transform(mixed), encoder.transform(table))


def test_nominal_values_are_found_by_name_and_new_ones_give_zeros():
    table = Table(("sky",), (SKY,), np.array([[0.0], [1.0], [2.0]]))
    encoder = TableEncoder().fit(table)
    other = Table(("sky",), (("cloudy", "foggy"),), np.array([[0.0], [1.0], [np.nan]]))
    np.testing.assert_array_equal(encoder.transform(other), [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    assert encoder.feature_names_ == ("sky=sunny", "sky=rainy", "sky=cloudy")


def test_nominal_values_that_look_like_numbers_in_a_later_file():
    table = Table(("room",), (("1", "2", "2b"),), np.array([[0.0], [1.0], [2.0]]))
    later = Table(("room",), (None,), np.array([[2.0], [1.0], [7.0]]))
    X = TableEncoder().fit(table).transform(later)
    np.testing.assert_array_equal(X, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_declared_values_that_are_numbers_and_columns_without_any():
    table = Table(("a",), (None,), np.array([[0.0], [1.0], [0.0]]))
    encoder = TableEncoder().fit(table)
    declared = Table(("a",), (("1", "0"),), np.array([[0.0], [1.0], [np.nan]]))
    np.testing.assert_allclose(encoder.transform(declared), [[1.0], [0.0], [0.0]])
    nothing = Table(("a",), ((),), np.array([[np.nan]]))
    np.testing.assert_allclose(encoder.transform(nothing), [[0.0]])


def test_sparse_tables_stay_sparse():
    data = sparse.csr_array(np.array([[0.0, 3.0], [1.0, 0.0], [1.0, np.nan], [0.0, 0.0]]))
    table = Table(("a", "b"), (None, None), data)
    X = TableEncoder().fit(table).transform(table)
    assert sparse.issparse(X)
    width = np.sqrt(9 / 3)  # of the known numbers, zeros among them; their median is zero
    np.testing.assert_allclose(X.toarray()[:, 0], [0, 1, 1, 0])
    np.testing.assert_allclose(X.toarray()[:, 1], [3 / width, 0, 0, 0])
    np.testing.assert_allclose(X.toarray()[:, 2], [0, 0, 1, 0])
    assert X.nnz == 4


def test_numbered_features_that_a_sparse_file_does_not_reach_are_zero():
    train = Table(("1", "2", "3"), (None,) * 3, sparse.csr_array(np.eye(3)))
    new = Table(("1", "2"), (None,) * 2, sparse.csr_array(np.eye(2)))
    X = TableEncoder().fit(train).transform(new)
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 0], [0, 1, 0]])
    named = Table(("a", "2"), (None,) * 2, sparse.csr_array(np.eye(2)))
    with pytest.raises(DataFormatError, match="2 of them are not"):
        TableEncoder().fit(train).transform(named)


def test_missing_columns_and_texts_for_numbers_are_reported():
    table = Table(("a", "b"), (None, None), np.zeros((2, 2)))
    encoder = TableEncoder().fit(table)
    with pytest.raises(DataFormatError, match=r"reads 2 columns, and 1 of them .*'b'"):
        encoder.transform(table.take([0]))
    texts = Table(("a", "b"), (("x",), None), np.zeros((2, 2)))
    with pytest.raises(DataFormatError, match=r"'a' held numbers .* holds 'x'"):
        encoder.transform(texts)
    infinite = Table(("a", "b"), (None, None), np.array([[0.0, 1.0], [np.inf, 2.0]]))
    for data in (infinite.data, sparse.csr_array(infinite.data)):
        with pytest.raises(DataFormatError, match="row 2, column 'a' is infinite"):
            encoder.transform(Table(infinite.names, infinite.values, data))
    with pytest.raises(DataFormatError, match="no columns"):
        TableEncoder().fit(table.take([]))
    for wrong, said in (({"scale": "log"}, "scale is one of"), ({"rare": 0}, "rare is a whole")):
        with pytest.raises(ValueError, match=said):
            TableEncoder(**wrong).fit(table)
