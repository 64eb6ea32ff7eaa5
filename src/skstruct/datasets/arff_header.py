# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of an ARFF file: names, types, and the class hierarchy of CLUS."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count

from skstruct.exceptions import DataFormatError
from skstruct.spaces.label_graph import LabelGraph

SPACE = " \t\r\n\f\v"  # of ASCII alone, as quotes are not needed around others
_QUOTED = r"'(?:\\.|[^'\\])*+'" + r'|"(?:\\.|[^"\\])*+"'
_CELL = re.compile(rf"""(?:[^,'"]|{_QUOTED})*+""", re.DOTALL)
_ATTRIBUTE = re.compile(
    rf"@attribute[{SPACE}]+({_QUOTED}|[^{SPACE}'\"][^{SPACE}]*)[{SPACE}]+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MAX_DEPTH = 200
_NUMERIC = ("numeric", "real", "integer")
_REFUSED = {
    "date": "Write dates as numbers, such as days or seconds",
    "relational": "Write the inner rows to a file of their own",
}


class ArffError(DataFormatError):
    """Text that is not ARFF as read here; says in which line and, within a row, which column.

    Lines and columns count from 1; ``column`` is the position of the attribute.
    """


@dataclass(frozen=True)
class Attribute:
    """One declaration; ``values`` are the nominal values."""

    name: str
    kind: str  # "numeric", "nominal", "string", "key" or "hierarchical"
    values: tuple[str, ...] | None = None
    hierarchy: LabelGraph | None = None


def read_header(
    lines, comments: list[str] | None = None, remarks: list[str] | None = None
) -> tuple[str, list[Attribute]]:
    """Relation and attributes up to the @data line, from an iterator of (number, line).

    Lines of comment are put behind ``comments``. A name that is declared again, as some files of
    the web do, gets a number, which ``remarks`` say.
    """
    declared: list[tuple[Attribute, int]] = []
    relation, number = "", 1
    for number, line in lines:
        line = line.strip(SPACE)
        if not line:
            continue
        if line[0] == "%":
            if comments is not None:
                comments.append(line)
            continue
        word, rest = _first_word(line)
        if word == "@data":
            if rest and rest[0] != "%":
                raise ArffError(f"nothing follows @data; got {rest[:40]!r}", line=number)
            if not declared:
                raise ArffError("@data comes before any @attribute", line=number)
            return relation, _distinct(declared, [] if remarks is None else remarks)
        if word == "@attribute":
            declared.append((_attribute(line, number), number))
            _check_last(declared, number)
        elif word == "@relation":
            relation = unquote(rest)
        else:
            raise ArffError(f"expected @attribute or @data, got {line[:40]!r}", line=number)
    raise ArffError("the file ends without a @data line", line=number)


def _first_word(line):
    end = next((k for k, c in enumerate(line[:20]) if c in SPACE), len(line))
    return line[:end].lower(), line[end:].strip(SPACE)


def _check_last(declared, number):
    before = declared[-2][0] if len(declared) > 1 else None
    if before is not None and before.kind == "hierarchical":
        raise ArffError(f"the hierarchical class {before.name!r} has to be the last", line=number)


def _distinct(declared, remarks) -> list[Attribute]:
    """The attributes, those of a name that was there before by another one."""
    taken, seen, found = {attribute.name for attribute, _ in declared}, set(), []
    for attribute, number in declared:
        if attribute.name in seen:
            name = next(name for k in count(2) if (name := f"{attribute.name}_{k}") not in taken)
            remarks.append(
                f"The attribute {attribute.name[:60]!r} is declared twice (line {number}): the "
                f"second one is called {name[:60]!r}."
            )
            taken.add(name)
            attribute = replace(attribute, name=name)
        seen.add(attribute.name)
        found.append(attribute)
    return found


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
            raise ArffError(f"a quote is never closed: {text[start - 1 :][:40]!r}", line=number)


def unquote(text: str) -> str:
    """The text without space around it, its quotes and the backslashes within them."""
    text = text.strip(SPACE)
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPED.sub(lambda found: _LINE_ENDS.get(found[1], found[1]), text[1:-1])
    return text


_LINE_ENDS = {"n": "\n", "r": "\r", "t": "\t"}  # as Weka writes them


def _attribute(line, number) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise ArffError(f"expected '@attribute name type', got {line[:40]!r}", line=number)
    name, declared = unquote(match[1]), match[2].strip(SPACE)
    if declared.startswith("{"):
        return Attribute(name, "nominal", _nominal_values(declared, number))
    kind, rest = _first_word(declared)
    if kind == "hierarchical":
        return Attribute(name, kind, hierarchy=_hierarchy(rest, number))
    if rest[:1] in ("", "%"):
        if kind in _NUMERIC:
            return Attribute(name, "numeric")
        if kind in ("key", "string"):
            return Attribute(name, kind)
    advice = _REFUSED.get(kind, "Remove the attribute from the file")
    raise ArffError(
        f"attribute {name!r} is of type {declared[:40]!r}; known are numeric, real, integer, "
        f"string, {{nominal,values}}, key and hierarchical. {advice}",
        line=number,
    )


def _nominal_values(declared, number):
    if not declared.endswith("}"):
        raise ArffError(f"the nominal values {declared[:40]!r} lack the closing brace", line=number)
    inside = declared[1:-1].strip(SPACE)
    cells = split_cells(inside, number) if inside else []
    if not all(cell.strip(SPACE) for cell in cells):
        raise ArffError(f"a nominal value is empty in {declared[:40]!r}", line=number)
    values = tuple(unquote(cell) for cell in cells)
    if len(set(values)) < len(values):
        raise ArffError(f"a nominal value is listed twice in {declared[:40]!r}", line=number)
    return values


def _hierarchy(listed, number) -> LabelGraph:
    """From paths a/b/c or, if some parent is the word root, from parent/child arcs."""
    entries = [unquote(entry) for entry in split_cells(listed, number)]
    if any(entry.count("/") > MAX_DEPTH for entry in entries):  # all beginnings of it are labels
        raise ArffError(f"a path of labels has more than {MAX_DEPTH} steps", line=number)
    try:
        if not any(entry.startswith("root/") for entry in entries):
            return LabelGraph.read(entries)
        arcs = [tuple(entry.split("/")) for entry in entries]
        wrong = next((arc for arc in arcs if len(arc) != 2 or not all(arc)), None)
        if wrong:
            raise ValueError(f"expected an arc parent/child, got {'/'.join(wrong)[:40]!r}")
        labels = dict.fromkeys(name for arc in arcs for name in arc if name != "root")
        return LabelGraph.read([arc for arc in arcs if arc[0] != "root"], labels)
    except ValueError as error:
        raise ArffError(str(error), line=number) from None
