# SPDX-License-Identifier: BSD-3-Clause
"""Sections of a model card on the model itself: outputs, columns, training, parameters."""

from typing import Any

import numpy as np

from skstruct.fitted import Fitted
from skstruct.inspection.drawing import written
from skstruct.model_selection.evaluation import loss_name
from skstruct.reports.overview import chosen_values, value_in_words
from skstruct.reports.pages import Facts, Section, Table, Text, number
from skstruct.spaces import Description

MOST_NAMES = 40  # of outputs
FEW_NAMES = 12  # of a column
KINDS = {
    "classes": "one class",
    "ordinal": "one level of an order",
    "labels": "a set of labels",
    "hierarchy": "a set of labels of a hierarchy, with all labels above them",
    "ranking": "an order of items",
    "sequence": "a symbol for every position of a sequence",
    "quantities": "numbers",
    "flow": "an amount for every arc of a network",
    "tour": "a tour through all nodes",
    "parts": "a set of parts that fit together",
}


def what_it_predicts(learner: Any) -> str:
    """One sentence."""
    space = learner.space_
    what = KINDS.get(Description.of(space).output_kind, "an output")
    return f"Predicts {what} ({type(space).__name__})."


def output_names(model: Any, learner: Any) -> list[str]:
    """Names of classes, labels, items, symbols or numbers; none if outputs have no names."""
    space, description = learner.space_, Description.of(learner.space_)
    targets = Fitted.of(model).targets
    if targets and description.output_kind in ("ranking", "quantities"):
        return [str(name) for name in targets]
    for attribute in ("symbols_", "items_", "labels_"):
        names = getattr(space, attribute, None)
        if names is not None:
            return [str(name) for name in names]
    names = description.part_names()
    return [] if names is None else [str(name) for name in names]


def output_section(model: Any, learner: Any) -> Section:
    """What is predicted."""
    names = output_names(model, learner)
    known = Fitted.of(model)
    facts = [] if known.task is None else [("task", known.task)]
    facts += [("outputs", what_it_predicts(learner).removeprefix("Predicts ").rstrip("."))]
    if known.predicted_columns:
        facts.append(("predicted columns", _listed(known.predicted_columns, MOST_NAMES)))
    if names:
        facts.append((Description.of(learner.space_).part_words[1], _listed(names, MOST_NAMES)))
    return Section("What it predicts", "outputs", [Facts(facts)])


def _listed(names: Any, most: int) -> str:
    names = list(names)
    text = ", ".join(written(name, 60) for name in names[:most])
    more = len(names) - most
    return f"{text} and {number(more)} more" if more > 0 else text


# ---------------------------------------------------------------------- inputs
def columns_section(model: Any) -> Section:
    """From which columns."""
    encoder = Fitted.of(model).encoder
    if encoder is None:
        return Section("Inputs", "inputs", [Text(_inputs_in_words(model))])
    at = {name: j for j, name in enumerate(encoder.feature_names_)}
    rows = [
        [written(name, 80), *_column(encoder, name, values, at),
         "yes" if name in encoder.flagged_ else "no"]
        for name, values in zip(encoder.names_, encoder.values_)
    ]  # fmt: skip
    text = Text("Columns are found by name; further ones are ignored, missing ones are an error.")
    header = ["column", "kind", "in training", "missing cells"]
    return Section("Inputs", "inputs", [text, Table(header, rows)])


def _column(encoder: Any, name: str, values: Any, at: dict[str, int]) -> tuple[str, str]:
    if values is not None:
        return "names", _listed(values, FEW_NAMES)
    kind = encoder.others_.get(name, "number")
    if kind != "number" or name not in at:
        return kind, ""
    mean, width = float(encoder.mean_[at[name]]), float(encoder.width_[at[name]])
    spread = f", standard deviation {number(width)}" if width != 1.0 else ""
    return kind, f"mean {number(mean)}{spread}"


def _inputs_in_words(model: Any) -> str:
    known = Fitted.of(model)
    if known.token_columns is not None:
        columns = _listed(known.token_columns, MOST_NAMES)
        return f"Sequences of tokens, each with the columns {columns}."
    if known.names is not None:
        return f"Columns of numbers: {_listed(known.names, MOST_NAMES)}."
    n = known.width
    return "As the learner was fitted." if n is None else f"Rows of {number(int(n))} numbers."


# ---------------------------------------------------------------------- training
def training_rows(learner: Any, about: dict[str, Any]) -> int | None:
    """How many rows there were, where that is known."""
    if "rows" in about:
        return int(about["rows"])
    outputs = Fitted.of(learner).outputs
    return None if outputs is None else len(np.asarray(outputs))


def training_section(learner: Any, about: dict[str, Any]) -> Section:
    """The data of training."""
    rows = training_rows(learner, about)
    facts: list[tuple[str, Any]] = [(name, about[name]) for name in ("data", "format")
                                    if name in about]  # fmt: skip
    facts += [] if rows is None else [("rows", rows)]
    facts += [("remark", written(said, 400)) for said in about.get("remarks", ())]
    if not facts:
        return Section("Training data", "training", [Text("The model tells nothing of its data.")])
    return Section("Training data", "training", [Facts(facts)])


def fit_section(learner: Any, about: dict[str, Any]) -> Section:
    """Learner, loss, parameters, and which of them were chosen."""
    facts = [("learner", about.get("learner", type(learner).__name__))]
    loss = Fitted.of(learner).loss
    if loss is not None:
        facts.append(("loss", loss_name(loss)))
    facts.append(("space", type(learner.space_).__name__))
    facts += [(name.rstrip("_"), f"{value_in_words(found)} (chosen in fit)")
              for name, found in chosen_values(learner)]  # fmt: skip
    given = {k: v for k, v in learner.get_params(deep=False).items() if v is not None}
    parameters = [(name, value_in_words(value)) for name, value in sorted(given.items())]
    blocks = [Facts(facts), Facts(parameters, folded=f"all {len(parameters)} parameters")]
    return Section("How it was fitted", "fit", blocks)
