# SPDX-License-Identifier: BSD-3-Clause
"""Model cards: what a model is for, what it was fitted to, what it is worth, and its limits."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstruct._files.atomic import replacing
from skstruct.datasets import Dataset
from skstruct.fitted import Fitted
from skstruct.inspection.drawing import written
from skstruct.model_selection import evaluate
from skstruct.model_selection.evaluation import loss_name
from skstruct.persistence import describe_model, load_model
from skstruct.persistence.model_files import installed_versions
from skstruct.reports.card_limits import intended, limits
from skstruct.reports.card_model import (
    columns_section,
    fit_section,
    output_section,
    training_section,
    what_it_predicts,
)
from skstruct.reports.markdown import front_matter, markdown
from skstruct.reports.pages import Code, Facts, Listing, Section, Table, Text
from skstruct.reports.writing import render
from skstruct.spaces import Description
from skstruct.tasks.row_digests import overlap, row_digests

PIPELINES = {
    "sequence": "token-classification",
    "quantities": "tabular-regression",
    "flow": "tabular-regression",
}
FILE = "model.skstruct"


def write_model_card(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    data_name: str | None = None,
    model_file: str | os.PathLike[str] | None = None,
    license: str | None = None,
    losses: Sequence[Any] | None = None,
    remarks: Sequence[str] = (),
) -> Path:
    """Write a model card: Markdown with the header that hubs of models read, or HTML.

    It says what the model predicts and from which columns, what it was fitted to and how, what it
    loses on rows that are given here, what it promises, what it is for and what its limits are,
    all of it from what the model and the rows tell. Names are shown as they are, never
    interpreted.

    Parameters
    ----------
    model : fitted TaskModel, learner, pipeline that ends in one, or the path of a model file
    path : str or path
        Of the card: HTML if it ends in ``.html``, else Markdown.
    X, y : rows that the model was not trained on, with their true outputs, default=None
        A TaskModel takes a Dataset or a frame that holds the outputs, without ``y``. Losses are
        left out when None.
    title : str, default=None
    data_name : str, default=None
        Of X; its own where it has one.
    model_file : str or path, default=None
        The file of the model, for its checksum; the model's path where this was given.
    license : str, default=None
        For the header; left open when None, to be filled in.
    losses : list of names or losses, default=None
        As of ``evaluate``.
    remarks : sequence of str, default=()
        Sentences for "Intended use".

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
    ...     path = write_model_card(model, Path(folder) / "card.md", X, Y, title="Pets")
    ...     path.read_text(encoding="utf-8").splitlines()[:3]
    ['---', '# license: to be chosen by whoever publishes the model', 'library_name: skstruct']
    """
    path = Path(path)
    if isinstance(model, (str, os.PathLike)):
        model_file = model_file or model
        model = load_model(model)
    known = Fitted.of(model)
    learner = known.learner
    check_is_fitted(learner)
    file = None if model_file is None else describe_model(model_file)
    about = dict(known.about)
    data_name = data_name or (X.name if isinstance(X, Dataset) else None)
    judged, seen = _judged(model, X, y, losses)
    title = written(title or _title(model, about), 200)
    sections = [
        output_section(model, learner),
        columns_section(model),
        training_section(learner, about),
        fit_section(learner, about),
        _losses_section(judged, seen, data_name),
        _promises_section(known),
        Section("Intended use", "use", [Listing([*remarks, *intended(learner)])]),
        Section("Limits", "limits", [Listing(limits(model, learner, about, judged is not None))]),
        _file_section(file),
        _usage_section(model, model_file),
    ]
    subtitle = f"{what_it_predicts(learner)} Fitted with skstruct."
    if path.suffix.lower() in (".html", ".htm"):
        page = render(title, subtitle, sections)
    else:
        told = None if seen is not None and seen.is_remarkable else judged
        header = _header(title, learner, about, told, data_name, license)
        page = markdown(title, subtitle, sections, header)
    with replacing(path) as out:
        out.write(page)
    return path


def _title(model: Any, about: dict[str, Any]) -> str:
    if "data" in about:
        return f"{about['data']}: {model.task_}"
    return type(model).__name__


# ---------------------------------------------------------------------- losses
def _judged(model: Any, X: Any, y: Any, losses: Any) -> tuple[Any, Any]:
    """Estimates of losses on given rows, and how many of these were rows of training."""
    if X is None:
        return None, None
    if Fitted.of(model).task is None:
        if y is None:
            raise ValueError("y: give the true outputs of X.")
        return evaluate(model, X, y, losses=losses, missing="bounds"), None
    read, outputs = model.inputs(X), model.outputs(X) if y is None else y
    seen = None
    if isinstance(X, Dataset):
        seen = model.overlap(X)
    elif model.seen_ is not None and hasattr(read, "shape"):
        seen = overlap(model.seen_, row_digests(read))
    return evaluate(model.learner_, read, outputs, losses=losses, missing="bounds"), seen


def _losses_section(judged: Any, seen: Any, data_name: str | None) -> Section:
    title, anchor = "Losses", "losses"
    if judged is None:
        why = "No rows were given: this card says nothing about how often the model is wrong."
        return Section(title, anchor, [Text(why)])
    blocks: list[Any] = []
    if seen is not None and seen.is_remarkable:
        blocks.append(Text(f"Warning: {seen}"))
    elif seen is None:
        blocks.append(Text("Whether these rows were rows of training is not known."))
    unknown = judged[0].unknown
    ends = ("lower", "upper") if unknown else ()
    columns = ("loss", "mean", "low", "high", "baseline", *ends)
    rows = [[getattr(one, name) for name in columns] for one in judged]
    names = {"lower": "least", "upper": "most", "baseline": "best constant answer"}
    on = "" if data_name is None else f" of {written(data_name, 200)}"
    caption = f"Mean losses on {judged[0].n:,} rows{on}; low and high are ends of 95 % intervals."
    table = Table([names.get(name, name) for name in columns], rows, caption)
    return Section(title, anchor, [*blocks, table, *([Text(unknown)] if unknown else [])])


def _promises_section(fitted: Fitted) -> Section:
    """What was found on calibration rows."""
    promises = []
    for found in (fitted.control, fitted.abstention):
        if found is not None:
            vacuous = " It is empty: there were too few rows." if any(found.vacuous_) else ""
            promises.append(
                f"{found.promise_} Calibrated on {found.n_calibration_:,} rows.{vacuous}"
            )
    if not promises:
        text = Text("None: the model was not calibrated on rows kept apart.")
        return Section("Promises", "promises", [text])
    return Section("Promises", "promises", [Listing(promises)])


# ---------------------------------------------------------------------- file, use, header
def _file_section(file: dict[str, Any] | None) -> Section:
    versions = installed_versions() if file is None else file["versions"]
    facts: list[tuple[str, Any]] = []
    if file is not None:
        facts += [("SHA-256", file["sha256"]), ("bytes", file["n_bytes"])]
        facts += [("format", f"model file of skstruct, version {file['format_version']}")]
    facts += [(f"version of {name}", found) for name, found in versions.items()]
    return Section("File and versions", "file", [Facts(facts)])


def _usage_section(model: Any, model_file: Any) -> Section:
    name = FILE if model_file is None else Path(model_file).name
    name = name if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name) else FILE
    load = f'import skstruct\n\nmodel = skstruct.load_model("{name}")\nmodel.predict(rows)'
    blocks: list[Any] = [
        Text("The file holds data only; nothing in it runs when it is read."),
        Code(load),
    ]
    if Fitted.of(model).task is not None:
        blocks.append(Code(f"skstruct predict {name} data.csv -o predictions.csv", "console"))
    blocks.append(Code(f"skstruct serve {name}", "console"))
    return Section("How to load and serve it", "how", blocks)


def _header(
    title: str, learner: Any, about: dict[str, Any], judged: Any, data_name: str | None,
    license: str | None,
) -> str:  # fmt: skip
    kind = Description.of(learner.space_).output_kind
    facts: dict[str, Any] = {} if license is None else {"license": license}
    pipeline = PIPELINES.get(kind, "tabular-classification")
    tags = dict.fromkeys(["skstruct", "structured-prediction", kind, about.get("task", kind)])
    facts |= {"library_name": "skstruct", "pipeline_tag": pipeline, "tags": list(tags)}
    if judged is not None:
        loss = Fitted.of(learner).loss
        own = None if loss is None else loss_name(loss)
        facts["metrics"] = [one.loss for one in judged]
        metrics = [
            {"type": one.loss, "value": float(one.mean),
             "name": f"mean loss, {one.loss}{' (own)' if one.loss == own else ''}"}
            for one in judged if np.isfinite(one.mean)
        ]  # fmt: skip
        data = {"name": data_name or "rows kept apart", "type": about.get("format", "tabular")}
        result = {"task": {"type": pipeline}, "dataset": data, "metrics": metrics}
        facts["model-index"] = [{"name": title, "results": [result]}]
    open_license = ["license: to be chosen by whoever publishes the model"]
    return front_matter(facts, open_license if license is None else ())
