# SPDX-License-Identifier: BSD-3-Clause
"""Names that are neither texts nor numbers: kept in model files by type and text, or told."""

import datetime
import enum
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import ModelFileError
from skstruct.persistence import load_model, save_model
from skstruct.persistence.known_types import decode_known, encode_known
from skstruct.spaces import (
    Candidates,
    Classes,
    Hierarchy,
    LabelSets,
    Rankings,
    Sequences,
    ShortestPaths,
    SpanningTrees,
)

ABROAD = datetime.timezone(datetime.timedelta(hours=2))
NAMES = {
    "Timestamp": [pd.Timestamp("2024-02-29"), pd.Timestamp("2024-02-29 10:11:12.123456789")],
    "Timestamp with a zone": list(pd.to_datetime(["2024-02-29", "2024-03-01"]).tz_localize("CET")),
    "datetime with a zone": [datetime.datetime(2024, 2, d, tzinfo=ABROAD) for d in (28, 29)],
    "Decimal": [Decimal("1.50"), Decimal("-2E+3")],
    "Fraction": [Fraction(1, 3), Fraction(-2)],
    "UUID": [UUID(int=7), UUID(int=2**127)],
}
X = np.eye(6)
MODEL = ConditionalRiskMinimizer(smoother="kernel_ridge", alpha=1.0)


class Colour(enum.Enum):
    RED, BLUE = 1, 2


@pytest.mark.parametrize("kind", NAMES)
def test_names_come_back_from_a_file(kind, tmp_path):
    one, two = NAMES[kind]
    for space, Y in ((Classes(), [one, two] * 3), (LabelSets(), [[one], [two, one]] * 3),
                     (Hierarchy([(one, two)]), [[one], [two, one]] * 3)):  # fmt: skip
        model = MODEL.set_params(space=space).fit(X, Y)
        save_model(model, tmp_path / "names.model")
        read = load_model(tmp_path / "names.model")
        assert list(read.space_.labels_) == list(model.space_.labels_)
        assert list(map(type, read.space_.labels_)) == list(map(type, model.space_.labels_))
        assert read.score(X, Y) == model.score(X, Y)


@pytest.mark.parametrize(
    ("space", "Y"),
    [
        (Classes(), [Colour.RED, Colour.BLUE]),
        (LabelSets(), [[Colour.RED], [Colour.BLUE]]),
        (LabelSets(list(Colour)), [[Colour.RED], [Colour.BLUE]]),
        (Rankings(), [[Colour.RED, Colour.BLUE]]),
        (Sequences(), [[Colour.RED, Colour.BLUE]]),
        (Candidates(list(Colour)), [Colour.RED, Colour.BLUE]),
        (LabelSets(), [[(0, Colour.RED)], [(1, Colour.BLUE)]]),
    ],
    ids=str,
)
def test_names_that_no_file_holds_are_told_at_fit(space, Y):
    with pytest.warns(UserWarning, match="of the class Colour, which model files do not hold"):
        space.fit(Y)


@pytest.mark.parametrize(
    ("space", "Y"),
    [
        (Classes(), ["a", "\ud800"]),
        (LabelSets(), [["a"], ["b\udfff"]]),
        (LabelSets(["a", "\ud800"]), [["a"]]),
        (Rankings(), [["a", "\ud800"]]),
        (Sequences(), ["a\ud800"]),
        (Candidates(["a", "\ud800"]), ["a"]),
        (Candidates(["a"]), ["a", "\ud800"]),
        (LabelSets(), [[(0, "\ud800")], [(1, "b")]]),
    ],
    ids=lambda given: repr(given),
)
def test_half_a_character_is_refused_at_fit(space, Y):
    with pytest.raises(ValueError, match="has half of a character"):
        space.fit(Y)


def on_edges(one, two):
    yield lambda: Hierarchy([(one, two)])
    yield lambda: ShortestPaths([(one, two)], one, two).labels_
    yield lambda: SpanningTrees([one, two]).labels_


@pytest.mark.parametrize("space", on_edges("a", "\ud800"))
def test_half_a_character_is_refused_in_edges(space):
    with pytest.raises(ValueError, match="has half of a character"):
        space()


@pytest.mark.parametrize("space", on_edges((0, "a"), (0, "\ud800")))
def test_half_a_character_is_refused_within_tuples(space):
    with pytest.raises(ValueError, match="has half of a character"):
        space()


@pytest.mark.parametrize("space", on_edges(Colour.RED, Colour.BLUE))
def test_names_that_no_file_holds_are_told_of_edges(space):
    with pytest.warns(UserWarning, match="of the class Colour, which model files do not hold"):
        space()


WRONG = [
    ["Decimal", "one"], ["Decimal", "1e999999999"], ["Decimal", "1" * 2000], ["Fraction", "1/0"],
    ["Fraction", "1e99999999"], ["Fraction", "1/2/3"], ["Timestamp", "now"], ["Timestamp", "today"],
    ["UUID", "7"], ["Path", "/etc/passwd"], ["Decimal", 7], [["Decimal"], "1"],
]  # fmt: skip


@pytest.mark.parametrize("body", WRONG, ids=lambda body: repr(body)[:40])
def test_texts_that_are_no_such_value_are_refused(body):
    with pytest.raises(ModelFileError):
        decode_known(body)


def test_values_that_would_not_come_back_are_not_written():
    assert encode_known(Decimal("1e999999")) is None
    assert encode_known(Fraction(10**3000, 7)) is None
    assert encode_known("a text") is None
