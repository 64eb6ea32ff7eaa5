# SPDX-License-Identifier: BSD-3-Clause
"""LIBSVM files: on each line labels, then ``index:value`` pairs that count from 1."""

from __future__ import annotations

import math
import re

import numpy as np
from scipy import sparse

from skstruct._arrays.sparse_rows import narrow_indices
from skstruct.datasets.text_lines import text_blocks
from skstruct.exceptions import DataFormatError

COMPILED_FROM = 1 << 18  # characters of a block; fewer are read before a compiler is loaded
_PAIR = re.compile(r"([0-9]+):([0-9.+-][0-9.+eE-]*)")
_QUERY = re.compile(r" *qid:([0-9]+)(?= |$)")
_NUMBER_LIKE = re.compile(r"[0-9.+-][0-9.+eE-]*|[+-]?(nan|inf|infinity)", re.IGNORECASE)


def read_svm(path, n_features: int | None = None, queries: list[str] | None = None):
    """Read a LIBSVM file, of several labels per line, of one, or of none.

    Parameters
    ----------
    path : str or path
    n_features : int, default=None
        Least number of columns; a larger index adds columns.
    queries : list, default=None
        Gets the ``qid:`` of every row that has one; otherwise they are left out.

    Returns
    -------
    X : csr_array of shape (n_rows, n_columns)
        Column j holds the index j + 1.
    labels : list of tuples of str
        Whole numbers without sign "+", leading zeros or ".0"; other numbers by repr; names as
        they are.

    Raises
    ------
    DataFormatError
        Tells line and column, which counts the fields between spaces.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "few.svm"
    ...     _ = path.write_text("1,3 1:0.5 4:-2\\n 2:1  # no label\\n+1\\n")
    ...     X, labels = read_svm(path)
    >>> X.toarray()
    array([[ 0.5,  0. ,  0. , -2. ],
           [ 0. ,  1. ,  0. ,  0. ],
           [ 0. ,  0. ,  0. ,  0. ]])
    >>> labels
    [('1', '3'), (), ('1',)]
    """
    parts: tuple[list, list, list] = [], [], []  # indices, values, numbers of pairs
    labels: list[tuple[str, ...]] = []
    known: dict[str, tuple[str, ...]] = {"": ()}
    try:
        for start, lines in text_blocks(path):
            numbers, heads, tails = _split(start, lines)
            tails = _without_queries(tails, [] if queries is None else queries)
            labels += [_labels(head, known, number) for head, number in zip(heads, numbers)]
            for part, found in zip(parts, _pairs(tails, numbers, heads)):
                part.append(found)
    except DataFormatError as error:
        raise error.at(path=path) from None
    indices, values, counts = parts
    columns = np.concatenate([np.empty(0, dtype=np.int64), *indices]) - 1
    ends = np.cumsum(np.concatenate([[0], *counts]))
    shape = (len(labels), max(n_features or 0, int(columns.max(initial=-1)) + 1))
    data = (np.concatenate([np.empty(0), *values]), columns, ends)
    X = narrow_indices(sparse.csr_array(data, shape=shape))
    X.eliminate_zeros()
    return X, labels


def _split(start, lines):
    """Numbers of the lines that hold something, their labels and their pairs."""
    numbers, heads, tails = [], [], []
    for number, line in enumerate(lines, start):
        if "#" in line:
            line = line.partition("#")[0]
        if "\t" in line:
            line = line.replace("\t", " ")
        line = line.rstrip(" ")
        if not line:
            continue
        head, _, tail = line.partition(" ")
        if ":" in head:  # no label, and no space that says so
            head, tail = "", line
        numbers.append(number)
        heads.append(head)
        tails.append(tail)
    return numbers, heads, tails


def _without_queries(tails, queries):
    """The pairs without ``qid:7`` before them, the query that a row of a ranking belongs to.

    Where it is no number it stays, to be refused with its place.
    """
    found = [_QUERY.match(tail) if "qid:" in tail else None for tail in tails]
    queries += [match[1] for match in found if match]
    return [tail[match.end() :] if match else tail for tail, match in zip(tails, found)]


def _labels(head, known, number):
    if head not in known:
        try:
            names = tuple(_label(name) for name in head.split(","))
            if len(set(names)) < len(names):
                raise ValueError(f"a label comes twice in {head[:40]!r}")
        except ValueError as error:
            raise DataFormatError(str(error), line=number, column=1) from None
        known[head] = names
    return known[head]


def _label(name: str) -> str:
    if not name:
        raise ValueError("a label between two commas is empty")
    if not _NUMBER_LIKE.fullmatch(name):
        return name
    try:
        value = float(name)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"the label {name[:40]!r} is not a number")
    return f"{value:.0f}" if value.is_integer() and abs(value) < 2**53 else repr(value)


def _pairs(tails, numbers, heads):
    """Indices and values of all rows in a row, and how many pairs each of them has."""
    n = len(tails)
    fine, counts = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
    indices, values = np.empty(0, dtype=np.int64), np.empty(0)
    if sum(map(len, tails)) >= COMPILED_FROM:
        from skstruct.datasets._compiled_svm import read_svm_rows

        text = ("\n".join(tails) + "\n").encode()
        size = text.count(b":")
        indices, values, last = np.empty(size, np.int64), np.empty(size), np.empty(n, np.int64)
        view = np.frombuffer(text, dtype=np.uint8)
        size = read_svm_rows(view, indices, values, last, fine)
        indices, values, counts = indices[:size], values[:size], np.diff(last, prepend=0)
    odd = {i: _read_pairs(tails[i], numbers[i], heads[i] != "") for i in np.flatnonzero(~fine)}
    if odd:
        starts = np.cumsum(counts)  # where the pairs of odd rows, of which none are there, belong
        at = np.concatenate([np.full(len(pairs), starts[i]) for i, pairs in odd.items()])
        more = [pair for pairs in odd.values() for pair in pairs]
        indices = np.insert(indices, at.astype(int), [index for index, _ in more])
        values = np.insert(values, at.astype(int), [value for _, value in more])
        counts[list(odd)] = [len(pairs) for pairs in odd.values()]
    return indices, values, counts


def _read_pairs(tail, number, has_label):
    """Pairs of one row: the judge of what a row may hold."""
    pairs: list[tuple[int, float]] = []
    for column, field in enumerate(tail.split(" "), 1 + has_label):
        if not field:
            continue
        try:
            pairs.append(_pair(field, pairs[-1][0] if pairs else 0))
        except ValueError as error:
            raise DataFormatError(str(error), line=number, column=column) from None
    return pairs


def _pair(field, before):
    if field.startswith("qid:"):
        raise ValueError(f"expected 'qid:number' once, after the label, got {field[:40]!r}")
    found = _PAIR.fullmatch(field)
    if found is None:
        raise ValueError(f"expected 'index:value', got {field[:40]!r}")
    if len(found[1]) > 9 or int(found[1]) == 0:
        raise ValueError(
            f"an index is from 1 to 999999999, got {found[1][:40]}; scikit-learn writes such files "
            "with zero_based=False"
        )
    if int(found[1]) <= before:
        raise ValueError(f"indices rise; got {found[1]} after {before}")
    try:
        value = float(found[2])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{found[2][:40]!r} is not a finite number")
    return int(found[1]), value
