# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct fit``: from a data file to a model file."""

import contextlib
from typing import Any

import click

from skstruct.cli.options import (
    DATA,
    check_loss,
    check_writable,
    hold_machine_settings,
    json_option,
    loss_option,
    parse_settings,
    quiet_option,
    read_file,
    reading_options,
    skip_option,
    verbose_option,
)
from skstruct.cli.terminal import shows_progress


@click.command(short_help="Learn from a data file, write a model file.")
@click.argument("data", type=DATA)
@click.option("-o", "--output", "model", required=True, help="The model file to write.")
@reading_options
@skip_option
@loss_option
@click.option("--learner", default="auto", help="auto, or one of those of `compare --help`.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="A parameter of the learner, such as alpha=0.1 or kernel__gamma=2, or of the machine: "
         "device, engine, memory, precision; may be repeated.",
)  # fmt: skip
@click.option("--scale", type=click.Choice(["standard", "none"]), default="standard",
              help="Whether numeric columns are brought to unit variance.")  # fmt: skip
@click.option(
    "--block-rows", type=click.IntRange(1), metavar="N",
    help="Read CSV and Parquet files in blocks of N rows; tables above 32 MB are read in blocks of "
         "10,000 rows if left out.",
)  # fmt: skip
@click.option("--checkpoint", help="Where a long fit keeps its state, to go on after a crash.")
@verbose_option
@quiet_option
@json_option
@shows_progress
def fit(
    data: str,
    model: str,
    loss: Any,
    learner: str,
    settings: tuple[Any, ...],
    scale: str,
    block_rows: int | None,
    checkpoint: Any,
    verbose: int,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Learn from DATA and write a model file, which holds data only and cannot run code.

    Task, format and learner are guessed from the file where they can be, and the guess is printed
    before the work begins. DATA may be a folder of Parquet files. Tables of any length are learned
    from in blocks of rows, by the learners kernel and linear.

    \b
    skstruct fit enron.arff -o enron.model
    skstruct fit flowers.csv --target species -o flowers.model --set alpha=0.1
    skstruct fit songs.csv --task labels --target moods --loss f1 -o songs.model
    """
    from skstruct.cli.exit_codes import writing
    from skstruct.cli.terminal import print_facts, print_json, say
    from skstruct.persistence import save_model
    from skstruct.tasks import TaskModel

    check_writable(model)
    if loss is not None:
        check_loss(loss)
    parameters = hold_machine_settings(parse_settings(settings))
    task_model = TaskModel(learner, loss, parameters, scale, verbose=int(verbose))
    table = _read(task_model, data, reading, block_rows, quiet)
    for sentence in _checked(task_model, table):
        say(f"{table.name}: {sentence}", quiet)
    with contextlib.nullcontext() if checkpoint is None else writing(checkpoint):
        task_model.fit(table, checkpoint=checkpoint)
    counted = reading["n_labels"] is not None and table.task == "labels"
    targets = table.labels if counted else reading["targets"]
    task_model.reading_ = {"targets": list(targets), "id_column": reading["id_column"]}
    with writing(model):
        save_model(task_model, model, X=_some_rows(table))
    summary = {"model": model, **task_model.about_}
    if as_json:
        print_json(summary)
    else:
        shown = {**summary, "seconds": summary["seconds"]["fit"]}
        print_facts((name, value) for name, value in shown.items() if name != "remarks")


def _read(
    task_model: Any, path: str, reading: dict[str, Any], block_rows: int | None, quiet: bool
) -> Any:
    """A Dataset; or TrainingBlocks if the file is large or blocks are asked for."""
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.memory import is_large
    from skstruct.cli.options import check_format, tell_remarks
    from skstruct.cli.terminal import say
    from skstruct.datasets.blocks import has_blocks
    from skstruct.datasets.encodings import text_path

    check_format(reading["format_"])
    with bad_data():
        source = text_path(path, reading["encoding"])
        able = has_blocks(source, reading["format_"])
        large = able and is_large(source, reading["format_"])
    if block_rows is not None and not able:
        raise click.UsageError("--block-rows is of CSV and Parquet files; others have no blocks.")
    if not (large or block_rows is not None):
        return read_file(path, reading, quiet=quiet)
    why = _known_to_need_all(task_model)
    if why is None:
        say(f"{path} is read in blocks of {block_rows or 10_000:,} rows.", quiet)
        table = _blocks(path, reading, block_rows, quiet)
        why = _why_all(task_model, table)
        if why is None:
            tell_remarks(table, quiet)
            return table
    if block_rows is not None:
        raise click.UsageError(f"{why} needs all rows at once: leave --block-rows out.")
    say(f"{path} is read as a whole: {why} needs all rows at once.", quiet)
    return read_file(path, reading, quiet=quiet)


def _blocks(path: str, reading: dict[str, Any], block_rows: int | None, quiet: bool) -> Any:
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.terminal import watched_passes
    from skstruct.datasets.formats.base import ReadOptions
    from skstruct.datasets.training_blocks import TrainingBlocks

    if reading["labels_file"] is not None:
        raise click.UsageError("--labels-file is of ARFF and LIBSVM files.")
    options = ReadOptions(
        task=reading["task"] or (reading["n_labels"] and "labels"),
        targets=tuple(reading["targets"]) or None,
        n_labels=reading["n_labels"],
        edges_file=reading["edges_file"],
        id_column=reading["id_column"],
        skip_unlabelled=reading["skip_unlabelled"],
    )
    with bad_data():
        return TrainingBlocks(
            path, options, format=reading["format_"], rows=block_rows or 10_000,
            first=reading["first"], watch=watched_passes(path, quiet),
            encoding=reading["encoding"] or "utf-8",
        )  # fmt: skip


def _known_to_need_all(task_model: Any) -> str | None:
    """Whether no data are needed to know that a learner does not read blocks."""
    from skstruct.tasks import LEARNERS
    from skstruct.tasks.learners import reads_blocks

    name = task_model.learner
    return None if name not in LEARNERS or reads_blocks(name) else f"the learner {name}"


def _why_all(task_model: Any, table: Any) -> str | None:
    from skstruct.tasks import space_for
    from skstruct.tasks.learners import loss_of, needs_all_rows

    name, _ = task_model._chosen(table)
    learner = _made(task_model, table, name)
    return needs_all_rows(name, learner, loss_of(learner, space_for(table)))


def _made(task_model: Any, table: Any, name: str) -> Any:
    own = {"loss": "--loss NAME", "space": "--task NAME", "verbose": "--verbose"}
    for key in task_model.parameters:
        if key in own:
            raise click.UsageError(f"--set {key}: give {own[key]} instead.")
    try:
        return task_model.new_learner(table, name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _checked(task_model: Any, table: Any) -> list[str]:
    """Say what is wrong with data or parameters before any work is done, and what will be done."""
    from skstruct.cli.exit_codes import bad_data
    from skstruct.datasets import Dataset
    from skstruct.datasets.tasks import check_outputs
    from skstruct.tasks import space_for
    from skstruct.tasks.learners import choice_in_words

    name, _ = task_model._chosen(table)
    learner = _made(task_model, table, name)
    with bad_data(f"{table.name}: "):
        if isinstance(table, Dataset):
            if len(table) == 0:
                raise ValueError("there are no rows to learn from.")
            check_outputs(table)
        space, encoder = space_for(table), task_model.new_encoder(table)
    why = "as asked" if task_model.learner != "auto" else default_reason(table)
    return choice_in_words(name, why, learner, space, table, encoder)


def default_reason(table: Any) -> str:
    """Why a learner is taken when none is asked for."""
    from skstruct.tasks import default_learner

    return default_learner(table)[1]


def _some_rows(table: Any) -> Any:
    """A few rows to try a saved model by."""
    from skstruct.datasets import Dataset

    if isinstance(table, Dataset):
        return table.take(slice(3))
    return next(data for data in table.datasets("", 1000) if len(data)).take(slice(3))
