# SPDX-License-Identifier: BSD-3-Clause
"""ARFF files of Weka, MEKA, MULAN and CLUS to be broken, and lists of labels in XML."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from file_format import FileFormat
from memory_files import held, put
from same_data import difference, must_agree, written

from skstruct.datasets import files
from skstruct.datasets.formats.arff import attributes, dialects, label_list, outputs, reading
from skstruct.datasets.formats.arff.label_list import read_label_list, write_label_list
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.exceptions import DataFormatError

_DENSE = b"""% dense
@RELATION 'a b'
@attribute x numeric
@attribute 'y, z' REAL
@attribute sky {sunny, 'light rain', "it's\\tso"}
@attribute s string
@attribute c {no,yes}
@data
21.5, 3,sunny,one,no
-1e3,?,'light rain',"t,wo",yes
.5,0.30000000000000004,?,?,yes
"""
_SPARSE = b"""@relation sparse
@attribute a numeric
@attribute b {x,'y z',w}
@attribute id key
@attribute c {0,1}
@data
{0 2.5, 1 'y z',2 first, 3 1}
{ 2 second}
{1 ?, 2 'th,ird',3 1}
"""
_TREE = b"""@relation tree
@attribute id key
@attribute x numeric
@attribute class hierarchical a,a/b,c/d/e
@data
first,1,a/b@c
'second, too',2,a
x,1e-5,?
"""
_GRAPH = b"""@relation graph
@attribute x integer
@attribute class hierarchical root/a,a/b,a/c,b/d,c/d,root/alone
@data
1,d
2,alone@b
"""
_MEKA = b"""@relation 'music: -C 2'
@attribute sad {0,1}
@attribute 'so happy' {0,1}
@attribute x numeric
@data
0,1,0.25
1,1,7
"""
_TASK = b"""% task: ranking
@relation 'r: -C -2'
@attribute x {"a b",c}
@attribute tea numeric
@attribute milk numeric
@data
"a b",1,2
c , 2 ,0
"""
_LISTED = b"""@relation scenes
@attribute x numeric
@attribute a {0,1}
@attribute b {0,1}
@attribute 'c & d' {0,1}
@data
1,0,1,1
{5}
2,1,0,0
"""
_XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="a"><label name="b"></label><label name="c &amp; d"/></label>
</labels>
"""
_FLAT = b"<labels><label name='a'></label><label name=\"b\"/><label name='c &#38; d'/></labels>"
_WORDS = (
    *(b"@data", b"@attribute", b"@relation", b"numeric", b"string", b"date", b"key", b"{0,1}"),
    *(b"hierarchical", b"root/", b"{0 1", b",{5}", b"-C 2", b"-C -1", b"'a\\'b'", b"@end"),
    *(b"% task: labels\n", b"% task: hierarchy\n", b"% task: histogram\n", b"relational"),
)
_XML_WORDS = (
    *(b"<label", b"/>", b"name=", b"<!DOCTYPE x>", b"&amp;", b"&x;", b"</label>", b"&#10;"),
    *(b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?x?>", b'<label name="a">', b"</labels>"),
)
SPLIT = b"%%% labels %%%\n"  # where the list of labels begins
_MODULES = (attributes, dialects, label_list, outputs, reading, files)


def _options(path: Path, turn: int) -> ReadOptions:
    listed = path.with_name("labels.xml")
    usual = ReadOptions(labels_file=listed if path.name == "listed.arff" else None)
    return {
        12: ReadOptions(targets=()),
        13: ReadOptions(targets=("c",)),
        14: ReadOptions(id_column="x", labels_file=usual.labels_file),
        15: ReadOptions(skip_unlabelled=True, labels_file=usual.labels_file),
    }.get(turn, usual)


def _read(format: Format, path: Path, turn: int) -> Any:
    with compiled_from(1 << 60):
        return format.read(path, _options(path, turn))


@contextmanager
def compiled_from(size):
    before, reading.COMPILED_FROM = reading.COMPILED_FROM, size
    try:
        yield
    finally:
        reading.COMPILED_FROM = before


def _again(format: Format, path: Path, turn: int, found: Any) -> None:
    """Rows by compiled code, and a file that is written and read again."""
    with compiled_from(0):
        try:
            other = format.read(path, _options(path, turn))
        except DataFormatError as error:
            other = error
    must_agree(found, other, "compiled and Python")
    if isinstance(found, DataFormatError) or found.outputs is None or path.name == "listed.arff":
        return
    if not len(found) or not found.inputs.names or not written(dialects.ARFF.write, found, path):
        return
    again = dialects.ARFF.read(path, ReadOptions(task=found.task))
    if found.task != "hierarchy" and (problem := difference(found, again)):
        raise AssertionError(f"written and read: {problem}"[:400])  # of trees parents come first


def _place_both(path: Path, text: bytes) -> None:
    table, _, listed = text.partition(SPLIT)
    put(path, table)
    put(path.with_name("labels.xml"), listed)


def _read_list(path: Path, turn: int) -> Any:
    return read_label_list(path)


def _list_again(path: Path, turn: int, found: Any) -> None:
    if isinstance(found, DataFormatError):
        return
    before = held(path)
    try:
        put(path, write_label_list(*found).encode())
    except DataFormatError:
        return
    again = read_label_list(path)
    put(path, before)
    if tuple(map(set, again)) != tuple(map(set, found)):
        raise AssertionError(f"written and read: {again} instead of {found}"[:400])


def _of(name: str, format: Format, seeds: list[bytes], **more: Any) -> FileFormat:
    given = {"read": partial(_read, format), "again": partial(_again, format), **more}
    return FileFormat(name, seeds, _WORDS, modules=_MODULES, **given)


FORMATS = (
    _of("arff", dialects.ARFF, [_DENSE, _SPARSE, _MEKA, _TASK]),
    _of("clus", dialects.CLUS, [_TREE, _GRAPH]),
    _of(
        "mulan",
        dialects.MULAN,
        [_LISTED.replace(b"{5}\n", b"") + SPLIT + xml for xml in (_XML, _FLAT)],
        file_name="listed.arff",
        place=_place_both,
    ),
    FileFormat(
        "label list", [_XML, _FLAT], _XML_WORDS, _read_list, (label_list, files), _list_again
    ),
)
