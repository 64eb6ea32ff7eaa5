# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct predict``: outputs for new data, in the names of the data of training."""

from __future__ import annotations

import click

from skstruct.cli.options import (
    DATA,
    EXISTING,
    json_option,
    loss_option,
    parse_restrict,
    quiet_option,
    raw_cells_option,
    reading_options,
    restrict_option,
    strict_option,
)
from skstruct.cli.progress import shows_progress


@click.command(short_help="Predict for a data file, write a CSV.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option(
    "-o", "--output",
    help="File to write, whole or not at all: .csv, .tsv, .jsonl, .parquet, or .conll for tags "
         "of words; CSV on stdout if left out.",
)  # fmt: skip
@loss_option
@restrict_option
@click.option("--kbest", type=click.IntRange(1), help="So many predictions for every row.")
@click.option("--risk", is_flag=True, help="Add the estimated risk, and the gap to its bound.")
@click.option(
    "--explain", type=click.IntRange(1), metavar="N",
    help="Add the N training rows that weigh most for and against.",
)  # fmt: skip
@click.option(
    "--block-rows", type=click.IntRange(1), metavar="N",
    help="Rows of CSV and Parquet files that are in memory at once; at most 10,000 if left out.",
)  # fmt: skip
@raw_cells_option
@strict_option
@reading_options
@quiet_option
@json_option
@shows_progress
def predict(
    model, data, output, loss, restrict, kbest, risk, explain, block_rows, raw_cells, strict, quiet,
    as_json, **reading,
):  # fmt: skip
    """Predict for the rows of DATA; it need not have outputs.

    CSV and Parquet files may be of any length: they are read and written in blocks of rows.

    \b
    skstruct predict enron.model new.arff -o out.csv --risk
    skstruct predict enron.model new.arff --loss f1 --restrict max_size=3
    """
    from skstruct.cli.models import open_model
    from skstruct.cli.options import check_loss, check_restrict, check_writable
    from skstruct.cli.output import style_for
    from skstruct.cli.streams import inputs_of, write_predictions

    if output is not None:
        check_writable(output)
    if loss is not None:
        check_loss(loss)
    task_model = open_model(model)
    limits = parse_restrict(restrict)
    check_restrict(task_model.learner_.space_, limits)
    if kbest is not None and explain is not None:
        raise click.UsageError("--explain is of the best prediction: leave --kbest out.")
    of_words = getattr(task_model.encoder_, "n_columns_", None) is not None
    style = style_for(output, as_json, raw_cells, of_words)
    beside = {"--kbest": kbest, "--risk": risk, "--explain": explain}
    if style.kind == "conll" and any(beside.values()):
        given = ", ".join(option for option, value in beside.items() if value)
        raise click.UsageError(f"A CoNLL file holds one tag for every token: leave {given} out.")
    inputs = inputs_of(task_model, data, reading, limits, block_rows, explain)
    asked = ({"loss": loss, "restrict": limits}, kbest, risk, explain)
    write_predictions(task_model, inputs, asked, output, style, strict=strict, quiet=quiet)
