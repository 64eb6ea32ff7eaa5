# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct data``: look at data files, convert them, get samples."""

from pathlib import Path
from typing import Any

import click

from skstruct.cli.options import (
    DATA,
    json_option,
    quiet_option,
    raw_cells_option,
    read_file,
    reading_options,
    skip_option,
)
from skstruct.cli.quick_start import starts_quickly


@click.group(short_help="Check, convert and list data.")
def data() -> None:
    """Look at data files, convert them, get samples to try things with."""


@data.command("list")
@json_option
@starts_quickly
def list_data(as_json: bool) -> None:
    """List the formats that are read and the data sets that are known by name."""
    from skstruct.cli.terminal import print_json, print_table
    from skstruct.datasets import data_home
    from skstruct.datasets.catalogue import KNOWN, on_this_machine
    from skstruct.datasets.formats import FORMATS

    formats = [(f.name, " ".join(f.suffixes), ", ".join(f.tasks), f.about) for f in FORMATS]
    known = [(k.name, k.task, "yes" if on_this_machine(k) else "no") for k in KNOWN]
    if as_json:
        print_json({
            "formats": [dict(zip(("format", "endings", "tasks", "about"), row)) for row in formats],
            "data_sets": [dict(zip(("name", "task", "here"), row)) for row in known],
            "data_home": str(data_home()),
        })  # fmt: skip
        return
    print_table("Formats", ("format", "endings", "tasks", "about"), formats)
    title = f"Data sets, looked for in {data_home()} (set by SKSTRUCT_DATA)"
    print_table(title, ("name", "task", "here"), known)
    print_table("Samples for `data sample`", ("file",), [(path.name,) for path in _samples()])


@data.command("check")
@click.argument("path", type=DATA, metavar="FILE")
@reading_options
@skip_option
@json_option
def check_data(path: str, as_json: bool, **reading: Any) -> None:
    """Read FILE strictly and say what it holds; code 3 and one line if it cannot be read."""
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.terminal import print_facts, print_json
    from skstruct.datasets.dataset import description
    from skstruct.datasets.tasks import check_outputs

    table = read_file(path, reading, quiet=True)
    if table.outputs is not None:
        with bad_data(f"{table.name}: "):
            check_outputs(table)
    described = description(table)
    if as_json:
        print_json(described)
    else:
        remarks = [("remark", remark) for remark in described.pop("remarks")]
        names = ", ".join(described.pop("names", []))
        print_facts([*described.items(), *([("names", names)] if names else []), *remarks])


@data.command("convert")
@click.argument("source", type=DATA)
@click.argument("destination")
@click.option("--to", "to_format", help="Format to write; by the ending of the name if left out.")
@raw_cells_option
@reading_options
@skip_option
@quiet_option
def convert_data(
    source: str, destination: str, to_format: Any, raw_cells: bool, quiet: bool, **reading: Any
) -> None:
    """Write the data of SOURCE as another format; endings .gz and .xz compress."""
    from skstruct.cli.exit_codes import bad_data, writing
    from skstruct.cli.options import check_format, check_writable
    from skstruct.cli.terminal import say
    from skstruct.datasets import write_data
    from skstruct.datasets.writing import format_to_write

    check_format(to_format)
    check_writable(destination)
    table = read_file(source, reading, quiet=quiet)
    with bad_data():
        chosen = format_to_write(table, Path(destination), to_format).name
    if raw_cells and chosen != "csv":
        raise click.UsageError(f"--raw-cells is of CSV files; {chosen} files need no care.")
    with writing(destination), bad_data():
        write_data(table, destination, format=to_format, raw_cells=raw_cells)
    say(f"Wrote {destination}: {len(table):,} rows.", quiet)


@data.command("sample")
@click.argument("name")
@click.option("-o", "--output", help="Where to write it; here, under its own name, if left out.")
@quiet_option
def sample_data(name: str, output: str | None, quiet: bool) -> None:
    """Write one of the small files that come with skstruct."""
    from skstruct._files.atomic import replacing
    from skstruct.cli.exit_codes import writing
    from skstruct.cli.options import check_writable
    from skstruct.cli.terminal import say

    known = {path.name: path for path in _samples()}
    if name not in known:
        raise click.UsageError(f"There is no sample {name!r}; known are {', '.join(known)}.")
    destination = Path(output or name)
    check_writable(destination)
    with writing(destination), replacing(destination, "wb") as file:
        file.write(known[name].read_bytes())
    say(f"Wrote {destination}.", quiet)


def _samples() -> list[Path]:
    folder = Path(__file__).resolve().parents[1] / "datasets" / "samples"
    return sorted(path for path in folder.iterdir() if path.suffix != ".py")
