# SPDX-License-Identifier: BSD-3-Clause
"""Model files on the command line, data files read as a model reads them, and
``skstruct inspect``.
"""

from collections.abc import Iterator
from typing import Any

import click

from skstruct.cli.options import EXISTING, json_option
from skstruct.cli.quick_start import starts_quickly


def open_model(path: Any) -> Any:
    """The TaskModel of a file."""
    from skstruct.cli.exit_codes import BadData, bad_data
    from skstruct.persistence import load_model
    from skstruct.tasks import TaskModel

    with bad_data():
        model = load_model(path)
    if not isinstance(model, TaskModel):
        raise BadData(
            f"{path} holds a {type(model).__name__} that was saved from Python, without how data "
            "files are read; use skstruct.load_model there."
        )
    return model


def read_labelled(model: Any, path: Any, options: dict[Any, Any], *, quiet: bool) -> Any:
    """A data file with outputs, and its inputs and outputs as the learner reads them.

    Parts of the outputs may be missing.
    """
    from skstruct.spaces.truth import read_truth, seen_by

    known = _as_trained(model, path, options)
    ways = [known]
    if model.task_ == "hierarchy" and not known.get("edges_file"):  # the model has the edges
        ways.append({**known, "task": "labels"})

    def read(data: Any) -> Any:
        X, y = model.inputs(data), model.outputs(data)
        read_truth(seen_by(model.learner_), y)
        return X, y

    from skstruct.cli.exit_codes import BadData

    try:
        data, (X, y) = _first_that_works(path, _with_and_without_ids(ways, options), read, quiet)
    except BadData as error:
        raise _told_what_reads_inputs(error, model, path, options) from None
    return data, X, y


def _told_what_reads_inputs(error: Any, model: Any, path: Any, options: dict[Any, Any]) -> Any:
    """The error, with the commands for a file without outputs, if it can be read as one."""
    from skstruct.cli.exit_codes import BadData

    try:
        read_inputs(model, path, options)
    except BadData:
        return error
    return BadData(
        f"{error.format_message().rstrip('.')}. Predictions are compared with true outputs here: a "
        "file that has none is for skstruct predict, or explore."
    )


def training_remark(model: Any, data: Any, quiet: bool) -> Any:
    """An Overlap where rows were rows of training, which is said on stderr; else None."""
    from skstruct.cli.terminal import say

    found = model.overlap(data)
    if found is None or not found.is_remarkable:
        return None
    say(f"Warning: {data.name}: {found}", quiet)
    return found


def read_inputs(model: Any, path: Any, options: dict[Any, Any]) -> Any:
    """A data file whose outputs may be missing, and its inputs as the learner reads them.

    Where it cannot be read as a file with outputs, or lacks a column, all columns are inputs.
    """
    known = _as_trained(model, path, options)
    ways = _with_and_without_ids([known, {**known, "no_outputs": True}], options)
    return _first_that_works(path, ways, model.inputs, quiet=True, reported=-1)


def read_input_blocks(model: Any, path: Any, options: dict[Any, Any], rows: int) -> Any:
    """The same of a table file of any length: blocks of rows, read while they are asked for.

    Which columns name the rows or are outputs is decided by the names of the columns alone.
    """
    import numpy as np

    from skstruct.cli.exit_codes import BadData, bad_data
    from skstruct.datasets import Table
    from skstruct.datasets.blocks import read_blocks

    known, encoder = _as_trained(model, path, options), model.encoder_
    like = Table(encoder.names_, encoder.values_, np.empty((0, len(encoder.names_))))
    asked = {"format": options.get("format_"), "task": model.task_, "first": options.get("first"),
             "encoding": options.get("encoding") or "utf-8"}  # fmt: skip
    errors: list[BadData] = []
    for way in _with_and_without_ids([known, {**known, "no_outputs": True}], options):
        targets = () if way.get("no_outputs") else way["targets"] or None
        try:
            with bad_data():
                names = {"targets": targets, "id_column": way["id_column"]}
                return read_blocks(path, like, rows=rows, **asked, **names)
        except BadData as error:
            errors.append(error)
    raise errors[-1]  # of the way that asks for the inputs alone


def format_for(model: Any, path: Any, options: dict[Any, Any]) -> str | None:
    """The format that was asked for; that of training where a file, as of words alone, tells none.

    None where the file tells.
    """
    from skstruct.cli.exit_codes import bad_data
    from skstruct.datasets.encodings import text_path
    from skstruct.datasets.formats import FORMATS
    from skstruct.datasets.reading import recognized

    asked: str | None = options.get("format_")
    with bad_data():
        told = asked or recognized(text_path(path, options.get("encoding")))
    known = any(model.format_ == format.name for format in FORMATS)  # not that of rows in memory
    return model.format_ if known and not told else asked


def _as_trained(model: Any, path: Any, options: Any) -> Any:
    """Options of reading, with those of the data of training where nothing else is said."""
    from skstruct.tasks import TableEncoder

    known = {"task": model.task_, **{key: value for key, value in options.items() if value}}
    known["format_"] = format_for(model, path, options)
    known.setdefault("targets", tuple(model.reading_["targets"]))
    known.setdefault("id_column", model.reading_["id_column"])
    encoder = model.encoder_
    if isinstance(encoder, TableEncoder):
        columns = zip(encoder.names_, encoder.values_)
        known["nominal"] = tuple(name for name, values in columns if values is not None)
        if known["id_column"] is None and encoder.names_[0] in ("id", "row"):
            known["id_column"] = ""  # what looks like names of rows is an input
    return known


def _with_and_without_ids(ways: Any, options: Any) -> Any:
    """Names of rows need not be there, unless they were asked for now."""
    if options.get("id_column") or ways[0]["id_column"] is None:
        return ways
    return [{**way, "id_column": name} for name in (ways[0]["id_column"], None) for way in ways]


def _first_that_works(path: Any, ways: Any, then: Any, quiet: bool, reported: int = 0) -> Any:
    """Data read in the first way that does, and what is made of them; else one of the errors."""
    from skstruct.cli.exit_codes import BadData, bad_data
    from skstruct.cli.options import read_file, tell_remarks

    errors: list[BadData] = []
    for way in ways:
        try:
            data = read_file(path, way, quiet=True, no_outputs=way.get("no_outputs", False))
            with bad_data(f"{data.name}: "):
                made = then(data)
            tell_remarks(data, quiet)
            return data, made
        except BadData as error:
            errors.append(error)
    raise errors[reported]


@click.command(short_help="What a model file holds.")
@click.argument("model", type=EXISTING)
@json_option
@starts_quickly
def inspect(model: Any, as_json: bool) -> None:
    """Describe a model file: class, parameters, versions, sizes; arrays are not loaded."""
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.terminal import plain, print_facts, print_json
    from skstruct.persistence import describe_model

    with bad_data():
        described = plain(describe_model(model))
    if as_json:
        print_json(described)
    else:
        print_facts(_flat(described))


def _flat(value: Any, before: str = "") -> Iterator[Any]:
    """Pairs of a dotted name and a value."""
    for key, item in value.items():
        name = f"{before}{key}"
        if isinstance(item, dict) and item:
            yield from _flat(item, f"{name}.")
        else:
            yield name, item if isinstance(item, (int, float, str)) else repr(item)
