# SPDX-License-Identifier: BSD-3-Clause
"""MULAN's XML list of labels, which nests those of a hierarchy."""

import codecs
import re
from typing import Any
from xml.parsers import expat

from skstruct.datasets.encodings import encoding_of
from skstruct.datasets.files import text_lines
from skstruct.datasets.formats.edges import MAX_DEPTH
from skstruct.exceptions import DataFormatError

_SPACE_OF_NAMES = "http://mulan.sourceforge.net/labels"
_MAX_BYTES = 100_000_000
_DECLARED = re.compile(r"""<\?xml[^>]*?\sencoding\s*=\s*['"]([A-Za-z0-9._-]+)['"]""")
_ATTRIBUTE_SPACE = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def read_label_list(path: Any) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Names of the labels in the order of the list, and (parent, child) pairs of nested ones.

    A label may be repeated, below another parent for example; pairs come once. A document type
    is refused: no list of labels needs one, and entities are a way to fill the memory.

    Raises
    ------
    DataFormatError
        Tells the line.
    """
    text = "\n".join(text_lines(path))
    if len(text) > _MAX_BYTES:
        raise DataFormatError("the list of labels is larger than 100 MB", path=path)
    _check_encoding(text, path)
    try:
        return parse_label_list(text)
    except DataFormatError as error:
        raise error.at(path=path) from None


def _check_encoding(text: str, path: Any) -> None:
    """Refuse letters beyond ASCII that were read by another encoding than the file says."""
    declared = _DECLARED.match(text)
    if declared is None or text.isascii():
        return
    try:
        same = codecs.lookup(declared[1]).name == codecs.lookup(encoding_of(path)).name
    except LookupError:
        same = False
    if not same:
        raise DataFormatError(
            f"it says that its encoding is {declared[1][:40]!r}, and is read as "
            f"{encoding_of(path)}; name the encoding (encoding=), or correct the first line",
            path=path,
            line=1,
        )


def parse_label_list(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """As :func:`read_label_list`, of text.

    Examples
    --------
    >>> parse_label_list('<labels><label name="a"><label name="b"/></label></labels>')
    (('a', 'b'), (('a', 'b'),))
    """
    names: dict[str, None] = {}
    edges: dict[tuple[str, str], None] = {}
    open_labels: list[str | None] = []
    parser = expat.ParserCreate("utf-8")

    def refuse(problem: str) -> DataFormatError:
        return DataFormatError(problem, line=parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, Any]) -> None:
        if len(open_labels) > MAX_DEPTH:
            raise refuse(f"labels lie within each other more than {MAX_DEPTH} deep")
        if tag.rpartition(":")[2] == "label":
            name = attributes.get("name")
            if not name:
                raise refuse("a label without a name")
            parent = next((above for above in reversed(open_labels) if above is not None), None)
            if name in open_labels:
                raise refuse(f"the label {name[:60]!r} lies within itself")
            if parent is not None:
                edges[parent, name] = None
            elif name in names:
                raise refuse(f"the label {name[:60]!r} comes twice")
            names[name] = None
            open_labels.append(name)
        else:
            open_labels.append(None)

    def refuse_doctype(*_: Any) -> Any:
        raise refuse("a document type, which a list of labels does not need")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_labels.pop()
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise DataFormatError(f"not XML ({expat.ErrorString(error.code)})", line=error.lineno) \
            from None  # fmt: skip
    except ValueError as error:  # DataFormatError is one
        if isinstance(error, DataFormatError):
            raise
        raise refuse(f"not XML ({error})") from None
    if not names:
        raise DataFormatError("no <label name=...> in the list of labels")
    return tuple(names), tuple(edges)


def write_label_list(labels: Any, edges: Any = ()) -> str:
    """XML text of the list; labels lie within their parent.

    Raises
    ------
    DataFormatError
        If a label has several parents, which nesting cannot say.

    Examples
    --------
    >>> print(write_label_list(["a", "b"], [("a", "b")]))
    <?xml version="1.0" encoding="utf-8"?>
    <labels xmlns="http://mulan.sourceforge.net/labels">
    <label name="a">
    <label name="b"></label>
    </label>
    </labels>
    <BLANKLINE>
    """
    from xml.sax.saxutils import quoteattr  # imports urllib

    below: dict[str, list[str]] = {label: [] for label in labels}
    has_parent = set()
    for parent, child in edges or ():
        if child in has_parent:
            raise DataFormatError(f"the label {child[:60]!r} has several parents")
        has_parent.add(child)
        below[parent].append(child)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<labels xmlns="{_SPACE_OF_NAMES}">']
    todo = [("open", label) for label in reversed(list(labels)) if label not in has_parent]
    while todo:
        what, label = todo.pop()
        if what == "close":
            lines.append("</label>")
            continue
        tag = f"<label name={quoteattr(label, _ATTRIBUTE_SPACE)}>"
        lines.append(tag if below[label] else tag + "</label>")
        if below[label]:
            todo.append(("close", label))
            todo += [("open", child) for child in reversed(below[label])]
    return "\n".join([*lines, "</labels>", ""])
