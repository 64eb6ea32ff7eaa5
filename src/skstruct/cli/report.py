# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct report``: one HTML file that shows what a model is worth."""

from __future__ import annotations

import click

from skstruct.cli.options import (
    DATA,
    EXISTING,
    quiet_option,
    reading_options,
    skip_option,
    verbose_option,
)
from skstruct.cli.progress import shows_progress


@click.command(short_help="Everything about a model and its errors in one HTML file.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option("-o", "--output", required=True, help="The HTML file to write.")
@click.option("--title", help="Of the page.")
@click.option("--train", type=DATA, help="The data of training, for losses on them beside.")
@click.option("--examples", type=click.IntRange(0), default=6, show_default=True,
              help="Predictions that are shown one by one.")  # fmt: skip
@reading_options
@skip_option
@verbose_option
@quiet_option
@shows_progress
def report(model, data, output, title, train, examples, verbose, quiet, **reading):
    """Show what MODEL was trained on, its losses on DATA and where its errors are.

    The page opens without a network. DATA should not be the data of training.
    """
    from skstruct.cli.exits import writing
    from skstruct.cli.models import open_model, read_labelled, training_remark
    from skstruct.cli.options import check_writable
    from skstruct.cli.printing import say
    from skstruct.reports import write_report

    check_writable(output)
    task_model = open_model(model)
    table, X, y = read_labelled(task_model, data, reading, quiet=quiet)
    about, X_train, y_train = task_model.about_, None, None
    if train is not None:
        _, X_train, y_train = read_labelled(task_model, train, reading, quiet=quiet)
    seen = training_remark(task_model, table, quiet)
    with writing(output):
        write_report(
            task_model.learner_, X, y, output,
            title=title or f"{about['data']}: {task_model.task_}",
            data_name=table.name,
            feature_names=getattr(task_model.encoder_, "feature_names_", None),
            timings=about["seconds"],
            n_examples=examples,
            verbose=int(verbose),
            X_train=X_train,
            y_train=y_train,
            remarks=() if seen is None else (str(seen),),
        )  # fmt: skip
    say(f"Wrote {output}.", quiet)
