# SPDX-License-Identifier: BSD-3-Clause
"""Second readers of CSV, LIBSVM and label ranking files, from the definitions, slow and short.

Nothing of the library is used; see :mod:`oracle_readers`.
"""

from __future__ import annotations

import re
from typing import Any

from oracle_readers import NUMBER, Refused, lines_of, number_of

BLANKS = " \t\n\r\v\f"
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None")
_RUN_BY_SPREADSHEETS = re.compile(r"''*[=+\-@\t\r]")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


# CSV: cells between separators; in quotes a cell may hold anything, and a quote twice.


def read_csv(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Names of columns, and rows of texts."""
    text = "".join(line + "\n" for line in lines_of(data))
    found = {mark: split_rows(text, mark) for mark in ",;\t"}
    split = {mark: rows for mark, rows in found.items() if rows and len(rows[0] or ()) > 1}
    if len(split) > 1:
        first = {mark: [len(row) for row in rows[:20] if row] for mark, rows in split.items()}
        split = {mark: split[mark] for mark, widths in first.items() if len(set(widths)) == 1}
        if len(split) != 1:
            raise Refused("several separators")
    rows = next(iter(split.values()), found[","])
    if rows and rows[-1] is None:
        raise Refused("quotes")
    while rows and not rows[-1]:
        rows.pop()
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise Refused("rows of different lengths")
    names = [meant(name) for name in rows[0]]
    if len(names) > 1 and not names[0].strip():
        names[0] = "id"
        while names[0] in names[1:]:
            names[0] += "_"
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise Refused("names of columns")
    return names, rows[1:]


def split_rows(text: str, mark: str) -> list[Any]:
    """Rows of cells, an empty list for an empty line; None at the end where quotes are wrong."""
    rows: list[Any] = []
    row: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "\n" and not row:
            rows.append([])
            at += 1
            continue
        cell, at = _cell(text, at, mark)
        if cell is None:
            return [*rows, None]
        row.append(cell)
        if text[at] == "\n":
            rows.append(row)
            row = []
        at += 1
        if row and text[at] == "\n":  # a separator at the end of a line
            rows.append([*row, ""])
            row, at = [], at + 1
    return rows


def _cell(text: str, at: int, mark: str) -> tuple[str | None, int]:
    """The cell that begins here, and the place of the separator or line end behind it."""
    if text[at] != '"':
        end = min(k for k in (text.find(mark, at), text.find("\n", at)) if k >= 0)
        return text[at:end], end
    found, at = "", at + 1
    while True:
        end = text.find('"', at)
        if end < 0:
            return None, at
        found += text[at:end]
        if text[end + 1] != '"':
            return (found, end + 1) if text[end + 1] in (mark, "\n") else (None, end)
        found, at = found + '"', end + 2


def meant(text: str) -> str:
    """Without the apostrophe that keeps a spreadsheet from running a cell."""
    rest = text[1:]
    number = any(kind.fullmatch(rest.strip(BLANKS)) for kind in (NUMBER, _NOT_FINITE))
    kept = rest[:1] in ("+", "-") and number
    return rest if _RUN_BY_SPREADSHEETS.match(text) and not kept else text


def column(texts: list[str]) -> list[Any]:
    """Floats where all that is there are numbers, else texts; None where nothing is there."""
    known = [text.strip(BLANKS) for text in texts]
    if all(k in MISSING or NUMBER.fullmatch(k) or _NOT_FINITE.fullmatch(k) for k in known):
        numbers = [float("nan" if k in MISSING else k) for k in known]
        if any(abs(x) == float("inf") for x in numbers):
            raise Refused("an infinite number")
        return [None if x != x else x for x in numbers]
    return [None if meant(t).strip(BLANKS) in MISSING else meant(t) for t in texts]


# Outputs in one cell.


def output(task: str, text: str) -> Any:
    """A set, an order or a sequence of names; a name; or a number."""
    text = meant(text)
    missing = text.strip(BLANKS) in MISSING
    if task in ("classes", "ordinal"):
        return None if missing else text
    if task == "regression":
        return None if missing else number_of(text.strip(BLANKS))
    if missing and text.strip():
        return None
    escaped = text[:1] == "\\" and text[1:2] != " " and text[1:].strip(BLANKS) in MISSING
    if escaped and text[1:].strip():  # the name of one label that looks like no value
        text = "".join("\\" + c if c in "?" else c for c in text[1:])
    return _names(task, text)


def _names(task: str, text: str) -> Any:
    marks = {"ranking": ">=", "sequence": " "}.get(task, ";")
    names: list[tuple[str, list[str]]] = [("", [])]
    at = 0
    while at < len(text):
        piece = text[at : at + 2] if text[at] == "\\" else text[at]
        if piece in marks:
            names.append((piece, []))
        else:
            if piece[0] == "\\" and (len(piece) < 2 or piece[1] not in "\\;>= ?"):
                raise Refused("a backslash")
            names[-1][1].append(piece)
        at += len(piece)
    if task == "sequence":
        return [None if p == ["?"] else "".join(c[-1] for c in p) for _, p in names if p]
    if not text.strip(" "):
        return {} if task == "ranking" else []
    ranks, rank = {}, 0
    for mark, pieces in names:
        while pieces and pieces[0] == " ":
            pieces = pieces[1:]
        while pieces and pieces[-1] == " ":
            pieces = pieces[:-1]
        name = "".join(piece[-1] for piece in pieces)
        if not name or name in ranks:
            raise Refused("a name that is empty or comes twice")
        rank += mark != "="
        ranks[name] = rank
    return ranks if task == "ranking" else list(ranks)


def class_names(names: list[Any]) -> list[Any]:
    """Classes that are all whole numbers are called without a point."""
    known = [name.strip(BLANKS) for name in names if name is not None]
    whole = all(NUMBER.fullmatch(k) and float(k) == round(float(k), 0) for k in known)
    if not whole:
        return names
    return [name and re.sub(r"^(\s*[+-]?[0-9]+)\.0*(\s*)$", r"\1\2", name) for name in names]


# LIBSVM.


def read_libsvm(data: bytes) -> list[tuple[list[str], dict[int, float]]]:
    """Labels and values by index of every line that holds something."""
    rows = []
    for line in lines_of(data):
        line = line.split("#")[0].replace("\t", " ").rstrip(" ")
        if not line:
            continue
        has_label = line[0] != " " and ":" not in line.split(" ")[0]
        fields = [field for field in line.split(" ") if field]
        head = fields.pop(0).split(",") if has_label else []
        if fields and re.fullmatch("qid:[0-9]+", fields[0]):
            fields.pop(0)
        pairs = [re.fullmatch("([0-9]{1,9}):(.*)", field) for field in fields]
        if not all(pairs):
            raise Refused("a field")
        indices = [int(pair[1]) for pair in pairs]
        if any(b <= a for a, b in zip([0, *indices], indices)):
            raise Refused("indices do not rise")
        rows.append(([_label(name) for name in head], {int(p[1]): number_of(p[2]) for p in pairs}))
    return rows


def _label(name: str) -> str:
    if not name:
        raise Refused("an empty label")
    if not re.fullmatch(r"[0-9.+-][0-9.+eE-]*|[+-]?(nan|inf|infinity)", name, re.IGNORECASE):
        return name
    value = number_of(name)
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def read_label_ranking(data: bytes) -> tuple[list[list[float]], list[list[int]]]:
    """Features and ranks, as many as the first line says."""
    rows = [line.split(",") for line in lines_of(data)]
    n, n_features, n_labels = (int(cell) for cell in rows[0])
    table = [[number_of(cell.strip(BLANKS)) for cell in row] for row in rows[1:]]
    if len(table) != n or any(len(row) != n_features + n_labels for row in table):
        raise Refused("sizes")
    ranks = [[int(cell) for cell in row[n_features:]] for row in table]
    return [row[:n_features] for row in table], ranks
