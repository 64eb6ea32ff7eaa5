# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of matplotlib as images within a page, those of single predictions included."""

import base64
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct._arrays.imports import require
from skstruct.inspection import (
    FlowDisplay,
    HierarchyDisplay,
    RankingDisplay,
    RiskCurveDisplay,
    SequenceDisplay,
    TourDisplay,
)
from skstruct.reports.pages import Picture

PIXELS = 96  # of an inch
MOST_BYTES = 1_500_000  # of a drawing by lines; what needs more becomes dots
STYLE = {
    "svg.fonttype": "none",  # letters stay letters: every script that the reader has can be read
    "svg.hashsalt": "skstruct",
    "text.usetex": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "0.45",
    "figure.facecolor": "white",
}


def picture(draw: Callable[..., Any], about: str, caption: str = "") -> Picture:
    """What ``draw()`` draws, as an image within the page; figures are closed again.

    An image cannot run scripts and loads nothing, whatever its text says.

    Parameters
    ----------
    draw : callable without arguments
        Returns a figure, or a display with ``figure_``.
    about : str
        What is seen, in words.
    """
    matplotlib = require("matplotlib", used_by="write_report", extra="report")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    pyplot = require("matplotlib.pyplot", used_by="write_report", extra="report")
    before = set(pyplot.get_fignums())
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Gg]lyph")  # the reader's fonts have it
        try:
            drawn = draw()
            figure = getattr(drawn, "figure_", drawn)
            width = int(figure.get_size_inches()[0] * PIXELS)
            FigureCanvasAgg(figure)
            data, kind = _saved(figure, "svg"), "svg+xml"
            if len(data) > MOST_BYTES:
                data, kind = _saved(figure, "png"), "png"
        finally:
            for number in set(pyplot.get_fignums()) - before:
                pyplot.close(number)
    address = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
    return Picture(address, about, caption, width)


def drawn_display(draw: Callable[..., Any], about: str) -> tuple[Picture, Any]:
    """A picture, and the display that it was drawn from, for its numbers."""
    displays: list[Any] = []

    def kept() -> Any:
        displays.append(draw())
        return displays[0]

    return picture(kept, about), displays[0]


def _saved(figure: Any, kind: str) -> bytes:
    file = io.BytesIO()
    options = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": 150}
    figure.savefig(file, format=kind, bbox_inches="tight", pad_inches=0.05, **options)
    return file.getvalue()


# One prediction drawn, where there is a way to draw it.


MOST_LABELS = 12
MOST_POSITIONS = 30


def example_picture(subject: Any, i: int) -> Picture | None:
    """The prediction for one row; None where nothing is known to draw."""
    way = WAYS.get(subject.kind)
    if way is None or (way not in (_flow, _tour) and not hasattr(subject.learner, "predict_risk")):
        return None
    try:
        return picture(lambda: way(subject, i), f"The prediction for row {i + 1}, drawn")
    except (ValueError, NotImplementedError):  # a space or smoother that displays do not know
        return None


def _truth(subject: Any, i: int) -> Any:
    """The true output as the user wrote it."""
    y = subject.y
    if hasattr(y, "columns"):
        return y.iloc[[i]]
    return y.iloc[i] if hasattr(y, "iloc") else y[i]


def _hierarchy(subject: Any, i: int) -> HierarchyDisplay:
    return HierarchyDisplay.from_estimator(
        subject.learner, subject.input_of(i), y=_truth(subject, i), max_labels=MOST_LABELS
    )


def _ranking(subject: Any, i: int) -> RankingDisplay:
    if len(subject.space.items_) > 16:
        raise ValueError("too many items to draw")
    return RankingDisplay.from_estimator(subject.learner, subject.input_of(i), y=_truth(subject, i))


def _sequence(subject: Any, i: int) -> SequenceDisplay:
    if (subject.truth[i] >= 0).sum() > MOST_POSITIONS:
        raise ValueError("too many positions to draw")
    options = {"y": _truth(subject, i), "max_symbols": MOST_LABELS}
    return SequenceDisplay.from_estimator(subject.learner, subject.input_of(i), **options)


def _quantities(subject: Any, i: int) -> RiskCurveDisplay:
    return RiskCurveDisplay.from_estimator(
        subject.learner, subject.input_of(i), y=_truth(subject, i)
    )


def _flow(subject: Any, i: int) -> FlowDisplay:
    where = subject.options.get("coordinates")
    return FlowDisplay(subject.space.network_, subject.predicted[i], subject.truth[i], where).plot()


def _tour(subject: Any, i: int) -> TourDisplay:
    space = subject.space
    both = space.tours(np.stack([subject.predicted[i], subject.truth[i]]))
    tours = [tour[tour >= 0] for tour in both]
    display = TourDisplay(
        space.nodes_, places_of(subject), tours[:1], tours[1:], bool(space.directed)
    ).plot()
    display.ax_.set_axis_off()
    return display


def places_of(subject: Any) -> Any:
    """Where the places of tours are drawn: as given, or around a circle."""
    where = subject.options.get("coordinates")
    if where is not None:
        return where
    angles = 2 * np.pi * np.arange(len(subject.space.nodes_)) / max(1, len(subject.space.nodes_))
    return np.column_stack([np.cos(angles), np.sin(angles)])


WAYS = {
    "hierarchy": _hierarchy,
    "ranking": _ranking,
    "sequence": _sequence,
    "quantities": _quantities,
    "flow": _flow,
    "tour": _tour,
}
