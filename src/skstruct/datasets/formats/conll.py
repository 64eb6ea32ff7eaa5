# SPDX-License-Identifier: BSD-3-Clause
"""CoNLL's files, a token per line in columns, and CoNLL-U of Universal Dependencies.

See https://universaldependencies.org/format.html.
"""

import re
from pathlib import Path
from typing import Any

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.files import read_lines, stem
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.gaps import UNKNOWN, count_parts, gaps_remark, names_in
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


def read_conllu(path: Path, lines: list[str], options: ReadOptions) -> Dataset:
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
        sentences, n_contracted, n_empty = _conllu_sentences(lines)
        tag = _conllu_tag_column(options)
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
    if tag is None:
        remarks.append("The file is read without outputs.")
        return Dataset(stem(path), "conll", "sequence", inputs, remarks=tuple(remarks))
    remarks.append(
        f"The file is CoNLL-U: {CONLLU_COLUMNS[tag]} (column {tag + 1} of 10) is the tag, the "
        f"inputs are {names}."
    )
    tags = [tuple(known_tag(word[tag]) for word in words) for words in sentences]
    return tagged(path, inputs, tags, tuple(remarks))


def _some(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _conllu_sentences(lines: list[str]) -> tuple[list[list[Any]], int, int]:
    """Lists of words, each of ten fields, and how many contracted and empty ones there were."""
    sentences: list[list[list[str]]] = [[]]
    n_contracted = n_empty = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            sentences += [[]] if sentences[-1] else []
            continue
        if line[0] == "#":
            continue
        fields = _fields(line, "\t", len(CONLLU_COLUMNS), number)
        kind = _CONLLU_ID.fullmatch(fields[0])
        if kind is None:
            problem = f"an ID is 1, 1-2 or 1.1, got {fields[0][:60]!r}"
            raise DataFormatError(problem, line=number, column=1)
        if kind[1]:
            n_contracted += kind[1][0] == "-"
            n_empty += kind[1][0] == "."
            continue
        sentences[-1].append(fields)
    return _not_empty(sentences), n_contracted, n_empty


def _not_empty(sentences: list[Any]) -> list[Any]:
    """Without the last one if it has no tokens; an error if no one has."""
    if not sentences[0]:
        raise DataFormatError("the file has no tokens")
    return sentences if sentences[-1] else sentences[:-1]


def _fields(line: str, separator: str, width: int, number: int) -> list[str]:
    """The fields of a line, of which there are ``width``, or any number if that is 0."""
    fields = [field.strip(" ") for field in line.split(separator)]
    if separator == " ":
        fields = [field for field in fields if field]
    if len(fields) != (width or len(fields)):
        raise DataFormatError(f"expected {width} fields, got {len(fields)}", line=number)
    if "" in fields:
        raise DataFormatError("an empty field", line=number, column=fields.index("") + 1)
    return fields


def _conllu_tag_column(options: ReadOptions) -> int | None:
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


# A token per line, in columns, and an empty line after each sentence: CoNLL's files.


DOCUMENT = "-DOCSTART-"  # such a line begins a document and is no token
_LIKE_UNKNOWN = re.compile(r"\\*\?")  # what stands for no tag, and names like it
_TAG = re.compile(r"O|[BIESLUM]-.+")
_BLANK = " \t"


def read_conll(path: Path, options: ReadOptions) -> Dataset:
    """Read sentences.

    Columns are separated by a tab if the first token line has one, else by spaces, and are
    called ``1``, ``2``, ... The last one is the tag, or the one that ``options.targets`` names;
    ``targets=()`` says that there is none, as in a file to predict. All lines have the same
    number of columns. Lines that begin by ``-DOCSTART-`` are skipped. A file of CoNLL-U, ten
    columns by tabs of which the first one counts, is read by
    :func:`~skstruct.datasets.formats.conll.read_conllu`.

    Raises
    ------
    DataFormatError
        Tells the line.
    """
    path = Path(path)
    lines = read_lines(path)
    if is_conllu(lines):
        return read_conllu(path, lines, options)
    try:
        sentences, n_columns = _sentences(lines)
        tag = _tag_column(n_columns, options)
    except DataFormatError as error:
        raise error.at(path=path) from None
    if tag is None:
        remarks = ("The file is read without outputs.",)
        return Dataset(stem(path), "conll", "sequence", sentences, remarks=remarks)
    remarks = (f"Column {tag + 1} of {n_columns} is the tag.",)
    tags = [tuple(known_tag(token[tag]) for token in sentence) for sentence in sentences]
    inputs = [[token[:tag] + token[tag + 1 :] for token in sentence] for sentence in sentences]
    return tagged(path, inputs, tags, remarks)


def _sentences(lines: list[str]) -> tuple[list[list[Any]], int]:
    """Lists of tuples of fields, and how many fields a token has."""
    sentences: list[list[tuple[str, ...]]] = [[]]
    separator, width = " ", 0
    for number, line in enumerate(lines, 1):
        if not line.strip(_BLANK) or line.startswith(DOCUMENT):
            sentences += [[]] if sentences[-1] else []
            continue
        if not width:
            separator = "\t" if "\t" in line else " "
        fields = _fields(line, separator, width, number)
        width = len(fields)
        sentences[-1].append(tuple(fields))
    return _not_empty(sentences), width


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


def write_conll(dataset: Dataset, file: Any) -> None:
    """Write tokens with the tag last, separated by spaces, or tabs where fields hold spaces."""
    if not isinstance(dataset.inputs, list) or dataset.task != "sequence":
        raise DataFormatError("conll files hold sequences of words")
    rows = [_rows(dataset, tokens, i) for i, tokens in enumerate(dataset.inputs)]
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
    for sentence in rows:
        file.write("".join(separator.join(fields) + "\n" for fields in sentence) + "\n")


def _rows(dataset: Dataset, tokens: Any, i: int) -> list[Any]:
    """Fields of every token of a sentence, the tag last."""
    if not isinstance(tokens, (list, tuple)) or not tokens:
        raise DataFormatError(f"sequence {i + 1} has no words; numbers are written as letters")
    if dataset.outputs is None:
        return [tuple(token) for token in tokens]
    tags = dataset.outputs[i]
    if len(tags) != len(tokens):
        raise DataFormatError(f"sequence {i + 1} has {len(tokens)} tokens and {len(tags)} tags")
    return [(*token, _field(tag)) for token, tag in zip(tokens, tags)]


def _field(tag: str | None) -> str:
    """A tag as it is written: a backslash before one that would be read as none."""
    if tag is None:
        return UNKNOWN
    return "\\" + tag if _LIKE_UNKNOWN.fullmatch(tag) else tag


def known_tag(field: str) -> str | None:
    r"""A tag, or None for a token that has none: ``?``; the tag of that name is ``\?``."""
    if field == UNKNOWN:
        return None
    return field[1:] if _LIKE_UNKNOWN.fullmatch(field) else field


def tagged(path: Path, inputs: list[Any], tags: list[Any], remarks: tuple[str, ...]) -> Dataset:
    """The data set of sentences and their tags, some of which may be missing."""
    labels = tuple(sorted({name for sentence in tags for name in names_in(sentence)}))
    missing, total = count_parts("sequence", tags, 0)
    if total and missing == total:
        raise DataFormatError("no token has a tag: all are '?'; give no targets", path=path)
    if missing:
        remarks = (*remarks, gaps_remark(missing, total))
    return Dataset(stem(path), "conll", "sequence", inputs, tags, labels, remarks=remarks)


def sniff(file_name: str, lines: list[str]) -> bool:
    """By the ending, or columns of one width with sentences apart or tags as of chunks."""
    ending = file_name.lower()
    if ending.endswith((".conll", ".conllu", ".iob", ".bio", ".csv")):
        return not ending.endswith(".csv")
    if is_conllu(lines):
        return True
    tokens = [line.split() for line in lines if line.strip() and not line.startswith(DOCUMENT)]
    if len({len(fields) for fields in tokens}) != 1 or len(tokens[0]) < 2:
        return False
    apart = any(not line.strip() for line in lines[:-1])
    tagged = all(_TAG.fullmatch(fields[-1]) for fields in tokens)
    return tagged or apart


FORMAT = Format(
    name="conll",
    suffixes=(".conll", ".iob", ".bio", ".txt"),
    tasks=("sequence",),
    about="a token per line in columns, the tag last, an empty line after each sentence; CoNLL-U",
    sniff=sniff,
    read=read_conll,
    write=write_conll,
)
