# SPDX-License-Identifier: BSD-3-Clause
r"""Outputs as text in one cell of a table, and back.

=====================  =================  ==========================================
task                   text               escaped by a backslash within names
=====================  =================  ==========================================
classes, ordinal       ``a``              nothing
labels, hierarchy      ``a;b;c``          ``;`` and the backslash
ranking                ``a>b=c>d``        ``>``, ``=`` and the backslash; best first
sequence               ``a b c``          space and the backslash
regression, histogram  ``1.5 -2.0``       numbers by repr
=====================  =================  ==========================================

A backslash before any of these marks is taken off in every cell of several names: ``\=`` is ``=``
among labels too. Spaces around names of labels and items say nothing; a name that begins or ends
by a space has that one escaped too. The empty text is the empty set, ranking or sequence. Another
word for a missing value, such as ``NA`` or ``?``, is no output if it is the whole text; the name of
one label, item or symbol that looks so has a backslash before it. ``?`` among the symbols of a
sequence is a position that is not known, and ``\?`` the symbol.
"""

import re
from itertools import groupby
from typing import Any

import numpy as np

from skstruct.datasets.formats.columns import is_missing
from skstruct.datasets.gaps import UNKNOWN
from skstruct.exceptions import DataFormatError

ONE_NAME = ("classes", "ordinal")  # tasks with one name for each row
NUMBERS = ("regression", "histogram")
_ESCAPED = "\\;>= ?"  # what may follow a backslash, whatever the task


def write_cell(task: str, output: Any) -> str:
    r"""Text of one output.

    Parameters
    ----------
    task : str
    output : str, sequence of str, or numbers
        Of a ranking, its items from the best to the worst; tied ones as a tuple.

    Raises
    ------
    ValueError
        If a name is empty or comes twice.

    Examples
    --------
    >>> write_cell("labels", ("sport", "news; old"))
    'sport;news\\; old'
    >>> write_cell("ranking", ("tea", ("milk", "water")))
    'tea>milk=water'
    >>> write_cell("regression", 0.1)
    '0.1'
    >>> write_cell("labels", ("NA",))
    '\\NA'
    """
    if task in ONE_NAME:
        return str(output)
    if task in NUMBERS:
        return " ".join(repr(float(number)) for number in np.ravel(output))
    text = _joined(task, output)
    return "\\" + text if _says_missing(text) else text


def _joined(task: str, output: tuple[Any, ...]) -> str:
    if task == "sequence":
        if len(output) == 1 and output[0] is None:
            raise ValueError("a sequence of one position, not known, reads as a missing sequence.")
        return " ".join(
            UNKNOWN if name is None else _escaped(name, " ?" if name == UNKNOWN else " ", outer="")
            for name in output
        )
    if task == "ranking":
        groups = [(item,) if isinstance(item, str) else item for item in output]
        _check_distinct([name for group in groups for name in group], "item")
        return ">".join("=".join(_escaped(name, ">=") for name in group) for group in groups)
    _check_distinct(list(output), "label")
    return ";".join(_escaped(name, ";") for name in output)


def read_cell(task: str, text: str) -> Any:
    r"""The output that a text stands for.

    Returns
    -------
    str, tuple of str (labels, sequence), tuple of tuples of str (ranking, ties together), or
    tuple of float

    Raises
    ------
    DataFormatError
        Without line and column, which the caller knows.

    Examples
    --------
    >>> read_cell("labels", r"sport;news\; old")
    ('sport', 'news; old')
    >>> read_cell("ranking", "tea > milk = water")
    (('tea',), ('milk', 'water'))
    >>> read_cell("labels", "")
    ()
    """
    if task in ONE_NAME:
        return text
    if task in NUMBERS:
        return tuple(_number(piece) for piece in text.split())
    given, text = text, _present(task, text)
    if task == "sequence":
        return _symbols(text, gaps=given == text)
    if not text.strip(" "):
        return ()
    mark = {"ranking": ">="}.get(task, ";")
    pieces = _pieces(text, mark)
    names = [name for name, _ in pieces]
    what = "item" if task == "ranking" else "label"
    if "" in names:
        raise DataFormatError(f"a name is missing in {text[:60]!r}")
    twice = _first_twice(names)
    if twice is not None:
        raise DataFormatError(f"the {what} {twice[:60]!r} comes twice")
    return _groups(pieces) if task == "ranking" else tuple(names)


