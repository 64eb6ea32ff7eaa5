# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct evaluate``: losses on data that the model has not seen."""

from __future__ import annotations

import click

from skstruct.cli.options import (
    DATA,
    EXISTING,
    json_option,
    parse_restrict,
    quiet_option,
    reading_options,
    restrict_option,
    skip_option,
)
from skstruct.cli.progress import shows_progress


@click.command(short_help="Losses of a model on a data file, with intervals.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option("--loss", "losses", multiple=True, help="May be repeated; all that fit if left out.")
@restrict_option
@click.option("--bootstrap", type=click.IntRange(1), default=1000, show_default=True,
              help="Draws of the rows for the intervals.")  # fmt: skip
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
              show_default=True, help="Of the intervals.")  # fmt: skip
@reading_options
@skip_option
@quiet_option
@json_option
@shows_progress
def evaluate(model, data, losses, restrict, bootstrap, level, quiet, as_json, **reading):
    """Mean losses of MODEL on DATA, each with a bootstrap interval and the best constant answer.

    A model that can, predicts anew for every loss ("aimed").
    """
    from skstruct.cli.models import open_model, read_labelled, training_remark
    from skstruct.cli.options import check_loss, check_restrict
    from skstruct.cli.printing import print_json, print_table
    from skstruct.model_selection import evaluate as evaluated

    for loss in losses:
        check_loss(loss)
    task_model = open_model(model)
    limits = parse_restrict(restrict)
    check_restrict(task_model.learner_.space_, limits)
    table, X, y = read_labelled(task_model, data, reading, quiet=quiet)
    seen = training_remark(task_model, table, quiet)
    estimates = evaluated(
        task_model.learner_, X, y, losses=list(losses) or None, restrict=limits,
        n_bootstrap=bootstrap, level=level,
    )  # fmt: skip
    columns = ("loss", "mean", "low", "high", "baseline", "aimed")
    rows = [[getattr(estimate, name) for name in columns] for estimate in estimates]
    if as_json:
        records = [dict(zip(columns, row)) for row in rows]
        known = {} if seen is None else {"rows_of_training": seen.n_seen}
        print_json({"rows": len(table), **known, "level": level, "losses": records})
    else:
        title = f"{table.name}, {len(table):,} rows; intervals of {100 * level:g} %"
        shown = [[*row[:-1], "yes" if row[-1] else "no"] for row in rows]
        print_table(title, columns, shown, numbers=columns[1:5])
