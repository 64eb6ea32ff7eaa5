# SPDX-License-Identifier: BSD-3-Clause
"""Second readers of CoNLL, CoNLL-U, taxonomies and lists of labels, from the definitions.

Nothing of the library is used; see :mod:`oracle_readers`.
"""

from __future__ import annotations

import re
from typing import Any
from xml import sax

from oracle_readers import Refused, lines_of

Sentence = list[tuple[tuple[str, ...], Any]]  # inputs and tag of every token
_ID = re.compile("[0-9]+")
_OTHER_ID = re.compile("[0-9]+[-.][0-9]+")


def tag_of(text: str) -> str | None:
    r"""``?`` is no tag; ``\?`` is the tag of that name, ``\\?`` that of one with a backslash."""
    if text == "?":
        return None
    return text[1:] if re.fullmatch(r"\\+\?", text) else text


def read_tokens(data: bytes) -> list[Sentence]:
    """Sentences of CoNLL-U where the first token has ten fields and a number, else of CoNLL."""
    lines = lines_of(data)
    first = next((line for line in lines if line.strip() and line[0] != "#"), "").split("\t")
    is_conllu = len(first) == 10 and re.fullmatch("[0-9]+([-.][0-9]+)?", first[0])
    return read_conllu(data) if is_conllu else read_conll(data)


def read_conll(data: bytes) -> list[Sentence]:
    sentences: list[Sentence] = [[]]
    mark = width = None
    for line in lines_of(data):
        if line.strip(" \t").startswith("-DOCSTART-") or not line.strip(" \t"):
            sentences.append([])
            continue
        mark = mark or ("\t" if "\t" in line else " ")
        fields = [field.strip(" ") for field in line.split(mark)]
        fields = [field for field in fields if field] if mark == " " else fields
        width = width or len(fields)
        if len(fields) != width or width < 2 or "" in fields:
            raise Refused("fields")
        sentences[-1].append((tuple(fields[:-1]), tag_of(fields[-1])))
    return [sentence for sentence in sentences if sentence]


def read_conllu(data: bytes) -> list[Sentence]:
    """Words with their forms and UPOS; no comments, no contracted words, no empty nodes."""
    sentences: list[Sentence] = [[]]
    for line in lines_of(data):
        if not line.strip():
            sentences.append([])
            continue
        if line.startswith("#"):
            continue
        fields = [field.strip(" ") for field in line.split("\t")]
        if len(fields) != 10 or "" in fields:
            raise Refused("fields")
        if _ID.fullmatch(fields[0]):
            tag = None if fields[3] == "_" else tag_of(fields[3])
            sentences[-1].append(((fields[1],), tag))
        elif not _OTHER_ID.fullmatch(fields[0]):
            raise Refused("an ID")
    return [sentence for sentence in sentences if sentence]


def read_edges(data: bytes) -> list[tuple[str, str]]:
    """Pairs of parent and child, in order, none twice."""
    lines = [line for line in lines_of(data) if line.strip() and line[0] != "#"]
    mark = next((mark for mark in "\t," if lines and mark in lines[0]), None)
    pairs = []
    for line in lines:
        fields = [field.strip() for field in line.split(mark)]
        if len(fields) != 2 or not all(fields):
            raise Refused("fields")
        pairs.append((fields[0], fields[1]))
    below: dict[str, set[str]] = {}
    for parent, child in pairs:
        below.setdefault(parent, set()).add(child)
    for name in below:
        _no_circle(name, below)
    return list(dict.fromkeys(pairs))


def _no_circle(name: str, below: dict[str, set[str]]) -> None:
    reached, todo = set(), [name]
    while todo:
        for child in below.get(todo.pop(), ()):
            if child == name:
                raise Refused("a circle")
            if child not in reached:
                reached.add(child)
                todo.append(child)


def read_label_list(data: bytes) -> tuple[list[str], list[tuple[str, str]]]:
    """Labels in the order of the list, and pairs of those that lie within each other."""
    handler = _Labels()
    try:
        sax.parseString(_in_utf8("\n".join(lines_of(data))), handler)
    except sax.SAXException:
        raise Refused("no XML") from None
    return list(handler.names), list(handler.pairs)


UTF_8 = ("utf-8", "utf8", "utf", "u8")  # the last two by Python alone


def _in_utf8(text: str) -> bytes:
    """ASCII is the same in any encoding; other text has to be declared as UTF-8, or not at all."""
    said = re.match(r"""<\?xml[^>]*?\s(encoding\s*=\s*(['"])([A-Za-z0-9._-]+)\2)""", text)
    if said is None:
        return text.encode()
    if not text.isascii() and said[3].lower().replace("_", "-").rstrip("-") not in UTF_8:
        raise Refused("another encoding")
    return (text[: said.start(1)] + 'encoding="utf-8"' + text[said.end(1) :]).encode()


class _Labels(sax.ContentHandler):
    """Labels by their names; what lies between is no label, and no level either."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}
        self.pairs: dict[tuple[str, str], None] = {}
        self.above: list[str | None] = [None]

    def startElement(self, tag: str, attributes: Any) -> None:
        parent = name = self.above[-1]
        if tag.split(":")[-1] == "label":
            name = attributes.get("name")
            if not name:
                raise Refused("no name")
            self.names[name] = None
            if parent is not None:
                self.pairs[parent, name] = None
        self.above.append(name)

    def endElement(self, tag: str) -> None:
        self.above.pop()
