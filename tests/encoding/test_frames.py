# SPDX-License-Identifier: BSD-3-Clause
"""Frames of several libraries, records and arrays: the same rows are the same numbers."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.validation import NotFittedError

from skstruct.encoding import TableEncoder
from skstruct.encoding.statistics import RunningMedian
from skstruct.exceptions import DataFormatError

pd = pytest.importorskip("pandas")
MOMENTS = st.datetimes(dt.datetime(1960, 1, 1), dt.datetime(2040, 12, 31))
CELLS = {
    "number": st.floats(-100, 100, allow_subnormal=False),
    "whole": st.integers(-9, 9),
    "boolean": st.booleans(),
    "names": st.sampled_from(["red", "blue", "green", "", "été"]),
    "date": MOMENTS.map(lambda moment: moment.replace(second=0, microsecond=0)),
    "day": st.dates(dt.date(1990, 1, 1), dt.date(2030, 1, 1)),
    "duration": st.integers(-5000, 5000).map(lambda n: dt.timedelta(minutes=n)),
}


@st.composite
def frames(draw):
    """Columns by name: values of one kind, None where missing, and at least one that is not."""
    n = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    columns = {}
    for j, kind in enumerate(kinds):
        cells = draw(st.lists(CELLS[kind] | st.none(), min_size=n, max_size=n))
        cells[draw(st.integers(0, n - 1))] = draw(CELLS[kind])
        columns[f"{kind} {j}"] = cells
    return columns


def records(columns):
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


# ---------------------------------------------------------------------- the definition
def days(moment):
    moment = moment if isinstance(moment, dt.datetime) else dt.datetime(*moment.timetuple()[:3])
    return (moment - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)


PARTS = {
    "year": lambda d: d.year,
    "month": lambda d: d.month,
    "weekday": lambda d: d.weekday(),
    "hour": lambda d: getattr(d, "hour", 0),
}


def column_slowly(cells, later):
    """Features of later cells of a column of training, without scale: lists by name."""
    known = [cell for cell in cells if cell is not None]

    def filled(number):
        numbers = [number(cell) for cell in known]
        return [float(np.median(numbers)) if c is None else float(number(c)) for c in later]

    if isinstance(known[0], str):
        names = sorted(set(known))
        found = {f"={name}": [float(cell == name) for cell in later] for name in names}
        if len(names) > 2:
            return found
        return {"": found[f"={names[1]}"] if len(names) == 2 else [0.0] * len(later)}
    if isinstance(known[0], dt.date):
        first = min(map(days, known))
        found = {".days": filled(lambda cell: days(cell) - first)}
        varying = [part for part, of in PARTS.items() if len(set(map(of, known))) > 1]
        return found | {f".{part}": filled(PARTS[part]) for part in varying}
    if isinstance(known[0], dt.timedelta):
        return {"": filled(lambda cell: cell / dt.timedelta(days=1))}
    return {"": filled(float)}


def slowly(columns, later):
    """Features by name, from the definition."""
    found = {}
    for name, cells in columns.items():
        features = column_slowly(cells, later[name])
        found |= {f"{name}{end}": numbers for end, numbers in features.items()}
    for name, cells in columns.items():
        if None in cells:
            found[f"{name}=<missing>"] = [float(cell is None) for cell in later[name]]
    return found


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.data(), frames())
def test_encoding_is_that_of_the_definition(data, columns):
    n = len(next(iter(columns.values())))
    later = {
        name: data.draw(st.lists(st.sampled_from([*cells, None]), min_size=n, max_size=n))
        for name, cells in columns.items()
    }
    encoder = TableEncoder("none").fit(records(columns))
    for rows in (columns, later):
        expected = slowly(columns, rows)
        assert encoder.get_feature_names_out().tolist() == list(expected)
        X = encoder.transform(records(rows))
        np.testing.assert_allclose(X, np.array(list(expected.values())).T, rtol=0, atol=1e-9)


# ---------------------------------------------------------------------- libraries
def frame_of(library, columns):
    if library == "pandas":
        return pd.DataFrame(columns)
    made = pytest.importorskip(library)
    return made.DataFrame(columns) if library == "polars" else made.table(columns)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@settings(max_examples=40, deadline=None)
@given(frames())
def test_all_libraries_give_the_same_numbers(library, columns):
    frame, expected = frame_of(library, columns), TableEncoder().fit(records(columns))
    encoder, X = TableEncoder().fit(frame), expected.transform(records(columns))
    assert encoder.feature_names_ == expected.feature_names_
    np.testing.assert_allclose(encoder.transform(frame), X, rtol=0, atol=1e-9)
    np.testing.assert_allclose(expected.transform(frame), X, rtol=0, atol=1e-9)
    cells = np.empty((len(X), len(columns)), dtype=object)
    for j, column in enumerate(columns.values()):
        cells[:, j] = column
    np.testing.assert_allclose(encoder.transform(cells), X, rtol=0, atol=1e-9)


def test_types_of_pandas():
    frame = pd.DataFrame(
        {
            "category": pd.Categorical(["u", None, "v"], categories=["w", "v", "u"]),
            "numbered": pd.Categorical([3, 1, 2]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, None, False], dtype="boolean"),
            "zone": pd.to_datetime(["2020-07-01 23:30", None, "2020-07-03 00:00"]).tz_localize(
                "Europe/Berlin"
            ),
            "packed": pd.arrays.SparseArray([0.0, 0.0, 1.5]),
            "money": [Decimal("1.5"), None, Decimal(2)],
            "clock": [dt.time(6), None, dt.time(18)],
        }
    )
    encoder = TableEncoder("none").fit(frame)
    found = dict(zip(encoder.feature_names_, encoder.transform(frame).T.tolist()))
    assert found["category"] == [0, 0, 1]
    assert [found[f"numbered={k}"] for k in (1, 2, 3)] == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert found["whole"] == [1, 2, 3]
    assert found["truth"] == [1, 0.5, 0]
    np.testing.assert_allclose(found["zone.days"], [0, (24.5 / 24) / 2, 24.5 / 24])
    assert found["zone.hour"] == [23, 11.5, 0]
    assert found["zone.weekday"] == [2, 3, 4]
    assert found["packed"] == [0, 0, 1.5]
    assert found["money"] == [1.5, 1.75, 2]
    assert found["clock"] == [0.25, 0.5, 0.75]
    missing = [name for name in found if name.endswith("=<missing>")]
    assert len(missing) == 6
    assert all(found[name] == [0, 1, 0] for name in missing)
    with pytest.raises(NotFittedError):
        TableEncoder().transform(frame)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_order_of_columns_and_further_ones_do_not_matter_but_missing_ones_do(library):
    columns = {"size": [1.0, None, 3.0], "sky": ["sun", "rain", "snow"]}
    frame = frame_of(library, columns)
    encoder = TableEncoder().fit(frame)
    other = frame_of(library, {"more": [1, 2, 3], "sky": columns["sky"], "size": columns["size"]})
    np.testing.assert_array_equal(encoder.transform(other), encoder.transform(frame))
    assert encoder.n_features_in_ == 2
    assert encoder.feature_names_in_.tolist() == ["size", "sky"]
    with pytest.raises(DataFormatError, match=r"reads 2 columns, and 1 of them .*'size'"):
        encoder.transform(frame_of(library, {"sky": ["sun"]}))


# ---------------------------------------------------------------------- arrays
def test_arrays_are_found_by_position():
    cells = np.array([["a", 1.0], ["b", None], ["c", 3.0]], dtype=object)
    encoder = TableEncoder("none").fit(cells)
    assert list(encoder.feature_names_) == ["x0=a", "x0=b", "x0=c", "x1", "x1=<missing>"]
    expected = [[1, 0, 0, 1, 0], [0, 1, 0, 2, 1], [0, 0, 1, 3, 0]]
    np.testing.assert_array_equal(encoder.transform(cells), expected)
    np.testing.assert_array_equal(encoder.transform(cells.tolist()), expected)
    with pytest.warns(UserWarning, match="feature names"):
        framed = encoder.transform(pd.DataFrame(cells, columns=["p", "q"]))
    np.testing.assert_array_equal(framed, expected)
    with pytest.raises(ValueError, match="X has 1 features, but TableEncoder is expecting 2"):
        encoder.transform(cells[:, :1])


def test_numbers_are_as_they_are_where_nothing_is_missing():
    X = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(TableEncoder("auto").fit_transform(X), X)
    np.testing.assert_array_equal(TableEncoder("auto").fit_transform(X.astype(object)), X)
    packed = TableEncoder("auto").fit_transform(sparse.csr_array(X))
    assert sparse.issparse(packed)
    np.testing.assert_array_equal(packed.toarray(), X)
    dates = np.array([["2020-01-01", "2020-01-03"], ["2020-01-02", "2020-01-09"]], dtype="M8[D]")
    made = TableEncoder("none").fit(dates)
    assert made.transform(dates)[:, 0].tolist() == [0.0, 1.0]


# ---------------------------------------------------------------------- errors
BAD = {
    "texts among numbers": (
        [1.0, None, "two"],
        DataFormatError,
        "row 3, column 'a': a text, 'two'",
    ),
    "numbers among texts": (["one", 2], DataFormatError, "row 2, column 'a': one of numbers, '2'"),
    "dates among numbers": ([1, dt.date(2020, 1, 1)], DataFormatError, "row 2, .*among numbers"),
    "lists": ([[1], [2]], TypeError, "row 1, column 'a': .* string or a number, not 'list'"),
    "infinite": ([0.5, np.inf], DataFormatError, "row 2, column 'a': an infinite number"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_column_is_named(name):
    cells, kind, said = BAD[name]
    column = pd.Series(cells, dtype=object)
    for X in ([{"a": cell} for cell in cells], pd.DataFrame({"a": column})):
        with pytest.raises(kind, match=said):
            TableEncoder().fit(X)


def test_columns_of_another_kind_than_in_training_are_named():
    day = dt.datetime(2020, 1, 1)
    encoder = TableEncoder().fit([{"when": day, "size": 1.5, "sky": "sun"}] * 2)
    good = {"when": day, "size": "2.5", "sky": 3}  # a number in a text, a name in a number
    assert np.isfinite(encoder.transform([good])).all()
    for wrong, said in (
        ({"when": 3.0}, "'when' held dates when the model was fitted; here it holds numbers"),
        ({"size": "big"}, "row 1, column 'size': .* held numbers .* holds 'big'"),
        ({"sky": day}, "'sky' held names when the model was fitted; here it holds dates"),
    ):
        with pytest.raises(DataFormatError, match=said):
            encoder.transform([good | wrong])
    with pytest.raises(DataFormatError, match="there are no rows"):
        encoder.transform(pd.DataFrame({"when": [], "size": [], "sky": []}))
    twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.raises(DataFormatError, match="2 columns are called 'a'"):
        TableEncoder().fit(twice)


def test_a_column_that_was_empty_says_nothing_later():
    encoder = TableEncoder("auto").fit([{"a": None, "b": 1.0}, {"a": None, "b": 2.0}])
    assert encoder.feature_names_ == ("a", "b", "a=<missing>")
    for cell in ("new", 7.5, dt.date(2020, 1, 1)):
        found = encoder.transform([{"a": cell, "b": 1.5}, {"a": None, "b": 1.5}])
        assert found.tolist() == [[0, 1.5, 0], [0, 1.5, 1]]


# ---------------------------------------------------------------------- words
def test_description():
    frame = pd.DataFrame({"a": [1.0, None], "b": ["x", "y"], "c": [True, False]})
    said = "1 column of numbers, scaled, 1 of truth values, and 1 of names, one-hot; missing in 1"
    assert TableEncoder().fit(frame).describe() == f"{said}: 4 features"
    plain = TableEncoder("auto").fit(frame[["a"]])
    assert plain.describe() == "1 column of numbers, as they are; missing in 1: 2 features"


def test_rare_names_share_a_column():
    names = [f"n{k:02d}" for k in range(25)] + ["n00", "n00", "n01"]
    encoder = TableEncoder().fit([{"name": name} for name in names])
    assert encoder.feature_names_ == ("name",)  # n00, and 1 for the others
    X = encoder.transform([{"name": name} for name in ("n00", "n01", "n24", "unknown")])
    assert X[:, 0].tolist() == [0, 1, 1, 0]
    several = TableEncoder(rare=2).fit([{"name": name} for name in names])
    assert several.feature_names_ == ("name=n00", "name=n01", "name=<rare>")
    X = several.transform([{"name": name} for name in ("n00", "n01", "n24", "unknown")])
    assert X.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.floats(-9, 9, allow_subnormal=False)), max_size=6))
def test_running_medians(blocks):
    median = RunningMedian()
    for block in blocks:
        median.add(np.array(block, dtype=float))
    numbers = [number for block in blocks for number in block]
    assert median.value == (np.median(numbers) if numbers else 0.0)


def test_running_medians_of_many_numbers():
    rng = np.random.default_rng(0)
    median = RunningMedian()
    numbers = rng.permutation(200_001)
    for block in np.array_split(numbers, 37):
        median.add(block.astype(float))
    assert abs(median.value - 100_000) < 200  # a thousandth of the ranks
