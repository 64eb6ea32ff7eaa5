# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and what is typed into them."""

import json
import math
from collections.abc import Callable
from typing import Any

import click

TASK_NAMES = (
    "classes", "labels", "hierarchy", "ranking", "sequence", "regression", "histogram", "ordinal",
)  # fmt: skip
NAMES = ("include", "exclude")  # constraints that are lists of names
EXISTING = click.Path(exists=True, dir_okay=False, readable=True)
DATA = click.Path(exists=True, readable=True)  # a file, or a folder of Parquet files


class NumberRange(click.FloatRange):
    """A finite number within a range; nan is none, though no comparison says so."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No remarks, no progress.")
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Progress from the start, not after two seconds."
)
loss_option = click.option(
    "--loss", help="The loss, see `skstruct losses`; with parameters as in 'hamming(miss=5)'."
)
restrict_option = click.option(
    "--restrict",
    multiple=True,
    metavar="KEY=VALUE",
    help="A constraint, such as max_size=3 or exclude=cat,dog; may be repeated.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Leave with code 4 if an answer is not proven to be the best."
)


raw_cells_option = click.option(
    "--raw-cells", is_flag=True,
    help="Names that begin by =, +, -, @ or a tab as they are in CSV files; else they have an "
         "apostrophe before them, so that no spreadsheet runs them.",
)  # fmt: skip
skip_option = click.option(
    "--skip-unlabelled", is_flag=True, help="Leave rows without an output out."
)


def parse_threshold(ctx: Any, option: Any, text: str | None) -> Any:
    """A number, or the name of a measure that a threshold is best for.

    >>> parse_threshold(None, None, "0.3"), parse_threshold(None, None, "recall=0.9")
    (0.3, 'recall=0.9')
    """
    if text is None or text in ("micro_f1", "macro_f1"):
        return text
    measure, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    wanted = 0 < value <= 1 if equals else 0 <= value <= 1
    if not wanted or measure not in ("", "recall", "precision") or text.startswith("="):
        raise click.UsageError(
            "--threshold is a number from 0 to 1, micro_f1, macro_f1, recall=0.9 or "
            f"precision=0.9; got {text!r}."
        )
    return text if equals else value


def promise_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Probabilities beside predictions, and what a calibrated model promises."""
    for option in reversed(
        (
            click.option(
                "--marginals", is_flag=True,
                help="Add how probable labels, classes, orders of items or symbols are.",
            ),
            click.option(
                "--threshold", metavar="VALUE", callback=parse_threshold,
                help="Labels at least so probable, instead of least risk: a number, micro_f1, "
                     "macro_f1, recall=0.9 or precision=0.9, chosen on rows left out in fit.",
            ),
            click.option(
                "--level", type=NumberRange(0, 1),
                help="Of what is certain and possible; that of calibration if left out.",
            ),
            click.option(
                "--abstain", is_flag=True,
                help="Withhold rows or parts as `calibrate --abstain` found.",
            ),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def parse_encoding(ctx: Any, option: Any, text: str | None) -> str | None:
    """An encoding that Python knows."""
    if text is None:
        return None
    from skstruct.datasets.encodings import checked_encoding

    try:
        return checked_encoding(text)
    except ValueError as error:
        raise click.UsageError(f"--encoding: {error}") from None


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a data file is read; whatever is left out is guessed from the file."""
    for option in reversed(
        (
            click.option("--task", type=click.Choice(TASK_NAMES), help="What is predicted."),
            click.option("--format", "format_", help="Format of the file; see `data list`."),
            click.option(
                "--target", "targets", multiple=True, metavar="NAME",
                help="A column to predict; may be repeated.",
            ),
            click.option(
                "--labels", "n_labels", type=click.IntRange(1), metavar="N",
                help="The last N columns are labels, as in MULAN's files without their XML.",
            ),
            click.option("--labels-file", type=EXISTING, help="List of labels (MULAN's XML)."),
            click.option(
                "--edges-file", type=EXISTING, help="Taxonomy: a parent and a child on each line."
            ),
            click.option("--id-column", metavar="NAME", help="The column that names the rows."),
            click.option(
                "--encoding", metavar="NAME", callback=parse_encoding,
                help="Of text files: latin-1, cp1252, utf-16, ...; utf-8 if left out.",
            ),
            click.option(
                "--sheet", metavar="NAME", help="Of an Excel file; the first if left out."
            ),
            click.option("--first", type=click.IntRange(1), help="So many rows of the file only."),
            click.option("--memory", metavar="SIZE", help="Most that a file which is read as a "
                         "whole may take; 4GB if left out."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def read_file(path: str, options: dict[Any, Any], *, quiet: bool, no_outputs: bool = False) -> Any:
    """A data file as a Dataset; what was guessed is reported on stderr.

    Parameters
    ----------
    options : dict
        What :func:`reading_options` collects, and ``nominal``, columns that are not numbers.
    no_outputs : bool
        Whether all columns are inputs.
    """
    from skstruct._arrays.progress import working
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.memory import check_memory
    from skstruct.datasets import read_data
    from skstruct.datasets.encodings import text_path

    check_format(options.get("format_"))
    encoding = options.get("encoding") or "utf-8"
    check_memory(text_path(path, encoding), options.get("format_"), options.get("memory"))
    targets = () if no_outputs else tuple(options.get("targets") or ()) or None
    with bad_data(), working(f"reading {path}"):
        data = read_data(
            path,
            format=options.get("format_"),
            task=options.get("task"),
            targets=targets,
            n_labels=options.get("n_labels"),
            labels_file=options.get("labels_file"),
            edges_file=options.get("edges_file"),
            id_column=options.get("id_column"),
            nominal=options.get("nominal", ()),
            skip_unlabelled=bool(options.get("skip_unlabelled")),
            encoding=encoding,
            sheet=options.get("sheet"),
        )
    tell_remarks(data, quiet)
    first = options.get("first")
    return data if first is None else data.take(slice(first))


def tell_remarks(data: Any, quiet: bool) -> None:
    """What was guessed and changed on reading, on stderr."""
    from skstruct.cli.exit_codes import with_options
    from skstruct.cli.terminal import say

    for remark in data.remarks:
        say(f"{data.name}: {with_options(remark)}", quiet)


def check_format(name: Any) -> None:
    """A format that nobody knows is wrong usage."""
    from skstruct.datasets.formats import FORMATS

    known = [format.name for format in FORMATS]
    if name is not None and name not in known:
        raise click.UsageError(f"There is no format {name!r}; known are {', '.join(known)}.")


def parse_settings(pairs: Any) -> dict[Any, Any]:
    """Parameters from ``key=value`` texts; values are read as JSON where they can be.

    >>> parse_settings(["alpha=0.5", "kernel=linear", "smoother__n_estimators=50", "cv=null"])
    {'alpha': 0.5, 'kernel': 'linear', 'smoother__n_estimators': 50, 'cv': None}
    """
    return {key: _value(text) for key, text in map(_key_and_text, pairs)}


def hold_machine_settings(settings: dict[Any, Any]) -> dict[Any, Any]:
    """Settings of the learner alone; those of the machine hold from here to the command's end."""
    from skstruct.backends import backend_for
    from skstruct.config import config_context, get_config

    machine = {key: value for key, value in settings.items() if key in get_config()}
    try:
        if machine.get("device") is not None:
            backend_for(machine["device"])
        click.get_current_context().with_resource(config_context(**machine))
    except (ValueError, ImportError) as error:
        raise click.UsageError(str(error)) from None
    return {key: value for key, value in settings.items() if key not in machine}


def parse_restrict(pairs: Any) -> dict[Any, Any] | None:
    """Constraints from ``key=value`` texts; a comma separates names.

    >>> parse_restrict(["max_size=3", "exclude=cat, dog", "exclude=1", "top=[\\"a\\"]"])
    {'max_size': 3, 'exclude': ['cat', 'dog', '1'], 'top': ['a']}
    """
    constraints: dict[Any, Any] = {}
    for key, text in map(_key_and_text, pairs):
        value = _names(text) if key in NAMES and text[:1] not in "[{" else _value(text)
        value = _names(text) if isinstance(value, str) else value
        if key not in constraints:
            constraints[key] = value
        elif isinstance(value, list) and isinstance(constraints[key], list):
            constraints[key] = constraints[key] + value
        else:
            raise click.UsageError(f"--restrict {key} was given twice.")
    return constraints or None


def check_restrict(space: Any, constraints: Any) -> None:
    """Constraints that the space does not know are wrong usage."""
    from inspect import signature

    known = list(signature(space.restrict).parameters) if hasattr(space, "restrict") else []
    for key in constraints or ():
        if key not in known:
            raise click.UsageError(
                f"{type(space).__name__} cannot be restricted by {key!r}; known are "
                f"{', '.join(known) or 'none'}."
            )


def constraints_of(model: Any, pairs: Any) -> dict[str, Any] | None:
    """Constraints from ``key=value`` texts, with the names of a model in place of what JSON has:
    positions are keys there, and tuples are lists.
    """
    constraints = parse_restrict(pairs)
    check_restrict(model.learner_.space_, constraints)
    if constraints is None:
        return None
    from skstruct.serving import Served
    from skstruct.serving.constraints import constraints_for

    return constraints_for(Served("model", model), constraints)


def check_loss(name: str) -> None:
    """A loss that nobody knows is wrong usage."""
    from skstruct.losses import resolve_loss

    try:
        resolve_loss(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def check_writable(path: Any) -> None:
    """Say before any work that an output cannot be written."""
    import os
    from pathlib import Path

    path = Path(path)
    folder = path.resolve().parent
    if path.is_dir():
        raise click.ClickException(f"{path} is a folder.")
    if not folder.is_dir():
        raise click.ClickException(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise click.ClickException(f"{path} cannot be written: {folder} is not writable.")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _key_and_text(pair: str) -> tuple[str, str]:
    key, equals, text = pair.partition("=")
    if not equals or not key.strip():
        raise click.UsageError(f"Expected KEY=VALUE, got {pair!r}.")
    return key.strip(), text.strip()


def _value(text: str) -> Any:
    words = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or brackets a thousand deep
        return text
