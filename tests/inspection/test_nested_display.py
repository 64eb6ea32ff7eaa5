# SPDX-License-Identifier: BSD-3-Clause
"""What is certain and what is possible, drawn into a hierarchy."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct.conformal import Nested
from skstruct.inspection import HierarchyDisplay
from skstruct.inspection.drawing import GOOD
from skstruct.spaces import Classes, Hierarchy, LabelSets

matplotlib.use("Agg")
SPACE = Hierarchy([("animal", "cat"), ("animal", "dog"), ("cat", "tom"), ("plant", "oak")])
LABELS = list(SPACE.labels_)
CERTAIN = np.array([[label in ("animal",) for label in LABELS], [False] * 6]).astype(int)
POSSIBLE = np.array([[label in ("animal", "cat", "tom") for label in LABELS], [True] * 6])
POSSIBLE = POSSIBLE.astype(int)


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def boxes(display):
    """Name of each label that is drawn, with its text and its box."""
    return {
        text.get_text().split("\n")[0].removesuffix(" *"): (text.get_text(), text.get_bbox_patch())
        for text in display.ax_.texts
    }


def test_certain_is_filled_possible_is_framed_and_the_rest_is_pale():
    display = HierarchyDisplay.from_nested(
        SPACE, Nested(CERTAIN, POSSIBLE), y=CERTAIN[0], shares=np.linspace(1, 0, 6)
    )
    found = boxes(display)
    assert set(found) == set(LABELS)
    blue, white = to_rgba(GOOD), to_rgba("white")
    assert found["animal"][1].get_facecolor() == blue
    for name in ("cat", "tom"):
        assert found[name][1].get_facecolor() == white
        assert found[name][1].get_edgecolor() == blue
    for name in ("dog", "plant", "oak"):
        assert found[name][1].get_edgecolor() == to_rgba("0.88")
    assert found["animal"][0].startswith("animal *\n")
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["certain", "possible", "ruled out", "true"]


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.csr_array,
        lambda Z: pd.DataFrame(Z, columns=LABELS),
        lambda Z: [{LABELS[j] for j in np.flatnonzero(row)} for row in Z],
    ],
    ids=["array", "sparse", "frame", "names"],
)
def test_every_format(form):
    display = HierarchyDisplay.from_nested(SPACE, Nested(form(CERTAIN), form(POSSIBLE)), 1)
    assert_array_equal(display.certain, CERTAIN[1])
    assert_array_equal(display.possible, POSSIBLE[1])
    assert boxes(display)["oak"][0] == "oak"  # no shares are known
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["certain", "possible", "ruled out"]


def test_what_is_certain_need_not_be_an_output_of_the_space():
    """Too few labels are certain, and too many possible, for a space of exactly two labels."""
    space = LabelSets("abc", min_size=2, max_size=2)
    nested = Nested(np.array([[1, 0, 0]]), np.array([[1, 1, 1]]))
    assert set(boxes(HierarchyDisplay.from_nested(space, nested))) == set("abc")


def test_of_many_labels_those_that_are_certain_come_first():
    space = Hierarchy([((j - 1) // 3, j) for j in range(1, 200)])
    certain, possible = np.zeros((2, 1, 200), dtype=int)
    for j in (150, 49, 16, 5, 1, 0):
        certain[0, j] = j < 40
        possible[0, j] = 1
    display = HierarchyDisplay.from_nested(space, Nested(certain, possible), max_labels=8)
    assert {"150", "49", "16", "5", "1", "0"} <= set(boxes(display))
    assert len(boxes(display)) <= 8


def test_what_cannot_be_drawn():
    nested = Nested(CERTAIN, POSSIBLE)
    with pytest.raises(ValueError, match="not Classes"):
        HierarchyDisplay.from_nested(Classes("ab"), nested)
    with pytest.raises(ValueError, match="'animal' is certain and not possible"):
        HierarchyDisplay.from_nested(SPACE, Nested(CERTAIN, 0 * POSSIBLE))
    dag, shares = SPACE.dag_, np.zeros(6)
    with pytest.raises(ValueError, match="together"):
        HierarchyDisplay(dag, LABELS, shares, shares, certain=CERTAIN[0]).plot()
    with pytest.raises(ValueError, match="draws shares, or"):
        HierarchyDisplay(dag, LABELS, None, shares).plot()
