# SPDX-License-Identifier: BSD-3-Clause
import matplotlib
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skstruct.inspection.tours import TourDisplay
from skstruct.spaces import LabelSets
from skstruct.spaces.cycles.space import Cycles

matplotlib.use("Agg")
PLACES = ["ape", "bee", "cat", "dog"]
AT = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def arrows(display):
    """Start and end of everything that is drawn as an arrow."""
    drawn = [text for text in display.ax_.texts if text.get_text() == ""]
    return sorted((tuple(text.xyann), tuple(text.xy)) for text in drawn)


def test_one_arrow_for_each_step():
    display = TourDisplay.from_predictions(Cycles(PLACES), ["ape", "cat", "bee"], AT)
    expected = {(tuple(AT[u]), tuple(AT[v])) for u, v in ((0, 2), (2, 1), (1, 0))}
    assert arrows(display) == sorted(expected)
    assert {text.get_text() for text in display.ax_.texts} == {"", *PLACES}
    assert display.ax_.get_legend() is None


def test_true_tours_lie_below():
    display = TourDisplay.from_predictions(
        Cycles(PLACES), [["ape", "cat", "bee"]], AT, truth=["ape", "bee", "cat", "dog"]
    )
    (line,) = display.ax_.lines
    np.testing.assert_array_equal(line.get_xydata(), AT[[0, 1, 2, 3, 0]])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["truth"]


@pytest.mark.parametrize(
    "tours",
    [
        ["ape", "bee", "dog"],
        [("ape", "bee"), ("bee", "dog"), ("dog", "ape")],
        {("ape", "bee"), ("bee", "dog"), ("dog", "ape")},
        nx.DiGraph([("ape", "bee"), ("bee", "dog"), ("dog", "ape")]),
        [["ape", "bee", "dog"]],
        np.array([1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]),
        [["ape", "bee"], ["bee", "dog"], ["dog", "ape"]],
        np.array([[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]]),
    ],
)
def test_tours_in_any_form(tours):
    display = TourDisplay.from_predictions(Cycles(PLACES), tours, dict(zip(PLACES, AT)))
    assert [tour.tolist() for tour in display.tours] == [[0, 1, 3]]


def test_several_tours_and_frames_of_coordinates():
    frame = pd.DataFrame(AT[::-1], index=PLACES[::-1], columns=["x", "y"])
    space = Cycles(PLACES, directed=False)
    display = TourDisplay.from_predictions(space, space.enumerate()[:3], frame)
    np.testing.assert_array_equal(display.coordinates, AT)
    assert len(arrows(display)) == 9
    assert not display.directed


def test_bad_coordinates():
    with pytest.raises(ValueError, match="no coordinates of 'bee'"):
        TourDisplay.from_predictions(Cycles(PLACES), PLACES, {"ape": (0, 0)})
    for bad in (AT[:3], np.full((4, 2), np.nan), AT[:, :1], "x", [(0, 1), (2,), (3, 4), (5, 6)]):
        with pytest.raises(ValueError, match="two finite coordinates for each of 4 places"):
            TourDisplay.from_predictions(Cycles(PLACES), PLACES, bad)
    with pytest.raises(ValueError, match="not LabelSets"):
        TourDisplay.from_predictions(LabelSets(PLACES), PLACES, AT)


def test_one_array_of_three_places():
    """Three edges and three places: rows of ones are indicators, an empty diagonal is adjacency."""
    space, at = Cycles(3, directed=False), AT[:3]
    one = TourDisplay.from_predictions(space, 1 - np.eye(3, dtype=int), at)
    three = TourDisplay.from_predictions(space, np.ones((3, 3), int), at)
    assert (len(one.tours), len(three.tours)) == (1, 3)


def test_drawn_from_lists():
    at = dict(zip(PLACES, AT.tolist()))
    for coordinates in (AT.tolist(), at):
        display = TourDisplay(PLACES, coordinates, [[0, 2, 1]], truth=[[0, 1, 2]]).plot()
        expected = {(tuple(AT[u]), tuple(AT[v])) for u, v in ((0, 2), (2, 1), (1, 0))}
        assert arrows(display) == sorted(expected)
    for bad in (["ape", "bee", "cat"], [0, 1, 4], [-1, 0, 1], [0.0, 1.0, 2.0], [], [[0, 1, 2]]):
        with pytest.raises(ValueError, match=r"positions from 0 to 3; tours\[1\] is"):
            TourDisplay(PLACES, AT, [[0, 1, 2], bad]).plot()


def test_nothing_to_draw():
    display = TourDisplay.from_predictions(Cycles(PLACES), [], AT, truth=[])
    assert arrows(display) == []
    assert display.ax_.get_legend() is None
    with pytest.raises(ValueError, match="one per sample; got None"):
        TourDisplay.from_predictions(Cycles(PLACES), None, AT)
