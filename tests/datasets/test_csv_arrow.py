# SPDX-License-Identifier: BSD-3-Clause
"""CSV files by pyarrow are read as by Python's reader: the same data, the same errors."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skstruct.datasets.formats import csv_arrow
from skstruct.datasets.formats.columns import _is_number, as_numbers, is_missing
from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError

NUMBERS = ["1", "-2.5", "+3", " 4", "1e5", "1e999", "-0", ".5", "1.", "0.1", "5e-324", "1_0"]
NUMBERS += ["-", ".", "-.5e-3", "00000000000000000000012.5"]
NUMBERS += ["9007199254740993", "0.30000000000000004", "1e23", "--1", "1.2.3", "Infinity", "1e+"]
NUMBERS += ["12345678901234567890.25", "\v7\f", "1\x1f"]
MISSING = ["", "?", "NA", " nan", "NaN", "null", "None", "N/A", "inf", "nan(1)", "NAN", "-nan"]
TEXTS = ["a", "b c", "é", "'=1", "'tis", "x;y", '"q"', '"a,b"', '"two\nlines"', 'a"b', "\u2028"]
QUOTED = ['""', '"1.5"', '"NA"', '"a ""b"" c"', '"\n\n"', '"é"', '" "', '"q" ', '"q"r', '"open']
CELLS = st.sampled_from(NUMBERS) | st.sampled_from(MISSING) | st.sampled_from(TEXTS)
COLUMNS = st.sampled_from(
    [NUMBERS[:9], NUMBERS + MISSING[:8], TEXTS, NUMBERS + TEXTS + MISSING, QUOTED[:7], QUOTED]
)


def outcome(path, **options):
    """What a file is read as, or the error."""
    try:
        data = read_data(path, task="classes", targets="y", **options)
    except DataFormatError as error:
        return str(error)
    table = data.inputs
    outputs = list(map(str, data.outputs))
    return (table.names, table.values, table.data.tobytes(), outputs, data.remarks, data.index)


def both(path, monkeypatch, **options):
    """By pyarrow, and by Python's reader."""
    with monkeypatch.context() as here:
        here.setattr(csv_arrow, "suits", lambda path: True)
        found = outcome(path, **options)
        here.setattr(csv_arrow, "suits", lambda path: False)
        return found, outcome(path, **options)


@st.composite
def tables(draw):
    """Lines of a file: most are whole, some have a cell too few, or are empty."""
    kinds = draw(st.lists(COLUMNS, min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(*map(st.sampled_from, kinds)), min_size=1, max_size=6))
    lines = [",".join((*row, "yes")) for row in rows]
    odd = draw(st.sampled_from(["", "1,2,3,4,5,6", None, None, None, None]))
    if odd is not None:
        lines.insert(draw(st.integers(0, len(lines))), odd)
    header = ",".join([*(f"x{j}" for j in range(len(kinds))), "y"])
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return end.join([header, *lines]) + draw(st.sampled_from(["", end, end + end]))


@settings(max_examples=150, deadline=None)
@example(text="x,y\n1,yes\nnan(1),yes\n")
@example(text="x,y\n1,yes\n\n2,no\n")
@example(text='x,y\n"1",yes\n2,no\n')
@example(text="x,z,y\n1,a,yes\n2,b,no\n,,\n")
@given(text=tables())
def test_the_same_data_and_the_same_errors(text):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        path = Path(folder) / "t.csv"
        path.write_bytes(text.encode())
        found, expected = both(path, monkeypatch)
        assert found == expected


@pytest.mark.parametrize("many", [1, 1 << 25])
def test_blocks_of_any_size(tmp_path, monkeypatch, many):
    """Numbers first and names far below: the column is one of names from its first row."""
    monkeypatch.setattr(csv_arrow, "MANY_BYTES", many)
    n = 60_000
    late = ["3.25" if i != n - 2 else "many" for i in range(n)]
    early = ["?" if i else "none" for i in range(n)]
    lines = [f"{i},{late[i]},{early[i]},{'no' if i % 3 else 'yes'}" for i in range(n)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["i,late,early,y", *lines]))
    found, expected = both(path, monkeypatch)
    assert found == expected
    assert found[1] == (None, ("3.25", "many"), ("none",))


def test_a_plain_file_is_not_read_by_python(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_arrow, "suits", lambda path: True)
    path = tmp_path / "t.csv"
    path.write_bytes('x;y\n1.5;é\n"";"é"\n'.encode())
    monkeypatch.setattr("skstruct.datasets.formats.csv_files.row_blocks", None)
    data = read_data(path, targets="y", task="classes")
    np.testing.assert_array_equal(data.inputs.data, [[1.5], [np.nan]])
    assert list(data.outputs) == ["é", "é"]


@pytest.mark.parametrize("raw", [b"x,y\n1,\xff\n", b"x,y\n1,a\0\n", b"x,y\n", b"x,y\n\n", b"x,y"])
def test_bytes_that_are_no_table(tmp_path, monkeypatch, raw):
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    found, expected = both(path, monkeypatch)
    assert found == expected


@given(st.text(alphabet="0123456789+-.eEinfatyNAI_ \x1f\té", min_size=1))
@example("infinity ")
@example("nan_")
def test_a_text_is_a_number_by_one_rule(text):
    if not is_missing(text):
        assert _is_number(text) == (as_numbers([text]) is not None)
