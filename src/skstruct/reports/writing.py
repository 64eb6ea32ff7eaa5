# SPDX-License-Identifier: BSD-3-Clause
"""One self-contained page about a fitted model."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skstruct import drawings
from skstruct._arrays.imports import require
from skstruct._arrays.progress import track
from skstruct._files.atomic import replacing
from skstruct.inspection.drawing import written
from skstruct.reports.certainty import certain_section
from skstruct.reports.errors import error_section
from skstruct.reports.examples import example_section
from skstruct.reports.losses import calibration, coverage, loss_section, search
from skstruct.reports.overview import overview_section, timing_section
from skstruct.reports.pages import Section, is_number, number
from skstruct.reports.probabilities import marginals
from skstruct.reports.seen_rows import warnings_of
from skstruct.reports.subject import read_subject

DRAWINGS = Path(drawings.__file__).parent  # where their style is
SECTIONS = (
    overview_section,
    loss_section,
    error_section,
    calibration,
    coverage,
    marginals,
    certain_section,
    search,
    example_section,
    timing_section,
)


def write_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    losses: Sequence[Any] | None = None,
    X_train: Any = None,
    y_train: Any = None,
    feature_names: Sequence[str] | None = None,
    data_name: str | None = None,
    timings: Mapping[str, float] | None = None,
    coordinates: Any = None,
    n_examples: int = 6,
    random_state: Any = 0,
    verbose: int = 0,
    remarks: Sequence[str] = (),
) -> Path:
    """Write one HTML file about a fitted model and its predictions on rows with known outputs.

    The file holds its drawings and its style, runs no script, and opens without a network. It
    says what was trained on what, what predictions lose and where, how well the model knows
    what it will lose, what its probabilities are worth, how much of outputs is certain and how
    its penalty was chosen, and shows examples with the training rows that speak for and against
    them. What a learner or a space does not know is left out, with the reason. Where rows were
    rows of training, as far as the model or ``X_train`` tells, a warning stands above all.

    Names and texts from the data are shown as they are, never interpreted. The file replaces
    an old one only when all of it has been written.

    Parameters
    ----------
    model : fitted learner of this library, or pipeline that ends in one
    X, y : rows that the model was not trained on, with their true outputs
    path : str or path
        Of the HTML file.
    title : str, default=None
    losses : list of names or losses, default=None
        What predictions are judged by; the usual ones of the space when None.
    X_train, y_train : the rows of training, default=None
        For losses on these, and for what is usual among features.
    feature_names : sequence of str, default=None
        Those that the model was fitted with when None.
    data_name : str, default=None
    timings : dict, default=None
        Names of steps with their seconds.
    coordinates : array of shape (n, 2) or {name: (x, y)}, default=None
        Where the places of tours and the nodes of networks are drawn.
    n_examples : int, default=6
    random_state : int, default=0
        Of the bootstrap, and of examples of equal loss.
    verbose : int, default=0
        Progress bar on stderr.
    remarks : sequence of str, default=()
        What the reader must know of the data, said above all else.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]] * 5, [["a"], ["a"], ["a", "b"], ["b"]] * 5
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit(X, Y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(model, X, Y, Path(folder) / "report.html", n_examples=1)
    ...     path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"write_report: there is no folder {str(path.parent)!r}.")
    _check(X, feature_names, n_examples, timings)
    subject = read_subject(
        model, X, y, losses=losses, X_train=X_train, y_train=y_train, feature_names=feature_names,
        data_name=data_name, timings=timings, coordinates=coordinates, n_examples=n_examples,
        random_state=random_state, remarks=remarks,
    )  # fmt: skip
    sections = [make(subject) for make in track(list(SECTIONS), "sections", verbose)]
    page = render(_title(title, subject), _subtitle(subject), sections, warnings_of(subject))
    with replacing(path) as file:
        file.write(page)
    return path


def render(title: str, subtitle: str, sections: list[Section], warnings: Sequence[str] = ()) -> str:
    """The page; everything that comes in is text, and is escaped."""
    jinja2 = require("jinja2", used_by="write_report", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([Path(__file__).parent / "templates", DRAWINGS]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.tests["right_aligned"] = is_number
    return environment.get_template("report.html").render(
        title=title,
        subtitle=subtitle,
        warnings=warnings,
        sections=[section for section in sections if not section.left_out],
        left_out=[section for section in sections if section.left_out],
    )


def _title(title: str | None, subject: Any) -> str:
    if title is not None:
        return written(title, 200)
    data = subject.options.get("data_name")
    name = type(subject.learner).__name__
    return name if data is None else f"{name} on {written(data, 120)}"


def _subtitle(subject: Any) -> str:
    loss = type(subject.loss).__name__
    return (
        f"{number(subject.n)} rows, outputs in {type(subject.space).__name__}: mean "
        f"{loss} loss {number(float(subject.losses.mean()))}"
    )


def _check(X: Any, feature_names: Sequence[str] | None, n_examples: int, timings: Any) -> None:
    if isinstance(n_examples, bool) or not isinstance(n_examples, int) or n_examples < 0:
        raise ValueError(f"n_examples is a whole number from 0; got {n_examples!r}.")
    if timings is not None and not hasattr(timings, "items"):
        raise ValueError(f"timings are names with their seconds; got {timings!r}.")
    p = X.shape[1] if getattr(X, "ndim", 0) == 2 else None
    if feature_names is not None and p is not None and len(feature_names) != p:
        raise ValueError(f"{p} features need as many names; got {len(feature_names)}.")
