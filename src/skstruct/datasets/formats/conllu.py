# SPDX-License-Identifier: BSD-3-Clause
"""CoNLL-U of Universal Dependencies: ten columns by tabs, with comments before a sentence.

See https://universaldependencies.org/format.html.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import read_lines, stem
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.token_lines import (
    UPOS,
    as_it_came,
    known_tag,
    layouts,
    not_empty,
    noted,
    split_fields,
    tagged,
    written_tag,
)
from skstruct.exceptions import DataFormatError

CONLLU_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_CONLLU_ID = re.compile(r"[0-9]+([-.][0-9]+)?")


def is_conllu(lines: list[str]) -> bool:
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
    return len(fields) == len(CONLLU_COLUMNS) and _CONLLU_ID.fullmatch(fields[0]) is not None


def read_conllu(path: Path, options: ReadOptions) -> Dataset:
    """Sentences of words with one tag each.

    The tag is UPOS, or the column that ``options.targets`` names or numbers. Inputs are the
    forms, and UPOS as well where a column to the right of XPOS is the tag: the others are
    annotations that new text has not. UPOS ``_`` is a tag that is not known. Comments, words that
    are contracted from several (``1-2``), and empty nodes (``1.1``), which are not in the text, are
    no tokens; they are kept with the lines of the file, and :func:`write_conllu` has them again.

    Raises
    ------
    DataFormatError
        Tells the line.
    """
    path = text_path(path)
    try:
        lines = read_lines(path)
        sentences, at, n_contracted, n_empty = _sentences(lines)
        tag = _tag_column(options)
    except DataFormatError as error:
        raise error.at(path=path) from None
    remarks = []
    if n_contracted or n_empty:
        remarks.append(
            f"{_some(n_contracted, 'multi-word token')} (1-2) and {_some(n_empty, 'empty node')} "
            "(1.1) are left out: words have tags."
        )
    known = (
        [1]
        if tag is None or tag <= CONLLU_COLUMNS.index("XPOS")
        else [1, CONLLU_COLUMNS.index("UPOS")]
    )
    inputs = [[tuple(word[j] for j in known) for word in words] for words in sentences]
    names = " and ".join(CONLLU_COLUMNS[j] for j in known)
    place = UPOS if tag is None else tag  # of tags that are written
    layout = layouts("conllu", lines, at, "\t", tuple(known), place)
    if tag is None:
        remarks.append("The file is read without outputs.")
        about: dict[str, Any] = {"remarks": tuple(remarks), "layout": layout}
        return Dataset(stem(path), "conllu", "sequence", inputs, **about)
    remarks.append(
        f"The file is CoNLL-U: {CONLLU_COLUMNS[tag]} (column {tag + 1} of 10) is the tag, the "
        f"inputs are {names}."
    )
    tags = [
        tuple(None if tag == UPOS and word[tag] == "_" else known_tag(word[tag]) for word in words)
        for words in sentences
    ]
    return tagged(path, inputs, tags, tuple(remarks), layout)


def _some(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _sentences(lines: list[str]) -> tuple[list[list[Any]], list[list[int]], int, int]:
    """Lists of words, each of ten fields, the lines of these, and how many contracted and empty
    ones there were.
    """
    sentences: list[list[list[str]]] = [[]]
    at: list[list[int]] = [[]]
    n_contracted = n_empty = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            at += [[]] if sentences[-1] else []
            sentences += [[]] if sentences[-1] else []
            continue
        if line[0] == "#":
            continue
        fields = split_fields(line, "\t", len(CONLLU_COLUMNS), number)
        kind = _CONLLU_ID.fullmatch(fields[0])
        if kind is None:
            problem = f"an ID is 1, 1-2 or 1.1, got {fields[0][:60]!r}"
            raise DataFormatError(problem, line=number, column=1)
        if kind[1]:
            n_contracted += kind[1][0] == "-"
            n_empty += kind[1][0] == "."
            continue
        sentences[-1].append(fields)
        at[-1].append(number - 1)
    return not_empty(sentences), not_empty(at), n_contracted, n_empty


def _tag_column(options: ReadOptions) -> int | None:
    """Position of the tag, or None."""
    if options.targets is None:
        return CONLLU_COLUMNS.index("UPOS")
    if not options.targets:
        return None
    known = {**{name: j for j, name in enumerate(CONLLU_COLUMNS)},
             **{str(j + 1): j for j in range(len(CONLLU_COLUMNS))}}  # fmt: skip
    tag = known.get(options.targets[0].upper())
    if len(options.targets) != 1 or tag is None or tag < 2:
        raise DataFormatError(
            f"targets is one of {', '.join(CONLLU_COLUMNS[2:])}, by name or number 3 to 10, "
            f"got {', '.join(map(str, options.targets))[:60]!r}"
        )
    return tag


def write_conllu(
    dataset: Dataset, file: Any, confidence: Sequence[Sequence[str]] | None = None
) -> None:
    """Write tags into the column that they were read from, everything else as it came.

    Words of other formats get numbers, their first column is FORM, and the tag is UPOS.

    Parameters
    ----------
    confidence : sequence of sequences of str, default=None
        How sure the tags are, for ``Conf=0.93`` in MISC.
    """
    if not isinstance(dataset.inputs, list) or dataset.task != "sequence":
        raise DataFormatError("conllu files hold sequences of words")
    text = as_it_came(dataset, "conllu", confidence)
    if text is not None:
        file.write(text)
        return
    for i, tokens in enumerate(dataset.inputs):
        file.write(_made_sentence(dataset, i, tokens, confidence) + "\n")


def _made_sentence(dataset: Dataset, i: int, tokens: Any, confidence: Any) -> str:
    if not isinstance(tokens, (list, tuple)) or not tokens:
        raise DataFormatError(f"sequence {i + 1} has no words; numbers are written as letters")
    tags = dataset.outputs[i] if dataset.outputs is not None else [None] * len(tokens)
    lines = []
    for t, (token, tag) in enumerate(zip(tokens, tags, strict=True)):
        form = "_" * len(CONLLU_COLUMNS)
        fields = [str(t + 1), token[0], *form[2:]]
        fields[UPOS] = written_tag(tag, "_")
        if confidence is not None:
            fields[-1] = noted("_", confidence[i][t])
        if any(not field.strip(" ") or re.search("[\t\r\n]", field) for field in fields):
            raise DataFormatError(
                f"sequence {i + 1}, position {t + 1}: a field is empty or holds a tab or line end"
            )
        lines.append("\t".join(fields) + "\n")
    return "".join(lines)


def sniff(file_name: str, lines: list[str]) -> bool:
    """By the ending, or ten columns of which the first one counts."""
    ending = file_name.lower()
    if ending.endswith((".conll", ".iob", ".bio", ".csv", ".tsv")):
        return not ending.endswith((".csv", ".tsv")) and is_conllu(lines)
    return ending.endswith(".conllu") or is_conllu(lines)


FORMAT = Format(
    name="conllu",
    suffixes=(".conllu",),
    tasks=("sequence",),
    about="CoNLL-U: ten columns by tabs, UPOS or another column as the tag",
    sniff=sniff,
    read=read_conllu,
    write=write_conllu,
)
