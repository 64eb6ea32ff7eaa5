# SPDX-License-Identifier: BSD-3-Clause
"""Records that are read quickly are read as the encoder reads them."""

import numpy as np
import pytest

from skstruct.encoding import TableEncoder
from skstruct.encoding.frames import table_of
from skstruct.encoding.quick_records import quick_table
from skstruct.encoding.tables import Table

ROWS = [
    {"a": 1.0, "b": "x", "c": True},
    {"a": 2, "b": "y", "c": False},
    {"a": 4.0, "b": "z", "c": True},
]
CELLS = {
    "a": [1, 2.5, None, float("nan"), True, 10**30],
    "b": ["x", "y", None],
    "c": [True, False, 1, None],
}


def by_a_closer_look(rows, encoder):
    """What the encoder makes of rows that it reads cell by cell."""
    like = Table(encoder.names_, encoder.values_, np.empty((0, len(encoder.names_))))
    return encoder.transform(table_of(rows, like, encoder.others_, is_sparse=encoder.is_sparse_))


def test_the_same_numbers_as_by_the_encoder():
    rng, encoder = np.random.default_rng(0), TableEncoder().fit(ROWS)
    for _ in range(50):
        rows = [
            {name: cells[rng.integers(len(cells))] for name, cells in CELLS.items()}
            for _ in range(rng.integers(1, 4))
        ]
        quick = quick_table(rows, encoder)
        assert quick is not None
        np.testing.assert_array_equal(encoder.transform(quick), by_a_closer_look(rows, encoder))


@pytest.mark.parametrize("row", [
    {"a": 1.0, "b": "x"},
        {"a": "one", "b": "x", "c": True}, {"a": 1.0, "b": "new", "c": True},
    {"a": float("inf"), "b": "x", "c": True}, {"a": 10**400, "b": "x", "c": True},
    {"a": [1.0], "b": "x", "c": True}, {"a": 1.0, "b": ["x"], "c": True}, 5, "abc",
])  # fmt: skip
def test_others_need_a_closer_look(row):
    assert quick_table([row], TableEncoder().fit(ROWS)) is None


def test_a_single_column():
    encoder = TableEncoder().fit([{"a": 1.0}, {"a": 2.0}])
    assert quick_table([{"a": 3}], encoder).data.tolist() == [[3.0]]


def test_texts_of_numbers_are_numbers():
    encoder = TableEncoder().fit(ROWS)
    rows = [{"a": text, "b": "x", "c": 1} for text in ("1.5", "nan", " 2e3 ")]
    quick = quick_table(rows, encoder)
    np.testing.assert_array_equal(encoder.transform(quick), by_a_closer_look(rows, encoder))