def _symbols(text: str, gaps: bool) -> tuple[str | None, ...]:
    """Symbols of a sequence, None for a position that is not known."""
    if not gaps or UNKNOWN not in text:
        return tuple(name for name, _ in _pieces(text, " ", outer="") if name)
    symbols: list[list[str]] = [[]]
    for token in _tokens(text):
        if token == " ":
            symbols.append([])
        else:
            symbols[-1].append(token)
    return tuple(
        None if tokens == [UNKNOWN] else _unescaped(tokens, "", text)
        for tokens in symbols
        if tokens
    )


def _tokens(text: str) -> list[str]:
    """Characters, a backslash together with what follows it."""
    return re.findall(r"\\.|\\|[^\\]", text, re.DOTALL)


def _present(task: str, text: str) -> str:
    """A text that is not missing, without the backslash that says that it is not."""
    if _says_missing(text):
        word = text.strip()
        what = {"ranking": "ranking is", "sequence": "sequence is"}.get(task, "labels are")
        raise DataFormatError(
            f"the {what} missing ({word!r} says so); write \\{word} for the name, and nothing "
            "for none"
        )
    escaped = text[:1] == "\\" and text[1:2] != " " and _says_missing(text[1:])
    return text[1:] if escaped else text


def _says_missing(text: str) -> bool:
    return bool(text.strip()) and is_missing(text)


def ranked_items(ranks: list[int], items: Any) -> tuple[tuple[str, ...], ...]:
    """Items from the best to the worst, tied ones together; rank 0 is not ranked.

    Examples
    --------
    >>> ranked_items([2, 0, 1, 2], ("a", "b", "c", "d"))
    (('c',), ('a', 'd'))
    """
    ranked = sorted((int(rank), k) for k, rank in enumerate(ranks) if rank > 0)
    return tuple(
        tuple(items[k] for _, k in group) for _, group in groupby(ranked, key=lambda pair: pair[0])
    )


def ranks_of(groups: Any, items: Any) -> list[int]:
    """Rank of every item: 1 for the best group, 2 for the next; 0 is not ranked.

    Examples
    --------
    >>> ranks_of((("c",), ("a", "d")), ("a", "b", "c", "d"))
    [2, 0, 1, 2]
    """
    rank = {name: position for position, group in enumerate(groups, 1) for name in group}
    return [rank.get(item, 0) for item in items]


def _escaped(name: str, marks: str, outer: str = " ") -> str:
    r"""A name with backslashes before marks, and before a space at either end."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"a name in a cell is a text that is not empty; got {name!r}.")
    text = re.sub(rf"([\\{re.escape(marks)}])", r"\\\1", name)
    if outer and name[0] == outer:
        text = "\\" + text
    if outer and len(name) > 1 and name[-1] == outer:
        text = text[:-1] + "\\" + outer
    return text


def _pieces(text: str, marks: str, outer: str = " ") -> list[tuple[str, str]]:
    """Names and the mark before each, "" before the first."""
    if "\\" not in text and len(marks) == 1:  # the usual case, quickly
        return [(name.strip(outer) if outer else name, marks) for name in text.split(marks)]
    tokens = _tokens(text)
    pieces: list[tuple[str, str]] = []
    before = ""
    name: list[str] = []
    for token in tokens:
        if token in marks:
            pieces.append((_unescaped(name, outer, text), before))
            before, name = token, []
        else:
            name.append(token)
    return [*pieces, (_unescaped(name, outer, text), before)]


def _unescaped(tokens: list[str], outer: str, text: str) -> str:
    while outer and tokens and tokens[0] == outer:
        tokens = tokens[1:]
    while outer and tokens and tokens[-1] == outer:
        tokens = tokens[:-1]
    for token in tokens:
        if token[0] == "\\" and (len(token) == 1 or token[1] not in _ESCAPED):
            raise DataFormatError(
                f"a backslash in {text[:60]!r} stands before {token[1:]!r}; write \\\\ for the "
                "backslash itself"
            )
    return "".join(token[-1] for token in tokens)


def _groups(pieces: list[tuple[str, str]]) -> tuple[Any, ...]:
    groups: list[list[str]] = []
    for name, mark in pieces:
        if mark == "=":
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(tuple(group) for group in groups)


def _first_twice(names: list[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _check_distinct(names: list[str], what: str) -> None:
    twice = _first_twice(names)
    if twice is not None:
        raise ValueError(f"the {what} {twice!r} comes twice in one output.")


def _number(text: str) -> float:
    try:
        return float(text.replace("_", "?"))
    except ValueError:
        raise DataFormatError(f"{text[:60]!r} is not a number") from None
