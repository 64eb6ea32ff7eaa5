# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct predict``: outputs for new data, in blocks where the format of the file has them."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from skstruct.cli.options import (
    DATA,
    EXISTING,
    json_option,
    loss_option,
    promise_options,
    quiet_option,
    raw_cells_option,
    reading_options,
    restrict_option,
    strict_option,
)
from skstruct.cli.quick_start import load_waiting, starts_quickly
from skstruct.cli.terminal import shows_progress

MOST_ROWS = 10_000  # of a block
LITTLE = 1_000_000  # bytes of a file that is not worth threads of its own
MOST_WEIGHTS = 8_000_000  # of all rows of a block for all rows of training: 64 MB


@dataclass(frozen=True)
class Part:
    """Some rows of a file as the learner reads them; ``start`` rows went before."""

    X: Any
    index: tuple[Any, ...] | None
    start: int
    inputs: list[Any] | None = None  # words as the file has them
    layout: list[Any] | None = None  # and its lines


@dataclass(frozen=True)
class Inputs:
    """Parts of a file, how many rows there are if that is known, and the share that was read."""

    parts: Iterable[Part]
    n_rows: int | None
    share: Callable[[], float | None]
    is_little: bool = False  # threads would cost more than they gain


def inputs_of(
    model: Any,
    path: Any,
    options: dict[Any, Any],
    constraints: Any,
    rows: Any = None,
    explain: Any = None,
) -> Inputs:
    """The inputs of a data file in parts; files of other formats than tables are one part.

    Parameters
    ----------
    model : TaskModel
    options : dict
        Of reading.
    constraints : dict or None
        Constraints; those that differ from row to row need all rows at once.
    rows : int, default=None
        Of a part; at most ``MOST_ROWS``, and fewer where each is held against many rows of
        training, when None.
    explain : int, default=None
        Whether weights of all training rows are asked for.
    """
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.models import format_for, read_input_blocks, read_inputs
    from skstruct.cli.options import check_format
    from skstruct.datasets.blocks import has_blocks
    from skstruct.datasets.encodings import text_path
    from skstruct.tasks import TableEncoder

    check_format(options.get("format_"))
    options = {**options, "format_": format_for(model, path, options)}
    with bad_data():
        in_blocks = has_blocks(text_path(path, options.get("encoding")), options["format_"])
    if not (in_blocks and isinstance(model.encoder_, TableEncoder)) or _by_row(model, constraints):
        table, X = read_inputs(model, path, options)
        words = table.inputs if isinstance(table.inputs, list) else None
        return Inputs(
            [Part(X, table.index, 0, words, table.layout)], len(table), lambda: None, True
        )
    blocks = read_input_blocks(model, path, options, rows or _rows(model, explain))
    is_little = os.path.isfile(path) and os.path.getsize(path) < LITTLE
    return Inputs(_parts(model, path, blocks), blocks.n_rows, blocks.share, is_little)


def _parts(model: Any, path: Any, blocks: Any) -> Iterator[Any]:
    from skstruct.cli.exit_codes import bad_data

    start = 0
    try:
        with bad_data():
            for data in blocks:
                yield Part(model.inputs(data), data.index, start)
                start += len(data)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror or error}.") from error


