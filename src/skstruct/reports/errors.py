# SPDX-License-Identifier: BSD-3-Clause
"""Where errors concentrate, by the kind of outputs: rankings, tours and quantities here."""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from skstruct.drawings.parts import label_text
from skstruct.inspection import FlowDisplay
from skstruct.inspection.drawing import GOOD, LITERAL, axes_of
from skstruct.reports.label_errors import (
    COUNTS_HEADER,
    Counts,
    class_section,
    label_section,
    sequence_section,
)
from skstruct.reports.outputs import part_text
from skstruct.reports.pages import Brief, Section, Share, Table, Text, left_out, number
from skstruct.reports.pictures import picture, places_of
from skstruct.spaces import Description
from skstruct.spaces.quantities.networks import read_network

MOST_ITEMS = 30  # of a picture


def ranking_section(subject: Any) -> Section:
    """Mistakes by pair and by item."""
    Z, Y = np.asarray(subject.predicted, float), np.asarray(subject.truth, float)
    names = [label_text(item, 30) for item in subject.space.items_]
    decided, wrong = pair_mistakes(Z, Y)
    share = np.divide(wrong, decided, out=np.full(wrong.shape, np.nan), where=decided > 0)
    upper = np.triu_indices(len(names), 1)
    off = wrong[upper].sum() / max(decided[upper].sum(), 1)
    text = f"{off:.1%} of the pairs are in the wrong order. {_first(Z, Y)}"
    blocks: list[Any] = [Text(text)]
    if 2 <= len(names) <= MOST_ITEMS:
        blocks.append(
            picture(
                lambda: _drawn(share, names),
                "Pairs of items by the share in the wrong order",
                "share of rows in which a pair is in the wrong order",
            )
        )
    rows = [
        [names[p], names[q], decided[p, q], wrong[p, q], Share(share[p, q])]
        for p, q in combinations(range(len(names)), 2)
    ]
    rows.sort(key=lambda row: -np.nan_to_num(row[4]))
    header = ["item", "and", "rows that rank both", "wrong order", "share"]
    blocks.append(Table(header, rows, "pairs, those most often wrong first", narrow=True))
    blocks.append(_items(Z, Y, names))
    return Section("What it gets wrong: pairs of items", "pairs", blocks)


