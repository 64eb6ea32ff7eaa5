# SPDX-License-Identifier: BSD-3-Clause
"""CoNLL's files: a token per line, in columns, and an empty line after each sentence."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import first_lines, read_lines, stem
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.conllu import is_conllu, read_conllu
from skstruct.datasets.formats.token_lines import (
    as_it_came,
    known_tag,
    layouts,
    not_empty,
    split_fields,
    tagged,
    written_tag,
)
from skstruct.exceptions import DataFormatError

DOCUMENT = "-DOCSTART-"  # such a line begins a document and is no token
_TAG = re.compile(r"O|[BIESLUM]-.+")
_BLANK = " \t"
_BEGINNING = 2**20  # characters of a text in which its first token is


def read_conll(path: Path, options: ReadOptions) -> Dataset:
    """Read sentences.

    Columns are separated by a tab if the first token line has one, else by spaces, and are
    called ``1``, ``2``, ... The last one is the tag, or the one that ``options.targets`` names;
    ``targets=()`` says that there is none, as in a file to predict. All lines have the same
    number of columns. Lines that begin by ``-DOCSTART-`` are skipped. A file of CoNLL-U, ten
    columns by tabs of which the first one counts, is read by
    :func:`~skstruct.datasets.formats.conllu.read_conllu`.

    Raises
    ------
    DataFormatError
        Tells the line.
    """
    path = text_path(path)
    if is_conllu(first_lines(path, 10_000)):
        return read_conllu(path, options)
    try:
        lines = read_lines(path)
        sentences, at, separator = _sentences(lines)
        n_columns = len(sentences[0][0])
        tag = _tag_column(n_columns, options)
    except DataFormatError as error:
        raise error.at(path=path) from None
    columns = tuple(j for j in range(n_columns) if j != tag)
    layout = layouts("conll", lines, at, separator, columns, tag)
    if tag is None:
        remarks = ("The file is read without outputs.",)
        about: dict[str, Any] = {"remarks": remarks, "layout": layout}
        return Dataset(stem(path), "conll", "sequence", sentences, **about)
    remarks = (f"Column {tag + 1} of {n_columns} is the tag.",)
    tags = [tuple(known_tag(token[tag]) for token in sentence) for sentence in sentences]
    inputs = [[token[:tag] + token[tag + 1 :] for token in sentence] for sentence in sentences]
    return tagged(path, inputs, tags, remarks, layout)


def _sentences(lines: list[str]) -> tuple[list[list[Any]], list[list[int]], str]:
    """Lists of tuples of fields, the lines of these, and what separates fields."""
    sentences: list[list[tuple[str, ...]]] = [[]]
    at: list[list[int]] = [[]]
    separator, width = " ", 0
    for number, line in enumerate(lines, 1):
        told = line.strip(_BLANK)
        if not told or told.startswith(DOCUMENT):
            at += [[]] if sentences[-1] else []
            sentences += [[]] if sentences[-1] else []
            continue
        if not width:
            separator = "\t" if "\t" in line else " "
        fields = split_fields(line, separator, width, number)
        width = len(fields)
        sentences[-1].append(tuple(fields))
        at[-1].append(number - 1)
    return not_empty(sentences), not_empty(at), separator


def _tag_column(n_columns: int, options: ReadOptions) -> int | None:
    """Position of the tag, or None."""
    targets = options.targets
    if targets is not None and not targets:
        return None
    if n_columns < 2:
        raise DataFormatError(
            "a token has one field only, so that there is no tag; for a file without tags give "
            "no targets"
        )
    if targets is None:
        return n_columns - 1
    if len(targets) != 1 or targets[0] not in map(str, range(1, n_columns + 1)):
        raise DataFormatError(
            f"targets is the number of the column of tags, 1 to {n_columns}, got "
            f"{', '.join(map(str, targets))[:60]!r}"
        )
    return int(targets[0]) - 1


def write_conll(
    dataset: Dataset, file: Any, confidence: Sequence[Sequence[str]] | None = None
) -> None:
    """Write tokens with their tags, separated by spaces, or tabs where fields hold spaces.

    Sentences that were read from such a file have their tags where they were, and its separators
    and marks; others have the tag last.

    Parameters
    ----------
    confidence : sequence of sequences of str, default=None
        How sure the tags are, for one more column at the end.
    """
    if not isinstance(dataset.inputs, list) or dataset.task != "sequence":
        raise DataFormatError("conll files hold sequences of words")
    text = as_it_came(dataset, "conll", confidence)
    if text is None:
        text = _made_anew(dataset, confidence)
    if text.startswith("\ufeff"):
        raise DataFormatError("the first token begins by a byte order mark, which readers take off")
    if is_conllu(text[:_BEGINNING].split("\n")):
        raise DataFormatError(
            "ten columns by tabs of which the first one is a number would be read as CoNLL-U; "
            "write CSV"
        )
    file.write(text)


def _made_anew(dataset: Dataset, confidence: Sequence[Sequence[str]] | None) -> str:
    """The text of sentences of which no file is known, the tags last."""
    sentences: Any = dataset.inputs
    rows = [_rows(dataset, tokens, i) for i, tokens in enumerate(sentences)]
    if confidence is not None:
        rows = [[(*fields, sure) for fields, sure in zip(*pair)] for pair in zip(rows, confidence)]
    width = {len(fields) for sentence in rows for fields in sentence}
    if len(width) > 1:
        raise DataFormatError(f"tokens have {min(width)} to {max(width)} fields, not all the same")
    fields = {field for sentence in rows for fields in sentence for field in fields}
    for field in fields:
        if not field or field != field.strip(" ") or any(mark in field for mark in "\t\r\n"):
            raise DataFormatError(
                f"the field {field[:60]!r} is empty, holds a tab or line end, or spaces around it"
            )
    if any(fields[0].startswith(DOCUMENT) for sentence in rows for fields in sentence):
        raise DataFormatError(f"a token begins by {DOCUMENT}, which is a mark and no token")
    separator = "\t" if any(" " in field for field in fields) else " "
    if separator == "\t" and width == {1}:
        raise DataFormatError("fields with spaces need a second column")
    lines = [[separator.join(fields) + "\n" for fields in sentence] for sentence in rows]
    return "".join("".join(sentence) + "\n" for sentence in lines)


def _rows(dataset: Dataset, tokens: Any, i: int) -> list[Any]:
    """Fields of every token of a sentence, the tag last."""
    if not isinstance(tokens, (list, tuple)) or not tokens:
        raise DataFormatError(f"sequence {i + 1} has no words; numbers are written as letters")
    if dataset.outputs is None:
        return [tuple(token) for token in tokens]
    tags = dataset.outputs[i]
    if len(tags) != len(tokens):
        raise DataFormatError(f"sequence {i + 1} has {len(tokens)} tokens and {len(tags)} tags")
    return [(*token, written_tag(tag)) for token, tag in zip(tokens, tags)]


def sniff(file_name: str, lines: list[str]) -> bool:
    """By the ending, or columns of one width with sentences apart or tags as of chunks."""
    ending = file_name.lower()
    if ending.endswith((".conll", ".iob", ".bio", ".csv")):
        return not ending.endswith(".csv")
    told = [line.strip() for line in lines]
    tokens = [line.split() for line in told if line and not line.startswith(DOCUMENT)]
    if len({len(fields) for fields in tokens}) != 1 or len(tokens[0]) < 2:
        return False
    apart = any(not line.strip() for line in lines[:-1])
    tagged = all(_TAG.fullmatch(fields[-1]) for fields in tokens)
    return tagged or apart


FORMAT = Format(
    name="conll",
    suffixes=(".conll", ".iob", ".bio", ".txt"),
    tasks=("sequence",),
    about="a token per line in columns, the tag last, an empty line after each sentence",
    sniff=sniff,
    read=read_conll,
    write=write_conll,
)
