# SPDX-License-Identifier: BSD-3-Clause
"""CoNLL-U, the files of Universal Dependencies: ten columns, comments, and nodes that are no words.

See https://universaldependencies.org/format.html.
"""

from __future__ import annotations

import re

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.text import stem
from skstruct.exceptions import DataFormatError

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")


def is_conllu(lines) -> bool:
    """Whether the first line that is no comment has ten fields, of which the first one counts.

    Examples
    --------
    >>> is_conllu(["# sent_id = 1", "1\\tGo\\tgo\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_"])
    True
    >>> is_conllu(["# # B-NP"])
    False
    """
    first = next((line for line in lines if line.strip() and line[0] != "#"), "")
    fields = first.split("\t")
    return len(fields) == len(COLUMNS) and _ID.fullmatch(fields[0]) is not None


def read_conllu(path, lines, options: ReadOptions) -> Dataset:
    """Sentences of words with one tag each.

    The tag is UPOS, or the column that ``options.targets`` names or numbers. Inputs are the
    forms, and UPOS as well where a column to the right of XPOS is the tag: the others are
    annotations that new text has not. Comments, words that are contracted from several
    (``1-2``), and empty nodes (``1.1``), which are not in the text, are left out.

    Raises
    ------
    DataFormatError
        Tells the line.
    """
    try:
        sentences, n_contracted, n_empty = _sentences(lines)
        tag = _tag_column(options)
    except DataFormatError as error:
        raise error.at(path=path) from None
    remarks = []
    if n_contracted or n_empty:
        remarks.append(
            f"{_some(n_contracted, 'multi-word token')} (1-2) and {_some(n_empty, 'empty node')} "
            "(1.1) are left out: words have tags."
        )
    known = [1] if tag is None or tag <= COLUMNS.index("XPOS") else [1, COLUMNS.index("UPOS")]
    inputs = [[tuple(word[j] for j in known) for word in words] for words in sentences]
    names = " and ".join(COLUMNS[j] for j in known)
    if tag is None:
        remarks.append("The file is read without outputs.")
        return Dataset(stem(path), "conll", "sequence", inputs, remarks=tuple(remarks))
    remarks.append(
        f"The file is CoNLL-U: {COLUMNS[tag]} (column {tag + 1} of 10) is the tag, the inputs are "
        f"{names}."
    )
    tags = [tuple(word[tag] for word in words) for words in sentences]
    labels = tuple(sorted({name for sentence in tags for name in sentence}))
    return Dataset(stem(path), "conll", "sequence", inputs, tags, labels, remarks=tuple(remarks))


def _some(n, what):
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _sentences(lines):
    """Lists of words, each of ten fields, and how many contracted and empty ones there were."""
    sentences: list[list[list[str]]] = []
    inside, n_contracted, n_empty = False, 0, 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            inside = False
            continue
        if line[0] == "#":
            continue
        fields = [field.strip(" ") for field in line.split("\t")]
        if len(fields) != len(COLUMNS):
            raise DataFormatError(f"expected {len(COLUMNS)} fields, got {len(fields)}", line=number)
        if "" in fields:
            raise DataFormatError("an empty field", line=number, column=fields.index("") + 1)
        kind = _ID.fullmatch(fields[0])
        if kind is None:
            problem = f"an ID is 1, 1-2 or 1.1, got {fields[0][:60]!r}"
            raise DataFormatError(problem, line=number, column=1)
        if kind[1]:
            n_contracted += kind[1][0] == "-"
            n_empty += kind[1][0] == "."
            continue
        if not inside:
            sentences.append([])
            inside = True
        sentences[-1].append(fields)
    if not sentences:
        raise DataFormatError("the file has no tokens")
    return sentences, n_contracted, n_empty


def _tag_column(options):
    """Position of the tag, or None."""
    if options.targets is None:
        return COLUMNS.index("UPOS")
    if not options.targets:
        return None
    known = {**{name: j for j, name in enumerate(COLUMNS)},
             **{str(j + 1): j for j in range(len(COLUMNS))}}  # fmt: skip
    tag = known.get(options.targets[0].upper())
    if len(options.targets) != 1 or tag is None or tag < 2:
        raise DataFormatError(
            f"targets is one of {', '.join(COLUMNS[2:])}, by its name or its number 3 to 10, got "
            f"{', '.join(map(str, options.targets))[:60]!r}"
        )
    return tag
