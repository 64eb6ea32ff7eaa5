# SPDX-License-Identifier: BSD-3-Clause
"""Charts of matplotlib as images within a page."""

import base64
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct._arrays.imports import require
from skstruct.inspection import RiskCurveDisplay
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


def risk_curve(subject: Any, i: int) -> Picture | None:
    """What every number would be expected to lose as the prediction for one row; None where there
    is no such curve.
    """
    if not subject.fitted.estimates_risks:
        return None
    y = subject.y
    truth = y.iloc[[i]] if hasattr(y, "columns") else y.iloc[i] if hasattr(y, "iloc") else y[i]
    try:
        return picture(
            lambda: RiskCurveDisplay.from_estimator(subject.learner, subject.input_of(i), y=truth),
            f"Expected losses of all predictions for row {i + 1}",
        )
    except (ValueError, NotImplementedError):  # a space or smoother that the display does not know
        return None


def places_of(subject: Any) -> Any:
    """Where the places of tours are drawn: as given, or around a circle."""
    where = subject.options.get("coordinates")
    if where is not None:
        return where
    angles = 2 * np.pi * np.arange(len(subject.space.nodes_)) / max(1, len(subject.space.nodes_))
    return np.column_stack([np.cos(angles), np.sin(angles)])
