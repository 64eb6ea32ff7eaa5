# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct compare``: several learners on the same folds."""

from __future__ import annotations

from pathlib import Path

import click

from skstruct.cli.options import (
    DATA,
    check_loss,
    check_writable,
    json_option,
    loss_option,
    quiet_option,
    read_file,
    reading_options,
    skip_option,
    verbose_option,
)
from skstruct.cli.progress import shows_progress

COLUMNS = ("loss", "learner", "mean", "low", "high", "behind", "behind low", "behind high",
           "fit s", "predict s")  # fmt: skip
NAMES = (
    "kernel, linear, forest, neighbors, exponential, svm, tree, perceptron, counting, output-kernel"
)


@click.command(short_help="Several learners on the same folds.")
@click.argument("data", type=DATA)
@click.option("--learners", default="kernel,forest,neighbors", show_default=True,
              help=f"Names with commas: {NAMES}.")  # fmt: skip
@loss_option
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True)
@click.option("--plot", "picture", help="A picture to write, such as losses.png.")
@reading_options
@skip_option
@verbose_option
@quiet_option
@json_option
@shows_progress
def compare(data, learners, loss, folds, picture, verbose, quiet, as_json, **reading):
    """Cross-validate several learners on the same folds of DATA.

    "behind" is how much more a learner loses than the best of its loss, row by row; where its
    interval is above zero, the difference is hardly chance.
    """
    from skstruct.cli.exits import bad_data
    from skstruct.cli.printing import print_json, print_table, say
    from skstruct.datasets.table import Table
    from skstruct.model_selection import compare as compared
    from skstruct.tasks import TokenEncoder, outputs_for_learning, space_for

    if picture is not None:
        check_writable(picture)
    if loss is not None:
        check_loss(loss)
    table = read_file(data, reading, quiet=quiet)
    with bad_data(f"{table.name}: "):
        y = outputs_for_learning(table)
        space = space_for(table)
        space.fit(y).validate(y)
        if len(table) < folds:
            raise ValueError(f"{len(table)} rows cannot be split into {folds} folds.")
    named = _learners(learners, space, loss)
    if isinstance(table.inputs, Table):
        X, named = _with_encoders(table.inputs, named)
    else:
        X = TokenEncoder().fit(table.inputs).transform(table.inputs)
    result = compared(named, X, y, cv=folds, verbose=int(verbose))
    for name, why in result.failed.items():
        say(f"{name} took no part: {why}", quiet)
    rows = [
        (r.loss, r.name, r.mean, r.low, r.high, r.behind, r.behind_low, r.behind_high,
         r.fit_seconds, r.predict_seconds)
        for r in result.rows
    ]  # fmt: skip
    if picture is not None:
        _draw(result, picture)
    if as_json:
        records = [dict(zip([c.replace(" ", "_") for c in COLUMNS], row)) for row in rows]
        print_json(
            {"rows": len(table), "folds": folds, "results": records, "failed": result.failed}
        )
    else:
        title = f"{table.name}, {len(table):,} rows in {folds} folds; intervals of 95 %"
        print_table(title, COLUMNS, rows, numbers=COLUMNS[2:])


def _learners(names, space, loss):
    from skstruct.tasks import make_learner

    try:
        return {name: make_learner(name, space, loss) for name in names.replace(" ", "").split(",")}
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _with_encoders(inputs, learners):
    """Row numbers as inputs, and learners that look them up, encoded by the rows of training."""
    import numpy as np

    from skstruct.tasks.rows import RowLearner

    X = np.arange(len(inputs))[:, None]
    return X, {name: RowLearner(inputs, learner) for name, learner in learners.items()}


def _draw(result, path):
    import matplotlib as mpl

    mpl.use("Agg")
    from skstruct._files.atomic import replacing
    from skstruct.cli.exits import writing
    from skstruct.inspection.comparison import ComparisonDisplay

    figure = ComparisonDisplay.from_comparison(result).figure_
    kind = Path(path).suffix.lstrip(".").lower() or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        raise click.UsageError(f"{path}: a picture is one of {known}; {kind!r} is none of them.")
    with writing(path), replacing(path, "wb") as file:
        figure.savefig(file, dpi=150, format=kind)
