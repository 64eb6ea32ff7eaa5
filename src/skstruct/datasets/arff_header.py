# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of an ARFF file: names, types, and the class hierarchy of CLUS."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skstruct.spaces.label_graph import LabelGraph

_QUOTED = r"'(?:\\.|[^'\\])*'" + r'|"(?:\\.|[^"\\])*"'
_CELL = re.compile(rf"""(?:[^,'"]|{_QUOTED})*""")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"]\S*)\s+(.+)", re.IGNORECASE)
_NUMERIC = ("numeric", "real", "integer")


class ArffError(ValueError):
    """Text that is not ARFF as read here; says in which line and, within a row, which column.

    Lines and columns count from 1; ``column`` is the position of the attribute.
    """

    def __init__(self, problem: str, line: int, column: int | None = None):
        super().__init__(problem, line, column)  # all of them, so that it can be pickled
        self.problem, self.line, self.column = problem, line, column

    def __str__(self):
        column = "" if self.column is None else f", column {self.column}"
        return f"line {self.line}{column}: {self.problem}"


@dataclass(frozen=True)
class Attribute:
    """One declaration; ``values`` are the nominal values."""

    name: str
    kind: str  # "numeric", "nominal", "key" or "hierarchical"
    values: tuple[str, ...] | None = None
    hierarchy: LabelGraph | None = None


def read_header(lines) -> list[Attribute]:
    """Attributes up to the @data line, from an iterator of (number, stripped line)."""
    attributes: dict[str, Attribute] = {}
    number = 1
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            if not attributes:
                raise ArffError("@data comes before any @attribute.", number)
            return list(attributes.values())
        if word == "@attribute":
            _append(attributes, _attribute(line, number), number)
        elif word != "@relation":
            raise ArffError(f"expected @attribute or @data, got {line[:40]!r}.", number)
    raise ArffError("the file ends without a @data line.", number)


def _append(attributes, attribute, number):
    last = next(reversed(attributes.values()), None)
    if last is not None and last.kind == "hierarchical":
        raise ArffError(f"the hierarchical class {last.name!r} has to be the last.", number)
    if attribute.name in attributes:
        raise ArffError(f"attribute {attribute.name!r} is declared twice.", number)
    attributes[attribute.name] = attribute


def split_cells(text, number):
    """List of the pieces between the commas outside of quotes; the quotes stay."""
    if "'" not in text and '"' not in text:
        return text.split(",")
    cells, start = [], 0
    while True:
        cell = _CELL.match(text, start)
        cells.append(cell[0])
        start = cell.end() + 1
        if start > len(text):
            return cells
        if text[start - 1] != ",":
            raise ArffError(f"a quote is never closed: {text[start - 1 :][:40]!r}.", number)


def unquote(text: str) -> str:
    """The text without space around it, its quotes and the backslashes within them."""
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _attribute(line, number) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise ArffError(f"expected '@attribute name type', got {line[:40]!r}.", number)
    name, declared = unquote(match[1]), match[2].strip()
    if declared.startswith("{"):
        return Attribute(name, "nominal", _nominal_values(declared, number))
    kind, rest = [*declared.split(None, 1), ""][:2]
    kind = kind.lower()
    if kind == "hierarchical":
        return Attribute(name, kind, hierarchy=_hierarchy(rest, number))
    if kind in _NUMERIC and not rest:
        return Attribute(name, "numeric")
    if kind == "key":
        return Attribute(name, kind)
    raise ArffError(
        f"attribute {name!r} is of type {declared[:40]!r}; known are numeric, real, integer, "
        "{nominal,values}, key and hierarchical. Remove the attribute from the file.",
        number,
    )


def _nominal_values(declared, number):
    if not declared.endswith("}"):
        raise ArffError(f"the nominal values {declared[:40]!r} lack the closing brace.", number)
    values = tuple(unquote(cell) for cell in split_cells(declared[1:-1], number))
    if len(set(values)) < len(values):
        raise ArffError(f"a nominal value is listed twice in {declared[:40]!r}.", number)
    return values


def _hierarchy(listed, number) -> LabelGraph:
    """From paths a/b/c or, if some parent is the word root, from parent/child arcs."""
    entries = [entry.strip() for entry in listed.split(",")]
    try:
        if not any(entry.startswith("root/") for entry in entries):
            return LabelGraph.read(entries)
        arcs = [tuple(entry.split("/")) for entry in entries]
        wrong = next((arc for arc in arcs if len(arc) != 2), None)
        if wrong:
            raise ValueError(f"expected an arc parent/child, got {'/'.join(wrong)!r}.")
        labels = dict.fromkeys(name for arc in arcs for name in arc if name != "root")
        return LabelGraph.read([arc for arc in arcs if arc[0] != "root"], labels)
    except ValueError as error:
        raise ArffError(str(error), number) from None
