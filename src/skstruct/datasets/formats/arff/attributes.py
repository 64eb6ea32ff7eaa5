# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of an ARFF file: their declarations, the hierarchy of CLUS, and what their cells
may hold.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from skstruct.datasets.formats.edges import MAX_DEPTH
from skstruct.exceptions import DataFormatError
from skstruct.spaces.common.label_graph import LabelGraph

SPACE = " \t\r\n\f\v"  # of ASCII alone, as quotes are not needed around others
_QUOTED = r"'(?:\\.|[^'\\])*+'" + r'|"(?:\\.|[^"\\])*+"'
_CELL = re.compile(rf"""(?:[^,'"]|{_QUOTED})*+""", re.DOTALL)
_VALUE = re.compile(rf"""{_QUOTED}|[^'"]*+""", re.DOTALL)
_ATTRIBUTE = re.compile(
    rf"@attribute[{SPACE}]+({_QUOTED}|[^{SPACE}'\"][^{SPACE}]*)[{SPACE}]+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
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
    lines: Iterable[Any], comments: list[str] | None = None, remarks: list[str] | None = None
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


def _first_word(line: str) -> tuple[str, str]:
    end = next((k for k, c in enumerate(line[:20]) if c in SPACE), len(line))
    return line[:end].lower(), line[end:].strip(SPACE)


def _check_last(declared: list[tuple[Attribute, int]], number: int) -> None:
    before = declared[-2][0] if len(declared) > 1 else None
    if before is not None and before.kind == "hierarchical":
        raise ArffError(f"the hierarchical class {before.name!r} has to be the last", line=number)


def _distinct(declared: list[tuple[Attribute, int]], remarks: list[Any]) -> list[Attribute]:
    """The attributes, those of a name that was there before by another one."""
    taken, seen, found = {attribute.name for attribute, _ in declared}, set(), []
    numbers: dict[str, Any] = {}  # that were not tried yet, by name
    for attribute, number in declared:
        if attribute.name in seen:
            left = numbers.setdefault(attribute.name, count(2))
            name = next(name for k in left if (name := f"{attribute.name}_{k}") not in taken)
            remarks.append(
                f"The attribute {attribute.name[:60]!r} is declared twice (line {number}): the "
                f"second one is called {name[:60]!r}."
            )
            taken.add(name)
            attribute = replace(attribute, name=name)
        seen.add(attribute.name)
        found.append(attribute)
    return found


def split_cells(text: str, number: int) -> list[str]:
    """List of the pieces between the commas outside of quotes; the quotes stay."""
    if "'" not in text and '"' not in text:
        return text.split(",")
    cells, start = [], 0
    while True:
        cell: Any = _CELL.match(text, start)  # an empty cell at least
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


def value_of(text: str) -> str:
    """The value that a cell holds: all of it is in quotes, or nothing.

    A quote elsewhere would take a comma, and with it the next cell, into its own.
    """
    if not _VALUE.fullmatch(text.strip(SPACE)):
        raise ValueError(f"a quote within {text[:40]!r}: put the whole value in quotes")
    return unquote(text)


_LINE_ENDS = {"n": "\n", "r": "\r", "t": "\t"}  # as Weka writes them


def _attribute(line: str, number: int) -> Attribute:
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


def _nominal_values(declared: str, number: int) -> tuple[Any, ...]:
    if not declared.endswith("}"):
        raise ArffError(f"the nominal values {declared[:40]!r} lack the closing brace", line=number)
    inside = declared[1:-1].strip(SPACE)
    cells = split_cells(inside, number) if inside else []
    if not all(cell.strip(SPACE) for cell in cells):
        raise ArffError(f"a nominal value is empty in {declared[:40]!r}", line=number)
    try:
        values = tuple(value_of(cell) for cell in cells)
    except ValueError as error:
        raise ArffError(str(error), line=number) from None
    if len(set(values)) < len(values):
        raise ArffError(f"a nominal value is listed twice in {declared[:40]!r}", line=number)
    return values


def _hierarchy(listed: str, number: int) -> LabelGraph:
    """From paths a/b/c or, if some parent is the word root, from parent/child arcs."""
    try:
        entries = [value_of(entry) for entry in split_cells(listed, number)]
    except ArffError:
        raise
    except ValueError as error:
        raise ArffError(str(error), line=number) from None
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


# Cells of an ARFF file, each of them as a number: the judge of what a cell may hold.
#
# Keys, strings and sets of labels are not declared, so that they get numbers in the order in
# which they come, from 1: in a sparse row 0 is what the row omits.


class Column:
    """Reads the cells of one attribute.

    Parameters
    ----------
    attribute : Attribute
    """

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self.seen: list[Any] = [None]  # what the numbers of an undeclared kind stand for
        self._codes: dict[Any, float] = {}
        self.known: dict[str, float] = {}  # cells that were read, but for numbers
        if attribute.kind == "nominal":
            self._codes = {value: float(code) for code, value in enumerate(attribute.values or ())}
        self._read = getattr(self, f"_{attribute.kind}")

    def read(self, cell: str) -> float:
        """Number of a cell; a ValueError says what is wrong with it."""
        cell = cell.strip(SPACE)
        if self.attribute.kind == "numeric":
            return self._numeric(cell)
        if cell not in self.known:
            self.known[cell] = self._read(cell)
        return self.known[cell]

    def words(self) -> dict[bytes, float]:
        """Nominal values of up to 8 bytes that need no quotes, and their numbers."""
        values = {value.encode(): code for value, code in self._codes.items()}
        return {
            word: code
            for word, code in values.items()
            if 0 < len(word) <= 8 and not set(word) & _QUOTED_BYTES and word != b"?"
        }

    def _numeric(self, cell: str) -> float:
        if cell == "?":
            return math.nan
        try:
            if "_" in cell or not cell.isascii():  # float reads 1_0 as 10, and digits of Arabic
                raise ValueError
            value = float(cell)
        except ValueError:
            raise ValueError(f"{cell[:40]!r} is not a number") from None
        if not math.isfinite(value):
            raise ValueError(f"{cell[:40]!r} is not a finite number; a missing one is '?'")
        return value

    def _nominal(self, cell: str) -> float:
        if cell == "?":
            return math.nan
        value = value_of(cell)
        if value not in self._codes:
            some = ", ".join(value[:40] for value in (self.attribute.values or ())[:10])
            raise ValueError(f"{value[:40]!r} is none of {some}")
        return self._codes[value]

    def _string(self, cell: str) -> float:
        return math.nan if cell == "?" else self._number(value_of(cell))

    def _key(self, cell: str) -> float:
        return self._number(value_of(cell))

    def _hierarchical(self, cell: str) -> float:
        graph: Any = self.attribute.hierarchy
        number = graph.number
        labels = () if cell == "?" else tuple(value_of(cell).split("@"))
        for label in labels:
            if label not in number:
                raise ValueError(f"the label {label[:40]!r} is not in the declared hierarchy")
        return self._number(labels)

    def _number(self, value: Any) -> float:
        if value not in self._codes:
            self._codes[value] = float(len(self.seen))
            self.seen.append(value)
        return self._codes[value]


_QUOTED_BYTES = set(b" \t\r\n\f\v,'\"\\")
_KINDS = {"numeric": 0, "nominal": 1}


def lookup_tables(columns: list[Column]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Kinds of the columns and short words of the nominal ones, for the compiled reader."""
    kinds = np.array([_KINDS.get(column.attribute.kind, 2) for column in columns], dtype=np.int64)
    first, words, codes = [0], [], []
    for column in columns:
        known = {int.from_bytes(word, "big"): code for word, code in column.words().items()} \
            if column.attribute.kind == "nominal" else {}  # fmt: skip
        words += sorted(known)
        codes += [known[word] for word in sorted(known)]
        first.append(len(words))
    return kinds, np.array(first), np.array(words, np.uint64), np.array(codes, np.float64)
