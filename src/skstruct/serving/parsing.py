# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of requests as rows: JSON, CSV and Arrow."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skstruct.encoding.columns import fail, is_missing
from skstruct.serving.asked import Asked
from skstruct.serving.messages import ARROW, CSV, JSON
from skstruct.serving.problems import Problem
from skstruct.serving.settings import QUESTIONS

OPTIONS = ("loss", "restrict", "threshold", "level", "k", "n")
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", ",": ",", ";": ";", "\t": "\t"}
LONGEST_LOSS = 300  # letters

__all__ = ["ARROW", "CSV", "JSON", "QUESTIONS", "Wanted", "read_request"]


@dataclass(frozen=True)
class Wanted:
    """A request that was read."""

    model: str | None
    rows: Any  # a list, or a table of pyarrow
    asked: Asked


def read_request(body: bytes, content_type: str, query: Mapping[str, str], max_rows: int) -> Wanted:
    """Rows and options of a request; a :class:`Problem` or ValueError says what is wrong.

    Parameters
    ----------
    query : mapping of str
        Of the address: ``model``, what :class:`Asked` takes, and ``separator`` for CSV.
    """
    kind = content_type.partition(";")[0].strip().lower()
    given = _from_query(query)
    if kind == JSON:
        rows, more = _from_json(body)
        given = _joined(given, more)
    elif kind == CSV:
        rows = _from_csv(body, query.get("separator", ","))
    elif kind == ARROW:
        from skstruct.serving.arrow_rows import read_arrow

        rows = read_arrow(body, max_rows)
    else:
        raise Problem(
            415, f"Rows are sent as {JSON}, {CSV} or {ARROW}; set the header Content-Type."
        )
    if len(rows) > max_rows:
        raise Problem(413, f"{len(rows):,} rows are more than {max_rows:,}: send them in parts.")
    if not len(rows):
        raise Problem(422, "There are no rows: give at least one.")
    model = given.pop("model", None)
    if model is not None and not isinstance(model, str):
        raise Problem(422, "model is the name of a model, a text.")
    if isinstance(given.get("loss"), str) and len(given["loss"]) > LONGEST_LOSS:
        raise Problem(422, f"loss has more than {LONGEST_LOSS} letters.")
    return Wanted(model, rows, Asked.from_dict(given))


def _from_query(query: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for key, text in query.items():
        if key in ("model", "loss"):
            given[key] = text
        elif key in OPTIONS:
            given[key] = _value(key, text)
        elif key != "separator":
            known = ", ".join(("model", *OPTIONS, "separator"))
            raise Problem(422, f"The address asks for {key[:60]!r}; known are {known}.")
    return given


def _joined(given: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Options of the address and of the body; one that is in both must say the same."""
    for name in given.keys() & more.keys():
        if given[name] != more[name]:
            raise Problem(422, f"The address and the body differ in {name}: give it once.")
    return given | more


def _value(key: str, text: str) -> Any:
    """Numbers and dictionaries are JSON; other texts stay texts."""
    try:
        return _loads(text)
    except Problem:
        if key == "restrict":
            raise Problem(422, "restrict in the address is JSON: a dictionary.") from None
        return text


# ---------------------------------------------------------------------- JSON
def _from_json(body: bytes) -> tuple[list[Any], dict[str, Any]]:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8: byte {error.start + 1} is not.") from None
    found = _loads(text)
    if isinstance(found, list):
        return found, {}
    if not isinstance(found, dict) or "rows" not in found:
        raise Problem(422, 'The body is {"rows": [...]} with options beside it, or a list of rows.')
    rows = found.pop("rows")
    if not isinstance(rows, list):
        raise Problem(422, f"rows is a list, with an entry for each row; got {_kind(rows)}.")
    return rows, found


def _loads(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_record)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Problem(400, f"The body is not JSON: {error.msg}, {where}.") from None
    except RecursionError:
        raise Problem(422, "The request is nested too deeply: rows are flat.") from None
    except ValueError as error:  # a number of thousands of digits
        raise Problem(422, f"The body is not read: {str(error)[:100]}.") from None


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) == len(pairs):
        return record
    names = [name for name, _ in pairs]
    twice = next(name for name in names if names.count(name) > 1)
    raise Problem(422, f"{twice[:60]!r} is there twice in one dictionary: give it once.")


def _kind(value: Any) -> str:
    kinds = {dict: "a dictionary", str: "a text", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")


# ---------------------------------------------------------------------- CSV
def _from_csv(body: bytes, separator: str) -> list[dict[str, Any]]:
    """Records of texts, None where a cell is empty or says that there is no value."""
    if separator not in SEPARATORS:
        raise Problem(422, f"separator is comma, semicolon or tab; got {separator[:20]!r}.")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8: byte {error.start + 1} is not.") from None
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=SEPARATORS[separator]))
    except csv.Error as error:
        raise Problem(400, f"The body is not CSV: {error}.") from None
    lines = [line for line in lines if line]
    if not lines:
        raise Problem(422, "The body has no lines: the first one has the names of the columns.")
    names, rows = lines[0], lines[1:]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(422, f"Two columns are called {twice[:60]!r}.", column=twice)
    for i, row in enumerate(rows):
        if len(row) != len(names):
            raise fail(f"{len(names)} cells are wanted, got {len(row)}", i)
    return [
        {name: None if is_missing(cell) else cell for name, cell in zip(names, row)}
        for row in rows
    ]  # fmt: skip
