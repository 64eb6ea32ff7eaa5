# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct calibrate``: a promise about predictions, from rows that a model has not seen."""

from typing import Any

import click

from skstruct.cli.options import (
    DATA,
    EXISTING,
    NumberRange,
    check_writable,
    json_option,
    quiet_option,
    reading_options,
    skip_option,
)
from skstruct.cli.terminal import shows_progress

RISK_NAMES = ("missed", "wrong", "false", "false_labels", "precision", "f1")
PROBABILITY = NumberRange(0, 1, min_open=True, max_open=True)


@click.command(short_help="Promise how often a model is wrong, by a data file it has not seen.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option("-o", "--output", required=True, help="The calibrated model file to write.")
@click.option("--level", type=NumberRange(0), default=0.1, show_default=True,
              help="The largest risk; of rows that are kept, in units of the loss.")  # fmt: skip
@click.option(
    "--risk", type=click.Choice(RISK_NAMES),
    help="What is at most the level: a share of true parts that are not possible (missed, the "
         "usual one), of all parts that are asserted wrongly (wrong, false_labels), of those that "
         "are certain (false, precision), or 1 - F1 of these. Classes, levels and quantities have "
         "sets or intervals if left out.",
)  # fmt: skip
@click.option("--abstain", type=click.Choice(["rows", "parts"]),
              help="Withhold rows or parts, so that the risk of what is kept is at most the "
                   "level.")  # fmt: skip
@click.option("--delta", type=PROBABILITY,
              help="Probability that the promise is broken, over the draw of the rows; 0.1 where "
                   "one is needed.")  # fmt: skip
@reading_options
@skip_option
@quiet_option
@json_option
@shows_progress
def calibrate(
    model: str,
    data: str,
    output: str,
    level: float,
    risk: str | None,
    abstain: str | None,
    delta: float | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Find out on DATA what MODEL can promise, and write a model that does.

    DATA has outputs, and rows that are none of training. Without --abstain, or with --risk, the
    new model tells what is certain and what is possible; with --abstain it withholds what it is
    not sure of, if `predict --abstain` asks for that.

    \b
    skstruct calibrate enron.model kept_apart.arff -o sure.model --level 0.05
    skstruct calibrate enron.model kept_apart.arff -o sure.model --abstain rows
    """
    from skstruct.cli.calibration import calibrated, facts_of, summary_of
    from skstruct.cli.exit_codes import writing
    from skstruct.cli.models import open_model, read_labelled
    from skstruct.cli.terminal import print_facts, print_json
    from skstruct.persistence import save_model

    check_writable(output)
    task_model = open_model(model)
    check_asked(task_model, level, risk, abstain, delta)
    table, X, y = read_labelled(task_model, data, reading, quiet=quiet)
    refuse_rows_of_training(task_model, table, X, quiet)
    found = calibrated(task_model, table.name, X, y, level, risk, abstain, delta)
    with writing(output):
        save_model(task_model, output, X=table.take(slice(3)))
    summary = {"model": output, "data": table.name, "rows": len(table), "level": level}
    if as_json:
        print_json({**summary, **{name: summary_of(one, X) for name, one in found.items()}})
    else:
        told = [fact for one in found.values() for fact in facts_of(one, X)]
        print_facts([*summary.items(), *told])


def check_asked(
    task_model: Any, level: float, risk: str | None, abstain: str | None, delta: float | None
) -> None:
    """Promises that outputs of this kind have not are wrong usage."""
    from skstruct.cli.marginal_columns import check_marginals
    from skstruct.datasets.formats.cells import NUMBERS, ONE_NAME

    is_number = task_model.task_ in NUMBERS
    if risk is not None:
        check_marginals(task_model, f"--risk {risk}")
    if abstain == "parts":
        check_marginals(task_model, "--abstain parts")
    if is_number and abstain == "rows":
        raise click.UsageError(
            "--abstain rows: losses of quantities have no largest value, without which nothing can "
            "be promised of rows that are kept; leave it out for intervals."
        )
    if not is_number and (risk is not None or abstain is None):
        check_marginals(task_model, "calibrate")
    if level > 1 and (abstain != "rows" or risk is not None):
        raise click.UsageError(f"--level is from 0 to 1, unless rows are withheld; got {level:g}.")
    has_sets = is_number or (task_model.task_ in ONE_NAME and risk is None)
    if delta is not None and abstain is None and has_sets:
        raise click.UsageError(
            "--delta: sets and intervals hold the output with a probability over calibration rows "
            "too; give --risk or --abstain with it."
        )


def refuse_rows_of_training(task_model: Any, table: Any, X: Any, quiet: bool) -> None:
    """Rows that the model has learned from promise nothing of new ones."""
    import numpy as np

    from skstruct.cli.exit_codes import BadData
    from skstruct.cli.terminal import say
    from skstruct.datasets import Table
    from skstruct.tasks.row_digests import row_digests

    found = task_model.overlap(table)
    if found is None:
        say(f"{table.name}: the model does not remember its rows of training; that these are "
            "others is up to you.", quiet)  # fmt: skip
    elif found.is_remarkable:
        digests = row_digests(X if isinstance(table.inputs, Table) else table.inputs)
        first = int(np.isin(digests, task_model.seen_[:, 0]).argmax())
        about = "" if found.exact else "about "
        raise BadData(
            f"{table.name}: {about}{found.n_seen:,} of {found.n:,} rows were rows of training, of "
            f"which the model is too sure; the first is row {first + 1:,}. Calibrate with rows "
            "that it has not seen."
        )
