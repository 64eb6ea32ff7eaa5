# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct inspect``: what a model file holds."""

from __future__ import annotations

import click

from skstruct.cli.options import EXISTING, json_option


@click.command(short_help="What a model file holds.")
@click.argument("model", type=EXISTING)
@json_option
def inspect(model, as_json):
    """Describe a model file: class, parameters, versions, sizes; arrays are not loaded."""
    from skstruct.cli.exits import bad_data
    from skstruct.cli.printing import plain, print_facts, print_json
    from skstruct.persistence import describe_model

    with bad_data():
        described = plain(describe_model(model))
    if as_json:
        print_json(described)
    else:
        print_facts(_flat(described))


def _flat(value, before=""):
    """Pairs of a dotted name and a value."""
    for key, item in value.items():
        name = f"{before}{key}"
        if isinstance(item, dict) and item:
            yield from _flat(item, f"{name}.")
        else:
            yield name, item if isinstance(item, (int, float, str)) else repr(item)
