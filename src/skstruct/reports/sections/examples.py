# SPDX-License-Identifier: BSD-3-Clause
"""Some predictions, from the worst to the best, with what speaks for and against them."""

from __future__ import annotations

import numpy as np

from skstruct.reports.example_pictures import example_picture
from skstruct.reports.inputs import input_facts
from skstruct.reports.kinds import in_words
from skstruct.reports.pages import Example, Section, Table, Text, left_out, number

TITLE, ANCHOR = "Examples", "examples"
MOST_DRAWN = 3  # examples with a picture
MOST_PARTS = 8  # of the output of a supporter or opponent
MOST_VOICES = 4  # supporters, and as many opponents


def section(subject) -> Section:
    """Rows from the largest loss to the least, with what speaks for their predictions."""
    n_examples = subject.options.get("n_examples", 6)
    chosen = chosen_rows(subject.losses, n_examples, subject.rng)
    if not len(chosen):
        return left_out(TITLE, ANCHOR, "n_examples is 0.")
    explanation, why = _explained(subject, chosen)
    blocks: list = [
        Text(
            "From the largest loss to the least. Parts that are right are blue, false ones orange, "
            "missed ones red."
        )
    ]
    if why:
        blocks.append(Text(f"Without supporters and opponents: {why}"))
    elif explanation is not None:
        blocks.append(
            Text(
                "Supporters are training rows that pull the prediction towards their output, "
                "opponents those that push it away, by their weights."
            )
        )
    for place, i in enumerate(chosen.tolist()):
        blocks.append(_example(subject, place, i, explanation))
    return Section(TITLE, ANCHOR, blocks)


def chosen_rows(losses, n_examples: int, rng) -> np.ndarray:
    """Rows along the order by loss, more of them where it is large; ties in random order."""
    n = len(losses)
    order = np.lexsort((rng.random(n), -np.asarray(losses)))
    steps = np.linspace(0, 1, min(int(n_examples), n)) ** 2 * (n - 1)
    places = np.arange(len(steps))
    # Every step is at least one row: s_k = max(r_k, s_{k-1} + 1). The parabola lies below its
    # chord, so that the last one stays n - 1.
    steps = np.maximum.accumulate(steps.round().astype(int) - places) + places
    return order[steps]


def _explained(subject, chosen):
    learner = subject.learner
    if not hasattr(learner, "explain"):
        return None, f"{type(learner).__name__} does not weigh single training rows."
    X = subject.inner
    some = X.iloc[chosen] if hasattr(X, "iloc") else None
    if some is None:
        some = X[chosen] if hasattr(X, "shape") else [X[i] for i in chosen]
    try:
        return learner.explain(some), ""
    except (ValueError, NotImplementedError) as error:
        return None, str(error)


def _example(subject, place, i, explanation) -> Example:
    kind, space = subject.kind, subject.space
    z, y = subject.predicted[i], subject.truth[i]
    facts = [
        ("predicted", in_words(kind, space, z, y, "false")),
        ("truth", in_words(kind, space, y, z, "missed")),
        ("loss", number(subject.losses[i])),
    ]
    if subject.risks is not None:
        facts.append(("estimated risk", number(subject.risks[i])))
    facts += input_facts(subject, i)
    pictures = []
    if place < MOST_DRAWN:
        drawn = example_picture(subject, i)
        pictures += [] if drawn is None else [drawn]
    tables = [] if explanation is None else _voices(subject, place, explanation)
    return Example(f"Row {number(i + 1)}", facts, tables, pictures)


def _voices(subject, place, explanation) -> list[Table]:
    weights = explanation.weights
    weights = weights[[place]].toarray()[0] if hasattr(weights, "toarray") else weights[place]
    outputs = subject.learner.outputs_
    tables = []
    for rows, caption in (
        (explanation.supporters(MOST_VOICES)[place], "strongest supporters"),
        (explanation.opponents(MOST_VOICES)[place], "strongest opponents"),
    ):
        rows = [int(row) for row in rows if 0 <= row < len(outputs)]
        cells = [
            [f"row {number(row + 1)}", float(weights[row]), _loss(explanation, place, row),
             in_words(subject.kind, subject.space, outputs[row], most=MOST_PARTS)]
            for row in rows
        ]  # fmt: skip
        if cells:
            header = ["training", "weight", "loss", "its output"]
            tables.append(Table(header, cells, caption, narrow=True))
    return tables


def _loss(explanation, place, row) -> float:
    return float(np.asarray(explanation.losses)[place, row])
