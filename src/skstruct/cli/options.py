# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and what is typed into them."""

from __future__ import annotations

import json

import click

TASK_NAMES = (
    "classes", "labels", "hierarchy", "ranking", "sequence", "regression", "histogram", "ordinal",
)  # fmt: skip
EXISTING = click.Path(exists=True, dir_okay=False, readable=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No remarks, no progress.")
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Progress bars on stderr.")
loss_option = click.option("--loss", help="What a mistake costs; see `skstruct losses`.")
restrict_option = click.option(
    "--restrict",
    multiple=True,
    metavar="KEY=VALUE",
    help="A constraint, such as max_size=3 or exclude=cat,dog; may be repeated.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Leave with code 4 if an answer is not proven to be the best."
)


def reading_options(command):
    """How a data file is read; whatever is left out is guessed from the file."""
    for option in reversed(
        (
            click.option("--task", type=click.Choice(TASK_NAMES), help="What is predicted."),
            click.option("--format", "format_", help="Format of the file; see `data list`."),
            click.option(
                "--target", "targets", multiple=True, metavar="NAME",
                help="A column to predict; may be repeated.",
            ),
            click.option("--labels-file", type=EXISTING, help="List of labels (MULAN's XML)."),
            click.option(
                "--edges-file", type=EXISTING, help="Taxonomy: a parent and a child on each line."
            ),
            click.option("--id-column", metavar="NAME", help="The column that names the rows."),
            click.option("--first", type=click.IntRange(1), help="So many rows of the file only."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def read_file(path, options: dict, *, quiet: bool):
    """A data file as a Dataset; what was guessed is told on stderr."""
    from skstruct.cli.exits import bad_data
    from skstruct.cli.printing import say
    from skstruct.datasets.reading import read_data

    with bad_data():
        data = read_data(
            path,
            format=options.get("format_"),
            task=options.get("task"),
            targets=tuple(options["targets"]) or None,
            labels_file=options.get("labels_file"),
            edges_file=options.get("edges_file"),
            id_column=options.get("id_column"),
        )
    for remark in data.remarks:
        say(f"{data.name}: {remark}", quiet)
    first = options.get("first")
    return data if first is None else data.take(slice(first))


def parse_settings(pairs) -> dict:
    """Parameters from ``key=value`` texts; values are read as JSON where they can be.

    >>> parse_settings(["alpha=0.5", "kernel=linear", "smoother__n_estimators=50", "gamma=null"])
    {'alpha': 0.5, 'kernel': 'linear', 'smoother__n_estimators': 50, 'gamma': None}
    """
    return {key: _value(text) for key, text in map(_key_and_text, pairs)}


def parse_restrict(pairs) -> dict | None:
    """Constraints from ``key=value`` texts; a comma separates names.

    >>> parse_restrict(["max_size=3", "exclude=cat,dog", 'exclusive=[["a", "b"]]'])
    {'max_size': 3, 'exclude': ['cat', 'dog'], 'exclusive': [['a', 'b']]}
    >>> parse_restrict(["include=cat"])
    {'include': ['cat']}
    """
    limits = {}
    for key, text in map(_key_and_text, pairs):
        value = _value(text)
        limits[key] = text.split(",") if isinstance(value, str) else value
    return limits or None


def _key_and_text(pair):
    key, equals, text = pair.partition("=")
    if not equals or not key.strip():
        raise click.UsageError(f"Expected KEY=VALUE, got {pair!r}.")
    return key.strip(), text.strip()


def _value(text):
    words = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except ValueError:
        return text