def pair_mistakes(Z: np.ndarray, Y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows that order p and q, and those in which the prediction does it otherwise; (d, d).

    Ties and items that are not ranked leave a pair undecided.
    """
    d = Z.shape[1]
    decided, wrong = np.zeros((d, d), int), np.zeros((d, d), int)
    for p in range(d):
        with np.errstate(invalid="ignore"):
            true, taken = np.sign(Y - Y[:, [p]]), np.sign(Z - Z[:, [p]])
        known = np.nan_to_num(true) != 0
        decided[p] = known.sum(axis=0)
        wrong[p] = (known & (taken != true)).sum(axis=0)
    return decided, wrong


def _first(Z: np.ndarray, Y: Any) -> str:
    known = ~np.isnan(Y).all(axis=1)
    if not known.any():
        return ""
    best = np.nanargmin(Y[known], axis=1)
    right = np.nanargmin(Z[known], axis=1) == best
    return f"In {right.mean():.1%} of the rows the best item is predicted to be the best."


def _items(Z: np.ndarray, Y: Any, names: list[str]) -> Table:
    off = Z - Y
    rows = []
    for j, name in enumerate(names):
        known = ~np.isnan(off[:, j])
        if known.any():
            true, mine = Y[known, j].mean(), Z[known, j].mean()
            rows.append([name, int(known.sum()), true, mine, np.abs(off[known, j]).mean()])
    rows.sort(key=lambda row: -row[4])
    header = ["item", "rows", "mean true rank", "mean predicted rank", "mean distance"]
    return Table(header, rows, "items, those farthest off first", narrow=True)


def _drawn(share: np.ndarray, names: list[str]) -> Any:
    d = len(names)
    size = min(2.2 + 0.4 * d, 9.0)
    ax = axes_of(None, "write_report", (size + 1.0, size))
    shown = share.copy()
    np.fill_diagonal(shown, np.nan)
    top = max(float(np.nanmax(shown, initial=0.0)), 0.05)
    image = ax.imshow(shown, cmap="Reds", vmin=0, vmax=top)
    if d <= 16:
        for i, j in zip(*np.nonzero(~np.isnan(shown))):
            colour = "white" if shown[i, j] > 0.6 * top else "black"
            text = f"{shown[i, j]:.2f}"
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=colour)
    ax.set_yticks(range(d), names, **LITERAL)
    ax.set_xticks(range(d), names, rotation=45, ha="right", **LITERAL)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
    return ax.figure


# Tours: which places and which ways between them go wrong.


MOST_WAYS = 120  # of the map, those with most mistakes


def tour_section(subject: Any) -> Section:
    """Shares by place and by edge."""
    space, Z, Y = subject.space, subject.predicted, subject.truth
    visited, due = (visits(space, part) for part in (Z, Y))
    places = Counts.of_sets(visited, due)
    edges = Counts.of_sets(Z, Y)
    text = (
        f"{(visited == due).all(axis=1).mean():.1%} of the tours visit the right places, "
        f"{(np.asarray(Z) == np.asarray(Y)).all(axis=1).mean():.1%} in the right order too. "
        f"{due.sum(axis=1).mean():.2f} places per tour, {visited.sum(axis=1).mean():.2f} predicted."
    )
    names = [label_text(node) for node in space.nodes_]
    order = np.argsort(-places.errors, kind="stable")
    by_place = Table(["place", *COUNTS_HEADER], places.rows(names, order), "places, worst first")
    used = np.argsort(-edges.errors, kind="stable")
    used = used[(edges.support + edges.false)[used] > 0]
    between = " → " if space.directed else " – "
    ways = [label_text(label, between=between) for label in space.edge_labels_]
    by_edge = Table(
        ["way", *COUNTS_HEADER], edges.rows(ways, used), "ways that were taken, worst first"
    )
    blocks: list[Any] = [Text(text)]
    if len(used):
        drawn = partial(_map, subject, edges, used[:MOST_WAYS])
        about = "Places and the ways between them, as broad as they were taken often"
        blocks.append(picture(drawn, about, "how often ways were taken: predicted | true"))
    blocks += [by_place, by_edge]
    return Section("What it gets wrong: places and ways", "places", blocks)


def _map(subject: Any, edges: Counts, used: np.ndarray) -> FlowDisplay:
    """Ways as if they were flows: predicted on one side, true on the other."""
    space, given = subject.space, places_of(subject)
    at = given if hasattr(given, "keys") else dict(zip(space.nodes_, np.asarray(given)))
    network = read_network([tuple(space.edge_labels_[a]) for a in used])
    counts = (edges.found + edges.false)[used], edges.support[used]
    return FlowDisplay(network, *counts, at, directed=bool(space.directed)).plot()


def visits(space: Any, outputs: np.ndarray) -> np.ndarray:
    """Whether each place is on each tour; shape (n, n_places)."""
    tours = np.asarray(space.tours(np.asarray(outputs)))
    found = np.zeros((len(tours), len(space.nodes_)), dtype=bool)
    rows, columns = np.nonzero(tours >= 0)
    found[rows, tours[rows, columns]] = True
    return found


# Numbers: how far off, on which side, and by which target.


QUANTILES = (0.05, 0.5, 0.95)
MOST_DRAWN = 6  # targets of a picture
MOST_DOTS = 2000


def quantity_section(subject: Any) -> Section:
    """Errors by target, and predictions against truths."""
    Z, Y = (_columns(part) for part in (subject.predicted, subject.truth))
    labels = list(subject.space.labels_)
    names = ["output"] if labels == [0] else [label_text(name) for name in labels]
    if subject.known is not None:
        return _known_quantities(subject, Z, Y, names)
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
    blocks: list[Any] = [Text(about)]
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
    title = "arcs" if subject.kind == "flow" else "numbers"
    return Section(f"What it gets wrong: {title}, and how far off", "targets", blocks)


def _known_quantities(subject: Any, Z: np.ndarray, Y: np.ndarray, names: list[str]) -> Section:
    """Errors by target, in the rows in which each is known."""
    rows: list[list[Any]] = []
    for j, name in enumerate(names):
        here = subject.known[:, j]
        errors, truths = (Z - Y)[here, j], Y[here, j]
        if not here.any():
            rows.append([name, 0, *[Brief(np.nan)] * 4])
            continue
        sizes = truths.mean(), errors.mean(), np.abs(errors).mean(), np.sqrt((errors**2).mean())
        rows.append([name, int(here.sum()), *map(Brief, sizes)])
    rows.sort(key=lambda row: -np.nan_to_num(float(row[4])))
    header = ["target", "rows", "mean truth", "mean error", "mean absolute", "root mean square"]
    every = (Z - Y)[subject.known]
    about = (
        f"Mean absolute error {np.abs(every).mean():.4g}, root mean square "
        f"{np.sqrt((every**2).mean()):.4g} over all numbers that are known."
    )
    caption = f"{len(names)} of them, largest errors first; an error is prediction minus truth"
    table = Table(header, rows, caption)
    return Section("What it gets wrong: numbers, and how far off", "targets", [Text(about), table])


def _columns(outputs: np.ndarray) -> np.ndarray:
    outputs = np.asarray(outputs, dtype=float)
    return outputs[:, None] if outputs.ndim == 1 else outputs


def _mean_flows(subject: Any, Z: np.ndarray, Y: Any) -> Any:
    where = subject.options.get("coordinates")
    display = FlowDisplay(subject.space.network_, Z.mean(axis=0), Y.mean(axis=0), where)
    return picture(
        display.plot, "The network with mean predicted and true flows",
        "means over all rows: predicted | true",
    )  # fmt: skip


def _scatter(
    Z: np.ndarray, Y: Any, shown: np.ndarray, names: list[str], rng: np.random.Generator
) -> Any:
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


# Which part of the outputs goes wrong: tables and pictures by the kind of outputs.


def part_section(subject: Any) -> Section:
    """Shares by part, whatever a space calls its parts."""
    names, counts = part_counts(subject.space, subject.predicted, subject.truth)
    right = np.mean([np.array_equal(z, y) for z, y in zip(subject.predicted, subject.truth)])
    total = counts.total()
    text = (
        f"{right:.1%} of the outputs are right as a whole; all parts together: precision "
        f"{number(Share(total.precision[0]))}, recall {number(Share(total.recall[0]))}."
    )
    order = np.argsort(-counts.errors, kind="stable")
    rows = counts.rows(names, order)
    caption = f"{len(names)} parts that occur, those with most mistakes first"
    table = Table(["part", *COUNTS_HEADER], rows, caption)
    return Section("What it gets wrong: parts", "parts", [Text(text), table])


def part_counts(space: Any, predicted: Any, truth: Any) -> tuple[list[str], Counts]:
    """Names of all parts that occur, and the rows in which each was found, missed or false."""
    names: dict[Any, Any] = {}  # by key
    rows = []
    for outputs in zip(predicted, truth):
        parts_of = Description.of(space).parts_of
        both = [parts_of(z) for z in outputs]
        names.update({p.key: part_text(p, said.longest) for said in both for p in said.parts})
        rows.append([{part.key for part in said.parts} for said in both])
    has = np.array([[[key in keys for key in names] for keys in row] for row in rows])
    return list(names.values()), Counts.of_sets(has[:, 0], has[:, 1])


SECTIONS = {
    "parts": part_section,
    "classes": class_section,
    "ordinal": class_section,
    "labels": label_section,
    "hierarchy": label_section,
    "ranking": ranking_section,
    "sequence": sequence_section,
    "quantities": quantity_section,
    "flow": quantity_section,
    "tour": tour_section,
}


def error_section(subject: Any) -> Section:
    """Tables of the kind of outputs that the space has."""
    section = SECTIONS.get(subject.kind)
    if section is None:
        why = f"outputs of {type(subject.space).__name__} have no parts that a table could list."
        return left_out("What it gets wrong", "parts", why)
    return section(subject)
