# SPDX-License-Identifier: BSD-3-Clause
"""A taxonomy as text: a parent and a child on each line."""

from typing import Any

from skstruct.datasets.files import read_lines
from skstruct.exceptions import DataFormatError

MAX_DEPTH = 200  # of a path, or of labels within each other; all beginnings are labels


def read_edges(path: Any) -> tuple[tuple[str, str], ...]:
    """Pairs (parent, child) of a file, in its order, none of them twice.

    Names are separated by a tab, else by a comma, else by spaces, which the first line settles.
    Empty lines and those that begin by ``#`` are skipped.

    Raises
    ------
    DataFormatError
        Tells the line; also if the pairs close a circle.
    """
    from skstruct.spaces.common.label_graph import LabelGraph

    lines = [
        (number, line)
        for number, line in enumerate(read_lines(path), 1)
        if line.strip() and not line.startswith("#")
    ]
    if not lines:
        raise DataFormatError("no line names a parent and a child", path=path)
    separator = next((mark for mark in "\t," if mark in lines[0][1]), None)
    pairs: dict[tuple[str, str], None] = {}
    for number, line in lines:
        fields = [field.strip() for field in line.split(separator)]
        if len(fields) != 2 or "" in fields:
            raise DataFormatError(
                f"expected a parent and a child, got {line[:60]!r}", path=path, line=number
            )
        if fields[0] == fields[1]:
            raise DataFormatError(f"{fields[0][:60]!r} is its own parent", path=path, line=number)
        pairs[fields[0], fields[1]] = None
    try:
        LabelGraph.read(list(pairs))
    except ValueError as error:
        raise DataFormatError(str(error), path=path) from None
    return tuple(pairs)


def write_edges(edges: tuple[Any, ...], file: Any) -> None:
    """Write pairs (parent, child), separated by a tab, as :func:`read_edges` reads them."""
    for parent, child in edges:
        for name in (parent, child):
            if name != name.strip() or not name or any(mark in name for mark in "\t\r\n\0"):
                raise DataFormatError(f"the label {name[:60]!r} cannot be in a taxonomy file")
        if parent.startswith(("#", "\ufeff")):
            what = "a comment line" if parent[0] == "#" else "the file as a mark of byte order"
            raise DataFormatError(f"the label {parent[:60]!r} would begin {what}")
        file.write(f"{parent}\t{child}\n")


def path_edges(names: Any) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Labels and (parent, child) pairs that paths such as ``1/1/2`` tell, in order of names.

    Raises
    ------
    DataFormatError
        For what :func:`check_path` refuses.

    Examples
    --------
    >>> path_edges(["1/1/2", "3"])
    (('1', '1/1', '1/1/2', '3'), (('1', '1/1'), ('1/1', '1/1/2')))
    """
    labels: set[str] = set()
    for name in names:
        steps = check_path(name)
        labels.update("/".join(steps[:k]) for k in range(1, len(steps) + 1))
    ordered = tuple(sorted(labels))
    edges = ((name.rpartition("/")[0], name) for name in ordered if "/" in name)
    return ordered, tuple((parent, child) for parent, child in edges)


def check_path(name: str) -> list[str]:
    """Steps of a path, refused if there are very many or one is empty.

    Examples
    --------
    >>> check_path("1/1/2")
    ['1', '1', '2']
    """
    steps = name.split("/")
    if len(steps) > MAX_DEPTH:
        raise DataFormatError(
            f"the label {name[:40]!r}... is a path of {len(steps)} steps; at most {MAX_DEPTH} are "
            "read, deeper ones by a taxonomy (edges_file)"
        )
    if "" in steps:
        raise DataFormatError(f"the label {name[:60]!r} has an empty step between '/'")
    return steps
