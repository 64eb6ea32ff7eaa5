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


def read_for(model, path, options: dict, *, quiet: bool, outputs: bool):
    """A data file with the task and the targets of a model.

    Parameters
    ----------
    outputs : bool
        Whether the true outputs are needed.
    """
    from skstruct.cli.options import read_file

    known = {"task": model.task_, **{k: v for k, v in options.items() if v}}
    known.setdefault("targets", tuple(model.reading_["targets"]))
    known.setdefault("id_column", model.reading_["id_column"])
    return read_file(path, known, quiet=quiet) if outputs else _inputs(path, known, quiet)


def read_labelled(model, path, options: dict, *, quiet: bool):
    """A data file with outputs, and its inputs and outputs as the learner reads them."""
    from skstruct.cli.exits import bad_data
    from skstruct.tasks import outputs_for_learning

    data = read_for(model, path, options, quiet=quiet, outputs=True)
    with bad_data(f"{data.name}: "):
        X, y = model.inputs(data), outputs_for_learning(data)
        model.learner_.space_.validate(y)
    return data, X, y


def _inputs(path, options, quiet):
    """Data whose outputs may be missing: then every column is an input."""
    from skstruct.cli.exits import BadData
    from skstruct.cli.options import read_file
    from skstruct.datasets.reading import read_data
    from skstruct.exceptions import DataFormatError

    try:
        return read_file(path, options, quiet=True)
    except BadData as error:
        try:
            data = read_data(
                path,
                format=options.get("format_"),
                task=options["task"],
                targets=(),
                id_column=options.get("id_column"),
            )
        except DataFormatError:
            raise error from None
    return data.take(slice(options.get("first")))
