# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct card``: what a model is for, what it is worth and where its limits are."""

from typing import Any

import click

from skstruct.cli.options import (
    DATA,
    EXISTING,
    check_writable,
    quiet_option,
    reading_options,
    skip_option,
)
from skstruct.cli.terminal import shows_progress


@click.command(short_help="A model card: what a model is for, its losses and its limits.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA, required=False)
@click.option("-o", "--output", required=True,
              help="The card to write: HTML if it ends in .html, else Markdown.")  # fmt: skip
@click.option("--title", help="Of the card.")
@click.option("--license", help="For the header, such as mit; left open if not given.")
@reading_options
@skip_option
@quiet_option
@shows_progress
def card(
    model: str,
    data: str | None,
    output: str,
    title: str | None,
    license: str | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write a card about MODEL, with its losses on DATA if given: rows it has not seen.

    Markdown cards begin with the header that hubs of models read.
    """
    from skstruct.cli.exit_codes import bad_data, writing
    from skstruct.cli.models import open_model, read_labelled, training_remark
    from skstruct.cli.terminal import say
    from skstruct.persistence import load_model
    from skstruct.reports import write_model_card

    check_writable(output)
    table = None
    if data is None:
        with bad_data():
            fitted = load_model(model)
    else:
        fitted = open_model(model)
        table = read_labelled(fitted, data, reading, quiet=quiet)[0]
        training_remark(fitted, table, quiet)
    with writing(output):
        write_model_card(fitted, output, table, title=title, model_file=model, license=license)
    say(f"Wrote {output}.", quiet)
