# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct audit``: outputs of a data file that look wrong."""

import csv
from collections.abc import Sequence
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
    raw_cells_option,
    read_file,
    reading_options,
    skip_option,
    verbose_option,
)
from skstruct.cli.terminal import shows_progress

ROW_COLUMNS = ("row", "loss", "margin")
PART_COLUMNS = ("row", "part", "given", "suggested", "score")


@click.command(short_help="Outputs of a data file that look wrong.")
@click.argument("data", type=DATA)
@click.option("-o", "--output", help="A CSV file of all parts, or rows, to write.")
@click.option("-k", "--top", type=click.IntRange(1), default=10, show_default=True,
              help="Rows, and parts, to print.")  # fmt: skip
@click.option("--rows", "rows_alone", is_flag=True, help="Look at whole outputs alone.")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True,
              help="Every row is judged by a model of the other folds.")  # fmt: skip
@click.option("--one-fit", is_flag=True, help="Take rows out of one fit in closed form; faster, "
              "with penalties that were chosen with the row in sight.")  # fmt: skip
@click.option("--learner", default="auto", help="auto, or one of those of `compare --help`.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE",
              help="A parameter of the learner, as in `fit`; may be repeated.")  # fmt: skip
@loss_option
@reading_options
@skip_option
@raw_cells_option
@verbose_option
@quiet_option
@json_option
@shows_progress
def audit(
    data: str,
    output: str | None,
    top: int,
    rows_alone: bool,
    folds: int,
    one_fit: bool,
    learner: str,
    settings: tuple[str, ...],
    loss: str | None,
    raw_cells: bool,
    verbose: int,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Print the outputs of DATA that look wrong to models which did not see them.

    Rows are ordered by how much riskier the given output is than what would be predicted; parts
    (labels, classes, symbols, pairs of items) by how improbable they are, from score 1 downwards,
    and quantities by how many standard deviations they are off. Nothing is changed: somebody
    should look.

    \b
    skstruct audit enron.arff
    skstruct audit songs.csv --task labels --target moods -o suspicious.csv
    """
    from skstruct.cli.terminal import print_json

    if output is not None:
        check_writable(output)
    if loss is not None:
        check_loss(loss)
    if raw_cells and output is None:
        raise click.UsageError("--raw-cells is of the CSV file that --output names.")
    parameters = hold_machine_settings(parse_settings(settings))
    table = read_file(data, reading, quiet=quiet)
    cv = None if one_fit else folds
    found = _audited(table, learner, loss, parameters, cv, not rows_alone, verbose)
    rows, parts = _row_cells(found, table.index, top), _part_cells(found, table.index, top)
    if output is not None:
        cells = _part_cells(found, table.index) or _row_cells(found, table.index)
        columns = ROW_COLUMNS if rows_alone else PART_COLUMNS
        _write(output, columns, cells, raw_cells, quiet)
    if as_json:
        records = {"rows": len(table), "suspicious_rows": _records(ROW_COLUMNS, rows)}
        parts_too = {} if rows_alone else {"suspicious_parts": _records(PART_COLUMNS, parts)}
        print_json(records | parts_too)
    else:
        _print(table, rows, parts, rows_alone)


def _audited(
    table: Any, name: str, loss: Any, parameters: dict[str, Any], cv: int | None, parts: bool,
    verbose: int,
) -> Any:  # fmt: skip
    """What looks wrong in a data set."""
    from skstruct.cli.exit_codes import bad_data
    from skstruct.inspection import suspicious_outputs
    from skstruct.spaces import Known
    from skstruct.tasks import TaskModel, outputs_for_learning, space_for

    model = TaskModel(name, loss, parameters)
    with bad_data(f"{table.name}: "):
        y = outputs_for_learning(table)
        space = space_for(table)
        if Known.of(space).read_gaps(y) is None:
            space.fit(y).validate(y)
        if cv is not None and len(table) < cv:
            raise ValueError(f"{len(table)} rows cannot be split into {cv} folds.")
        X = model.new_encoder(table).transform(table.inputs)
    try:
        chosen = model.new_learner(table, model._chosen(table)[0])
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return suspicious_outputs(chosen, X, y, parts=parts, cv=cv, verbose=int(verbose))


def _named(index: Any, rows: Any) -> list[Any]:
    """Names of rows, or their numbers from 1."""
    return [int(row) + 1 if index is None else index[row] for row in rows]


def _row_cells(found: Any, index: Any, k: int | None = None) -> list[list[Any]]:
    some = found.rows[:k]
    numbers = [some[name].tolist() for name in ("loss", "margin")]
    return [list(cells) for cells in zip(_named(index, some["row"]), *numbers)]


def _part_cells(found: Any, index: Any, k: int | None = None) -> list[list[Any]]:
    if found.parts is None:
        return []
    rows, parts, given, suggested, scores = found.part_columns(k)
    texts = [_text(part) for part in parts]
    columns = zip(_named(index, rows), texts, given, suggested, scores.tolist())
    return [list(cells) for cells in columns]


def _text(part: Any) -> Any:
    """A pair of items as one text; nothing where an output is one part."""
    if part is None:
        return ""
    return ", ".join(map(str, part)) if isinstance(part, tuple) else part


def _records(columns: Sequence[str], cells: list[list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row)) for row in cells]


def _print(table: Any, rows: list[Any], parts: list[Any], rows_alone: bool) -> None:
    from skstruct.cli.terminal import print_table

    print_table(f"{table.name}, {len(table):,} rows", ROW_COLUMNS, rows, numbers=ROW_COLUMNS)
    if not rows_alone:
        print_table("Parts of all rows", PART_COLUMNS, parts, numbers=("row", "score"))


def _write(
    path: str, columns: Sequence[str], cells: list[list[Any]], raw_cells: bool, quiet: bool
) -> None:
    """All of them as a CSV file."""
    from skstruct._files.atomic import replacing
    from skstruct.cli.exit_codes import writing
    from skstruct.cli.terminal import say
    from skstruct.datasets.formats.columns import harmless

    guard = str if raw_cells else harmless
    with writing(path), replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in cells:
            writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in row])
    say(f"Wrote {path}.", quiet)
