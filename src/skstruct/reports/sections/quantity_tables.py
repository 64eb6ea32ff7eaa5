# SPDX-License-Identifier: BSD-3-Clause
"""Numbers: how far off, on which side, and by which target."""

from __future__ import annotations

import numpy as np

from skstruct.inspection import FlowDisplay
from skstruct.inspection.drawing import GOOD, LITERAL
from skstruct.reports.kinds import label_text
from skstruct.reports.pages import Brief, Section, Table, Text
from skstruct.reports.pictures import picture

QUANTILES = (0.05, 0.5, 0.95)
MOST_DRAWN = 6  # targets of a picture
MOST_DOTS = 2000


def section(subject) -> Section:
    """Errors by target, and predictions against truths."""
    Z, Y = (_columns(part) for part in (subject.predicted, subject.truth))
    labels = list(subject.space.labels_)
    names = ["output"] if labels == [0] else [label_text(name) for name in labels]
    errors = Z - Y
    spread = Y.var(axis=0)
    explained = 1 - np.divide(
        (errors**2).mean(axis=0), spread, out=np.full(len(names), np.nan), where=spread > 0
    )
    quantiles = np.quantile(errors, QUANTILES, axis=0)
    order = np.argsort(-np.abs(errors).mean(axis=0), kind="stable")
    columns = [
        Y.mean(axis=0), errors.mean(axis=0), np.abs(errors).mean(axis=0),
        np.sqrt((errors**2).mean(axis=0)), explained, *quantiles,
    ]  # fmt: skip
    rows = [
        [names[j], *map(Brief, numbers)]
        for j, numbers in zip(order, np.column_stack(columns)[order])
    ]
    header = ["target", "mean truth", "mean error", "mean absolute", "root mean square", "R²"]
    header += [f"{q:.0%} of errors below" for q in QUANTILES]
    caption = f"{len(names)} of them, largest errors first; an error is prediction minus truth"
    about = (
        f"Mean absolute error {np.abs(errors).mean():.4g}, root mean square "
        f"{np.sqrt((errors**2).mean()):.4g} over all numbers."
    )
    blocks: list = [Text(about)]
    if subject.kind == "flow":
        blocks.append(_mean_flows(subject, Z, Y))
    shown = order[:MOST_DRAWN]
    drawn = ", ".join(names[j] for j in shown) if len(shown) < len(names) else "all targets"
    blocks.append(
        picture(
            lambda: _scatter(Z, Y, shown, names, subject.rng),
            "Predictions against true numbers",
            f"predictions against truths: {drawn}",
        )
    )
    blocks.append(Table(header, rows, caption))
    title = "Arcs" if subject.kind == "flow" else "Targets"
    return Section(f"{title}: how far off", "targets", blocks)


def _columns(outputs) -> np.ndarray:
    outputs = np.asarray(outputs, dtype=float)
    return outputs[:, None] if outputs.ndim == 1 else outputs


def _mean_flows(subject, Z, Y):
    where = subject.options.get("coordinates")
    display = FlowDisplay(subject.space.network_, Z.mean(axis=0), Y.mean(axis=0), where)
    return picture(
        display.plot, "The network with mean predicted and true flows",
        "means over all rows: predicted | true",
    )  # fmt: skip


def _scatter(Z, Y, shown, names, rng):
    from matplotlib import pyplot

    columns = min(3, len(shown))
    lines = -(-len(shown) // columns)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(3.2 * columns, 3.0 * lines), layout="constrained", squeeze=False
    )
    rows = np.arange(len(Z))
    if len(rows) > MOST_DOTS:
        rows = rng.choice(len(rows), MOST_DOTS, replace=False)
    for ax, j in zip(axes.flat, shown):
        ax.plot(Y[rows, j], Z[rows, j], ".", color=GOOD, markersize=4, alpha=0.5, mew=0)
        ends = [min(Y[rows, j].min(), Z[rows, j].min()), max(Y[rows, j].max(), Z[rows, j].max())]
        ax.plot(ends, ends, ":", color="black", linewidth=1)
        if len(names) > 1:
            ax.set_title(names[j], fontsize=9, **LITERAL)
        ax.set(xlabel="truth", ylabel="prediction")
    for ax in axes.flat[len(shown) :]:
        ax.set_axis_off()
    return figure
