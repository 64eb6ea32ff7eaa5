# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct explore``: a live page of a model on some rows."""

from typing import Any

import click

from skstruct.cli.options import DATA, EXISTING, quiet_option, reading_options, verbose_option
from skstruct.cli.terminal import shows_progress


@click.command(short_help="A live page of a model: rows, decisions, what would change them.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True,
              help="Of the page on this machine; 0 for one that is free.")  # fmt: skip
@click.option("--browser/--no-browser", default=True, show_default=True,
              help="Open the page in the browser.")  # fmt: skip
@click.option("--train", type=DATA,
              help="The data of training, to look at rows that speak for a decision.")  # fmt: skip
@reading_options
@verbose_option
@quiet_option
@shows_progress
def explore(
    model: Any,
    data: Any,
    port: int,
    browser: bool,
    train: Any,
    verbose: int,
    quiet: bool,
    **reading: Any,
) -> None:
    """Explore the decisions of MODEL on DATA in the browser, until Ctrl-C.

    The page shows the rows with their predictions, risks and losses, and for each of them the
    decision in its structure. Loss, constraints and inputs can be changed, and the decision is
    made anew. The page is served by this program to this machine alone; nothing leaves it. DATA
    may have no outputs. Of large files the first 10,000 rows are explored, unless --first says
    how many.
    """
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.models import open_model, read_labelled
    from skstruct.cli.terminal import say
    from skstruct.explorer import make_app
    from skstruct.explorer.running import FIRST, run

    task_model = open_model(model)
    table, y = _rows(task_model, data, reading, quiet)
    trained = None
    if train is not None:
        trained = read_labelled(task_model, train, {**reading, "first": None}, quiet=True)[0].inputs
    first = reading.get("first") or FIRST
    if len(table) > first:
        say(f"{table.name}: the first {first:,} of {len(table):,} rows; more by --first.", quiet)
    with bad_data(f"{table.name}: "):
        app = make_app(
            task_model, table.inputs, y, name=task_model.about_["data"], row_names=table.index,
            X_train=trained, first=first,
        )  # fmt: skip
    run(app, port, browser)


def _rows(model: Any, path: Any, options: dict[str, Any], quiet: bool) -> tuple[Any, Any]:
    """A data file, and its outputs as the learner reads them; None where it has none."""
    from skstruct.cli.exit_codes import BadData
    from skstruct.cli.models import read_inputs, read_labelled, training_remark
    from skstruct.cli.terminal import say

    try:
        table, _, y = read_labelled(model, path, options, quiet=quiet)
    except BadData as error:
        table, _ = read_inputs(model, path, options)
        say(f"{table.name}: without true outputs: {error}", quiet)
        return table, None
    training_remark(model, table, quiet)
    return table, y