def _rows(model: Any, explain: Any) -> Any:
    """Rows of a block for which the numbers that each of them needs are not too much."""
    return max(1, min(MOST_ROWS, MOST_WEIGHTS // max(1, _held_against(model, explain))))


def _held_against(model: Any, explain: Any) -> Any:
    """How many rows of training a new row is compared with: all, landmarks, or none."""
    from skstruct.fitted import Fitted

    n_training = model.about_["rows"]
    fitted = Fitted.of(model)
    if explain is not None or (fitted.smoother is not None and fitted.problem.by_weights):
        return n_training
    from skstruct.smoothing import Learning

    smoother = fitted.smoother
    if n_landmarks := Learning.of(smoother).n_landmarks:
        return n_landmarks
    if hasattr(smoother, "n_neighbors"):
        return smoother.n_neighbors
    return n_training if hasattr(smoother, "X_fit_") else 1  # trees keep the means of leaves


def _by_row(model: Any, constraints: Any) -> bool:
    """Whether constraints differ from row to row."""
    from skstruct.spaces.constraints import differs_by_row

    if not constraints:
        return False
    with contextlib.suppress(ValueError, TypeError):  # said when they are used
        return differs_by_row(model.learner_.space_.restrict(**constraints))
    return False


def write_predictions(
    model: Any,
    inputs: Inputs,
    asked: tuple[dict[str, Any], int | None, bool, Any],
    output: Any,
    style: Any,
    *,
    strict: Any,
    quiet: bool,
    beside: Sequence[Any] = (),
) -> None:
    """Predict for all parts; reading, predicting and writing go on at the same time.

    Parameters
    ----------
    asked : tuple
        ``options, kbest, risk, explain`` of :func:`skstruct.cli.predictions.predictions`.
    output : str or None
        A file that appears when all is well, or stdout.
    style : Style
        Of :mod:`skstruct.cli.predictions`.
    strict : bool
        Leave with code 4, and nothing written, if an answer is not proven to be the best.
    beside : sequence of callables
        Of :mod:`skstruct.cli.beside`: each makes columns from inputs and predictions of a block.
    """
    from skstruct.cli.beside import with_columns
    from skstruct.cli.predictions import TOKENS, opened, predictions, widest
    from skstruct.cli.terminal import rows_bar, watched
    from skstruct.fitted import Fitted
    from skstruct.streaming.pipeline import overlapped

    if Fitted.of(model).verbose:
        model.learner_.verbose = 0  # one bar is enough
    of_tokens = style.kind in TOKENS

    def decide(part: Any) -> Any:
        found = predictions(model, part.X, part.index, *asked, start=part.start)
        found = with_columns(found, [column for make in beside for column in make(part.X, found)])
        return replace(found, inputs=part.inputs, layout=part.layout) if of_tokens else found

    def decided() -> Any:
        if inputs.is_little:
            return (decide(part) for part in inputs.parts)
        load_waiting()
        return overlapped(inputs.parts, decide)

    least_sure = None
    with (
        opened(output, style, hold=strict) as write,
        rows_bar(inputs.n_rows, inputs.share, watched(output) and not quiet) as advance,
        contextlib.closing(decided()) as blocks,
    ):
        for found in blocks:
            write(found)
            advance(found.n_inputs)
            least_sure = widest(least_sure, found)
        if strict:
            _check_proven(least_sure)


def _check_proven(found: Any) -> None:
    from skstruct.cli.exit_codes import Unproven

    if found is not None and found.widest_gap > found.tolerance:
        raise Unproven(
            f"Row {found.widest_row + 1} has a gap of {found.widest_gap:.3g} to its bound; without "
            "--strict such answers are given all the same."
        )


ALONE = {  # options that cannot be given with others, and why
    "--explain": ({"--kbest"}, "--explain is of the best prediction"),
    "--marginals": ({"--kbest"}, "--marginals is of all outputs of a row together"),
    "--level": ({"--kbest"}, "--level is of what is certain and possible in a row"),
    "--threshold": (
        {"--loss", "--risk", "--kbest", "--explain", "--strict"},
        "--threshold decides by probabilities, without a loss",
    ),
    "--abstain": (
        {"--kbest", "--loss", "--restrict", "--threshold"},
        "--abstain is for predictions as they were calibrated",
    ),
}
IN_ROWS = {  # what a file of tokens and tags has no room for
    "--kbest", "--risk", "--explain", "--level", "--abstain",
}  # fmt: skip


def check_together(given: set[str], style: Any) -> None:
    """Options that exclude each other, or the format of the output, are wrong usage."""
    for option, (others, why) in ALONE.items():
        wrong = sorted(given & others) if option in given else []
        if wrong:
            raise click.UsageError(f"{why}: leave {', '.join(wrong)} out.")
    from skstruct.cli.predictions import TOKENS

    if style.kind in TOKENS and given & IN_ROWS:
        raise click.UsageError(
            "A CoNLL file holds one tag for every token: leave "
            f"{', '.join(sorted(given & IN_ROWS))} out."
        )


@click.command(short_help="Predict for a data file, write a CSV.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option(
    "-o", "--output",
    help="File to write, whole or not at all: .csv, .tsv, .jsonl, .xlsx, .parquet, or .conll and "
         ".conllu for tags of words; CSV on stdout if left out.",
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
@promise_options
@raw_cells_option
@strict_option
@reading_options
@quiet_option
@json_option
@starts_quickly
@shows_progress
def predict(
    model: Any,
    data: Any,
    output: Any,
    loss: Any,
    restrict: dict[str, Any] | None,
    kbest: Any,
    risk: Any,
    explain: Any,
    block_rows: Any,
    marginals: bool,
    threshold: Any,
    level: float | None,
    abstain: bool,
    raw_cells: Any,
    strict: Any,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Predict for the rows of DATA; it need not have outputs.

    CSV and Parquet files may be of any length: they are read and written in blocks of rows. A
    model that was calibrated tells what is certain and what is possible, too.

    \b
    skstruct predict enron.model new.arff -o out.csv --risk
    skstruct predict enron.model new.arff --loss f1 --restrict max_size=3
    skstruct predict enron.model new.arff --marginals --threshold micro_f1
    """
    from skstruct.cli.models import open_model
    from skstruct.cli.options import check_loss, check_writable, constraints_of
    from skstruct.cli.predictions import TOKENS, style_for
    from skstruct.cli.promises import makers_for

    if output is not None:
        check_writable(output)
    if loss is not None:
        check_loss(loss)
    task_model = open_model(model)
    constraints = constraints_of(task_model, restrict)
    of_words = getattr(task_model.encoder_, "columns_", None) is not None
    style = style_for(output, as_json, raw_cells, of_words)
    given = {
        "--loss": loss, "--restrict": constraints, "--kbest": kbest, "--risk": risk,
        "--explain": explain, "--strict": strict, "--marginals": marginals,
        "--threshold": threshold, "--level": level, "--abstain": abstain,
    }  # fmt: skip
    asked_for = {name for name, value in given.items() if value is not None and value is not False}
    check_together(asked_for, style)
    one_each = kbest is None and style.kind not in TOKENS
    columns = makers_for(task_model, given, in_rows=one_each, quiet=quiet)
    inputs = inputs_of(task_model, data, reading, constraints, block_rows, explain)
    options = {"loss": loss, "restrict": constraints, "threshold": threshold}
    asked = (options, kbest, risk, explain)
    write_predictions(
        task_model, inputs, asked, output, style, strict=strict, quiet=quiet, beside=columns
    )
