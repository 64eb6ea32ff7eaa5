# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of ARFF files, written from the definition of the format, slow and short.

Nothing of the library is used. It reads what the definition allows and refuses the rest by
``Refused``: names, kinds and cells as they stand there, numbers as floats and None for ``?``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

BLANKS = " \t\r\n\f\v"
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Refused(Exception):
    """The definition does not allow this."""


@dataclass
class Arff:
    """What an ARFF file says."""

    relation: str = ""
    comments: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    kinds: list[Any] = field(default_factory=list)  # "numeric", "string", "key", values or paths
    rows: list[list[Any]] = field(default_factory=list)


def lines_of(data: bytes) -> list[str]:
    """Lines of UTF-8 text, whose ends are LF, CRLF or CR; a mark of byte order says nothing."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("no UTF-8") from None
    if "\0" in text:
        raise Refused("a NUL")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def number_of(text: str) -> float:
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Refused(f"no number: {text!r}")
    return float(text)


# A value is one quoted text, or characters without quotes; a comma within quotes is a character.


def quoted(text: str, at: int) -> tuple[str, int]:
    """The text in quotes that begins here, and where it ends."""
    mark, at, found = text[at], at + 1, []
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            found.append(ESCAPES.get(text[at + 1], text[at + 1]))
            at += 2
        elif text[at] == mark:
            return "".join(found), at + 1
        else:
            found.append(text[at])
            at += 1
    raise Refused("a quote without an end")


def value_of(text: str, at: int, ends: str) -> tuple[str, bool, int]:
    """The value that begins here, whether it was in quotes, and the place of the end behind it."""
    while at < len(text) and text[at] in BLANKS:
        at += 1
    if at < len(text) and text[at] in "'\"":
        value, at = quoted(text, at)
        while at < len(text) and text[at] in BLANKS:
            at += 1
        if at < len(text) and text[at] not in ends:
            raise Refused("text behind a quoted value")
        return value, True, at
    start = at
    while at < len(text) and text[at] not in ends:
        if text[at] in "'\"":
            raise Refused("a quote within a value")
        at += 1
    return text[start:at].strip(BLANKS), False, at


def values_of(text: str) -> list[tuple[str, bool]]:
    """Values between commas, and whether they were in quotes."""
    found, at = [], -1
    while at < len(text):
        value, was_quoted, at = value_of(text, at + 1, ",")
        found.append((value, was_quoted))
        if at >= len(text):
            break
    return found


# The header.


def read_arff(data: bytes) -> Arff:
    """Names, kinds and rows of an ARFF file."""
    table, lines = Arff(), iter(lines_of(data))
    for line in lines:
        line = line.strip(BLANKS)
        word = re.split(f"[{BLANKS}]", line, maxsplit=1)[0].lower()
        rest = line[len(word) :].strip(BLANKS)
        if line.startswith("%"):
            table.comments.append(line)
        elif word == "@relation":
            in_quotes = len(rest) > 1 and rest[0] in "'\"" and rest[-1] == rest[0]
            table.relation = re.sub(r"\\(.)", r"\1", rest[1:-1]) if in_quotes else rest
        elif word == "@attribute":
            declare(table, rest)
        elif word == "@data":
            if (rest and rest[0] != "%") or not table.names:
                raise Refused("@data")
            break
        elif line:
            raise Refused("a line of the header")
    else:
        raise Refused("no @data")
    rename(table)
    for line in lines:
        line = line.strip(BLANKS)
        if line and not line.startswith("%"):
            table.rows.append(sparse_row(table, line) if line[0] == "{" else row_of(table, line))
    return table


def declare(table: Arff, text: str) -> None:
    if text[:1] in ("'", '"'):
        name, at = quoted(text, 0)
        if at < len(text) and text[at] not in BLANKS:
            raise Refused("text behind a quoted name")
    else:
        name = re.split(f"[{BLANKS}]", text, maxsplit=1)[0]
        at = len(name)
    kind = text[at:].strip(BLANKS)
    table.names.append(name)
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise Refused("a list without an end")
        inside = kind[1:-1].strip(BLANKS)
        values = values_of(inside) if inside else []
        if any(not value and not was_quoted for value, was_quoted in values):
            raise Refused("an empty value")
        table.kinds.append([value for value, _ in values])
        return
    word = re.split(f"[{BLANKS}]", kind, maxsplit=1)[0]
    rest = kind[len(word) :].strip(BLANKS)
    if word.lower() == "hierarchical":
        table.kinds.append(("hierarchical", [value for value, _ in values_of(rest)]))
    elif word.lower() in ("numeric", "real", "integer", "string", "key") and rest[:1] in ("", "%"):
        table.kinds.append(word.lower() if word.lower() in ("string", "key") else "numeric")
    else:
        raise Refused("a kind that is not read")


def rename(table: Arff) -> None:
    """A name that comes again gets the first number from 2 on that makes a new one of it."""
    taken, seen = set(table.names), set()
    for j, name in enumerate(table.names):
        k = 2
        while name in seen and (new := f"{name}_{k}") in taken:
            k += 1
        if name in seen:
            table.names[j] = new
            taken.add(new)
        seen.add(table.names[j])


# Rows.


def row_of(table: Arff, line: str) -> list[Any]:
    values = values_of(line)
    if len(values) != len(table.kinds):
        raise Refused("the number of values")
    return [cell(kind, *value) for kind, value in zip(table.kinds, values)]


def sparse_row(table: Arff, line: str) -> list[Any]:
    """What is left out is 0, the first value, or the empty text."""
    if not line.endswith("}"):
        raise Refused("a sparse row without an end")
    row = [absent(kind) for kind in table.kinds]
    text, at, last = line[1:-1].strip(BLANKS), 0, -1
    while at < len(text):
        pair = re.compile(f"[{BLANKS}]*([0-9]{{1,9}})[{BLANKS}]+").match(text, at)
        if pair is None or not last < int(pair[1]) < len(row):
            raise Refused("a position")
        last = int(pair[1])
        value, was_quoted, at = value_of(text, pair.end(), ",")
        if not value and not was_quoted:
            raise Refused("no value")
        row[last] = cell(table.kinds[last], value, was_quoted)
        if at == len(text) - 1:
            raise Refused("a comma at the end")
        at += 1
    return row


def absent(kind: Any) -> Any:
    if kind == "numeric":
        return 0.0
    if isinstance(kind, list):
        return kind[0] if kind else None
    return "" if kind in ("string", "key") else Refused


def cell(kind: Any, text: str, was_quoted: bool) -> Any:
    if text == "?" and not was_quoted and kind != "key":
        return () if isinstance(kind, tuple) else None
    if kind == "numeric":
        if was_quoted:
            raise Refused("a number in quotes")
        return number_of(text)
    if isinstance(kind, list) and text not in kind:
        raise Refused("a value that was not declared")
    return tuple(text.split("@")) if isinstance(kind, tuple) else text
