# SPDX-License-Identifier: BSD-3-Clause
"""Model files on the command line, and data files read as a model reads them."""

from __future__ import annotations


def open_model(path):
    """The TaskModel of a file."""
    from skstruct.cli.exits import BadData, bad_data
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


def read_labelled(model, path, options: dict, *, quiet: bool):
    """A data file with outputs, and its inputs and outputs as the learner reads them."""
    from skstruct.cli.exits import bad_data

    data = _read(model, path, options, quiet)
    with bad_data(f"{data.name}: "):
        X, y = model.inputs(data), model.outputs(data)
        model.learner_.space_.validate(y)
    return data, X, y


def _read(model, path, options, quiet):
    """A file with outputs; labels of a hierarchy need no edges, since the model has them."""
    from skstruct.cli.exits import BadData
    from skstruct.cli.options import read_file

    known = _as_trained(model, options)
    try:
        return read_file(path, known, quiet=quiet)
    except BadData as error:
        if model.task_ != "hierarchy" or known.get("edges_file"):
            raise
        try:
            return read_file(path, {**known, "task": "labels"}, quiet=True)
        except BadData:
            raise error from None


def read_inputs(model, path, options: dict, *, quiet: bool):
    """A data file whose outputs may be missing, and its inputs as the learner reads them.

    Where it cannot be read as a file with outputs, or lacks a column, all columns are inputs.
    """
    from skstruct.cli.exits import BadData, bad_data
    from skstruct.cli.options import read_file

    known, first = _as_trained(model, options), None
    for no_outputs in (False, True):
        try:
            data = read_file(path, known, quiet=True, no_outputs=no_outputs)
            with bad_data(f"{data.name}: "):
                return data, model.inputs(data)
        except BadData as error:
            first = first or error
    raise first


def _as_trained(model, options):
    """Options of reading, with those of the data of training where nothing else is said."""
    from skstruct.tasks import TableEncoder

    known = {"task": model.task_, **{key: value for key, value in options.items() if value}}
    known.setdefault("targets", tuple(model.reading_["targets"]))
    known.setdefault("id_column", model.reading_["id_column"])
    encoder = model.encoder_
    if isinstance(encoder, TableEncoder):
        columns = zip(encoder.names_, encoder.values_)
        known["nominal"] = tuple(name for name, values in columns if values is not None)
    return known
