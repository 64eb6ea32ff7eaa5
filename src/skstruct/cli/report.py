# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct report``: one HTML file that shows what a model is worth."""

from __future__ import annotations

import click

from skstruct.cli.options import EXISTING, quiet_option, reading_options, verbose_option


@click.command(short_help="Everything about a model and its errors in one HTML file.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=EXISTING)
@click.option("-o", "--output", required=True, help="The HTML file to write.")
@click.option("--title", help="Of the page.")
@click.option("--examples", type=click.IntRange(0), default=6, show_default=True,
              help="Predictions that are shown one by one.")  # fmt: skip
@reading_options
@verbose_option
@quiet_option
def report(model, data, output, title, examples, verbose, quiet, **reading):
    """Show what MODEL was trained on, its losses on DATA and where its errors are.

    The page opens without a network. DATA should not be the data of training.
    """
    from skstruct.cli.exits import bad_data
    from skstruct.cli.models import open_model, read_for
    from skstruct.cli.printing import say
    from skstruct.reports import write_report
    from skstruct.tasks import outputs_for_learning

    task_model = open_model(model)
    table = read_for(task_model, data, reading, quiet=quiet, outputs=True)
    with bad_data(f"{table.name}: "):
        X, y = task_model.inputs(table), outputs_for_learning(table)
        task_model.learner_.space_.validate(y)
    about = task_model.about_
    write_report(
        task_model.learner_, X, y, output,
        title=title or f"{about['data']}: {task_model.task_}",
        data_name=table.name,
        feature_names=getattr(task_model.encoder_, "feature_names_", None),
        timings=about["seconds"],
        n_examples=examples,
        verbose=int(verbose),
    )  # fmt: skip
    say(f"Wrote {output}.", quiet)
