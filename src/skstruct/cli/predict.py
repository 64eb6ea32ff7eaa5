# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct predict``: outputs for new data, in the names of the data of training."""

from __future__ import annotations

import contextlib
import sys

import click

from skstruct.cli.options import (
    EXISTING,
    json_option,
    loss_option,
    parse_restrict,
    quiet_option,
    reading_options,
    restrict_option,
    strict_option,
)


@click.command(short_help="Predict for a data file, write a CSV.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=EXISTING)
@click.option("-o", "--output", help="CSV file to write, whole or not at all; stdout if left out.")
@loss_option
@restrict_option
@click.option("--kbest", type=click.IntRange(1), help="So many predictions for every row.")
@click.option("--risk", is_flag=True, help="Add the estimated risk, and the gap to its bound.")
@click.option(
    "--explain", type=click.IntRange(1), metavar="N",
    help="Add the N training rows that weigh most for and against.",
)  # fmt: skip
@strict_option
@reading_options
@quiet_option
@json_option
def predict(
    model, data, output, loss, restrict, kbest, risk, explain, strict, quiet, as_json, **reading
):
    """Predict for the rows of DATA; it need not have outputs.

    \b
    skstruct predict enron.model new.arff -o out.csv --risk
    skstruct predict enron.model new.arff --loss f1 --restrict max_size=3
    """
    from skstruct.cli.exits import Unproven
    from skstruct.cli.models import open_model, read_inputs
    from skstruct.cli.options import check_loss, check_restrict, check_writable
    from skstruct.cli.predictions import predictions

    if output is not None:
        check_writable(output)
    if loss is not None:
        check_loss(loss)
    task_model = open_model(model)
    limits = parse_restrict(restrict)
    check_restrict(task_model.learner_.space_, limits)
    if kbest is not None and explain is not None:
        raise click.UsageError("--explain is of the best prediction: leave --kbest out.")
    table, X = read_inputs(task_model, data, reading)
    options = {"loss": loss, "restrict": limits}
    found = predictions(task_model, X, table.index, options, kbest, risk, explain)
    if strict and found.widest_gap > found.tolerance:
        raise Unproven(
            f"Row {found.widest_row + 1} has a gap of {found.widest_gap:.3g} to its bound; without "
            "--strict such answers are given all the same."
        )
    with _destination(output) as file:
        (found.write_json if as_json else found.write_csv)(file)


@contextlib.contextmanager
def _destination(path):
    """A file that appears when it is complete, or stdout."""
    if path is None:
        yield sys.stdout
        return
    from skstruct._files.atomic import replacing

    with replacing(path) as file:
        yield file
