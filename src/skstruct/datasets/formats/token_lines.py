# SPDX-License-Identifier: BSD-3-Clause
"""What files of tokens share: fields of lines, tags, and sentences as they came."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.files import stem
from skstruct.datasets.gaps import UNKNOWN, count_parts, gaps_remark, names_in
from skstruct.exceptions import DataFormatError

UPOS = 3  # the field of CoNLL-U in which "_" is no tag
_LIKE_UNKNOWN = re.compile(r"\\*\?")  # what stands for no tag, and names like it
_CONFIDENCE = re.compile(r"Conf=[^|]*")


@dataclass(frozen=True)
class SentenceLines:
    """Lines of a sentence as a file has them, so that it can be written again with other tags.

    Attributes
    ----------
    format : "conll" or "conllu"
    lines : list of str
        Comments and marks before it and empty lines behind it, too.
    words : list of int
        Which of the lines are tokens with a tag.
    separator : str
    columns : tuple of int
        Fields of a token that are inputs.
    tag : int or None
        The field of the tag; None where there is none yet.
    """

    format: str
    lines: list[str]
    words: list[int]
    separator: str
    columns: tuple[int, ...]
    tag: int | None

    def fields(self, line: int) -> list[str]:
        fields = [field.strip(" ") for field in self.lines[line].split(self.separator)]
        return [field for field in fields if field] if self.separator == " " else fields

    def holds(self, tokens: Any) -> bool:
        """Whether the tokens are still those of the file."""
        if len(tokens) != len(self.words):
            return False
        known = (self.fields(line) for line in self.words)
        return all(
            tuple(fields[j] for j in self.columns) == tuple(token)
            for fields, token in zip(known, tokens)
        )

    def text(self, tags: Sequence[str] | None, confidence: Sequence[str] | None = None) -> str:
        """The sentence with these tags, and with how sure they are: a last column in CoNLL, in
        CoNLL-U an entry of MISC.
        """
        lines = list(self.lines)
        for t, line in enumerate(self.words):
            fields = self.fields(line)
            if tags is not None:
                at = len(fields) if self.tag is None else self.tag
                fields[at : at + 1] = [tags[t]]
            if confidence is not None and self.format == "conllu":
                if self.tag == len(fields) - 1:
                    raise DataFormatError(
                        "MISC holds the tags, and has no room for how sure they are: leave "
                        "--marginals out, or write CSV"
                    )
                fields[-1] = noted(fields[-1], confidence[t])
            elif confidence is not None:
                fields.append(confidence[t])
            lines[line] = self.separator.join(fields)
        end = [""] if lines[-1].strip(" \t") else []  # of a last sentence without an empty line
        return "".join(f"{line}\n" for line in [*lines, *end])


def noted(misc: str, confidence: str) -> str:
    """A field MISC of CoNLL-U with a confidence, in place of one that was there.

    >>> noted("_", "0.93"), noted("SpaceAfter=No|Conf=0.1", "0.93")
    ('Conf=0.93', 'SpaceAfter=No|Conf=0.93')
    """
    kept = [part for part in misc.split("|") if part != "_" and not _CONFIDENCE.fullmatch(part)]
    return "|".join([*kept, f"Conf={confidence}"])


def layouts(
    format: str, lines: list[str], words: list[list[int]], separator: str,
    columns: tuple[int, ...], tag: int | None,
) -> list[SentenceLines]:  # fmt: skip
    """The lines of a file, shared out to its sentences; ``words`` are their tokens, from 0.

    Empty lines belong to the sentence before them, comments and marks to the one behind.
    """
    found, begin = [], 0
    for i, tokens in enumerate(words):
        end = tokens[-1] + 1
        while end < len(lines) and (not lines[end].strip(" \t") or i == len(words) - 1):
            end += 1
        inside = [line - begin for line in tokens]
        found.append(SentenceLines(format, lines[begin:end], inside, separator, columns, tag))
        begin = end
    return found


def as_it_came(
    dataset: Dataset, format: str, confidence: Sequence[Sequence[str]] | None
) -> str | None:
    """The text of a file of this format whose lines are known; None if it is to be made anew."""
    layout, outputs = dataset.layout, dataset.outputs
    sentences_read: Any = dataset.inputs
    if layout is None or any(lines.format != format for lines in layout):
        return None
    if not all(lines.holds(tokens) for lines, tokens in zip(layout, sentences_read)):
        return None
    sentences = []
    for i, lines in enumerate(layout):
        unknown = "_" if format == "conllu" and lines.tag == UPOS else UNKNOWN
        tags = None if outputs is None else [written_tag(tag, unknown) for tag in outputs[i]]
        if tags is not None and any(lines.separator in tag for tag in tags):
            return None
        sentences.append(lines.text(tags, None if confidence is None else confidence[i]))
    return "".join(sentences)


def not_empty(sentences: list[Any]) -> list[Any]:
    """Without the last one if it has no tokens; an error if no one has."""
    if not sentences[0]:
        raise DataFormatError("the file has no tokens")
    return sentences if sentences[-1] else sentences[:-1]


def split_fields(line: str, separator: str, width: int, number: int) -> list[str]:
    """The fields of a line, of which there are ``width``, or any number if that is 0."""
    fields = [field.strip(" ") for field in line.split(separator)]
    if separator == " ":
        fields = [field for field in fields if field]
    if len(fields) != (width or len(fields)):
        raise DataFormatError(f"expected {width} fields, got {len(fields)}", line=number)
    if "" in fields:
        raise DataFormatError("an empty field", line=number, column=fields.index("") + 1)
    return fields


def written_tag(tag: str | None, unknown: str = UNKNOWN) -> str:
    """A tag as it is written: a backslash before one that would be read as none."""
    if tag is None:
        return unknown
    return "\\" + tag if _LIKE_UNKNOWN.fullmatch(tag) else tag


def known_tag(field: str) -> str | None:
    r"""A tag, or None for a token that has none: ``?``; the tag of that name is ``\?``."""
    if field == UNKNOWN:
        return None
    return field[1:] if _LIKE_UNKNOWN.fullmatch(field) else field


def tagged(
    path: Path,
    inputs: list[Any],
    tags: list[Any],
    remarks: tuple[str, ...],
    layout: list[SentenceLines],
) -> Dataset:
    """The data set of sentences and their tags, some of which may be missing."""
    labels = tuple(sorted({name for sentence in tags for name in names_in(sentence)}))
    missing, total = count_parts("sequence", tags, 0)
    if total and missing == total:
        raise DataFormatError("no token has a tag: all are '?'; give no targets", path=path)
    if missing:
        remarks = (*remarks, gaps_remark(missing, total))
    return Dataset(
        stem(path), layout[0].format, "sequence", inputs, tags, labels, remarks=remarks,
        layout=layout,
    )  # fmt: skip
