# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct fit``: from a data file to a model file."""

from __future__ import annotations

import click

from skstruct.cli.options import (
    EXISTING,
    check_loss,
    check_writable,
    json_option,
    loss_option,
    parse_settings,
    quiet_option,
    read_file,
    reading_options,
    skip_option,
    verbose_option,
)
from skstruct.cli.progress import shows_progress


@click.command(short_help="Learn from a data file, write a model file.")
@click.argument("data", type=EXISTING)
@click.option("-o", "--output", "model", required=True, help="The model file to write.")
@reading_options
@skip_option
@loss_option
@click.option("--learner", default="auto", help="auto, or one of those of `compare --help`.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="A parameter of the learner, such as alpha=0.1; may be repeated.",
)  # fmt: skip
@click.option("--scale", type=click.Choice(["standard", "none"]), default="standard",
              help="Whether numeric columns are brought to unit variance.")  # fmt: skip
@click.option("--checkpoint", help="Where a long fit keeps its state, to go on after a crash.")
@verbose_option
@quiet_option
@json_option
@shows_progress
def fit(
    data, model, loss, learner, settings, scale, checkpoint, verbose, quiet, as_json, **reading
):
    """Learn from DATA and write a model file, which holds data only and cannot run code.

    Task and format are guessed from the file where they can be, and the guess is printed.

    \b
    skstruct fit enron.arff -o enron.model
    skstruct fit flowers.csv --target species -o flowers.model --set alpha=0.1
    skstruct fit songs.csv --task labels --target moods --loss f1 -o songs.model
    """
    from skstruct.cli.exits import writing
    from skstruct.cli.printing import print_facts, print_json, say
    from skstruct.persistence import save_model
    from skstruct.tasks import TaskModel

    check_writable(model)
    if loss is not None:
        check_loss(loss)
    table = read_file(data, reading, quiet=quiet)
    parameters = parse_settings(settings)
    task_model = TaskModel(learner, loss, parameters, scale, verbose=int(verbose))
    _check(task_model, table)
    task_model.fit(table, checkpoint=checkpoint)
    task_model.reading_ = {"targets": list(reading["targets"]), "id_column": reading["id_column"]}
    if learner == "auto":
        say(f"{table.name}: {task_model.about_['remarks'][-1]}", quiet)
    with writing(model):
        save_model(task_model, model, X=table.take(slice(3)))
    summary = {"model": model, **task_model.about_}
    if as_json:
        print_json(summary)
    else:
        shown = {**summary, "seconds": summary["seconds"]["fit"]}
        print_facts((name, value) for name, value in shown.items() if name != "remarks")


def _check(task_model, table):
    """Say what is wrong with data or parameters before any work is done."""
    from skstruct.cli.exits import bad_data
    from skstruct.tasks import outputs_for_learning, space_for

    name, _ = task_model._chosen(table)
    try:
        task_model.new_learner(table, name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with bad_data(f"{table.name}: "):
        outputs = outputs_for_learning(table)
        if len(table) == 0:
            raise ValueError("there are no rows to learn from.")
        space_for(table).fit(outputs).validate(outputs)
