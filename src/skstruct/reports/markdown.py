# SPDX-License-Identifier: BSD-3-Clause
"""Sections as Markdown, with the header that hubs of models read.

All that comes in is text. What Markdown, HTML or YAML would take for markup is escaped, so that
names of columns and labels are shown as they are.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from skstruct.inspection.drawing import written
from skstruct.reports.pages import Section, is_number, number

LONGEST = 2000  # letters of a sentence
MOST_ROWS = 60  # of a table
_MARKS = re.compile(r"([\\`*_{}\[\]#|~$!^])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escaped(text: Any) -> str:
    """Text that Markdown shows as it is, in one line.

    >>> print(escaped("a|b `c` <d>\\n# e"))
    a\\|b \\`c\\` &lt;d&gt; \\# e
    >>> print(escaped("http://x.org"))
    http\\://x.org
    """
    line = written(text, LONGEST)
    line = re.sub("[&<>]", lambda found: _ENTITIES[found[0]], _MARKS.sub(r"\\\1", line))
    line = re.sub(r":(?=//)", r"\\:", line)  # no address becomes a link
    return re.sub(r"(?i)\b(www)\.", r"\1\\.", line)


def sentence(text: Any) -> str:
    """Text that begins a line, and no list or title there.

    >>> print(sentence("1. first"), sentence("- second"))
    1\\. first \\- second
    """
    line = re.sub(r"^(\d+)([.)])", r"\1\\\2", escaped(text))
    return re.sub(r"^([-+=:])", r"\\\1", line)


def markdown(title: str, subtitle: str, sections: Sequence[Section], header: str = "") -> str:
    """A whole page."""
    parts = [header.rstrip("\n"), f"# {escaped(title)}", sentence(subtitle)]
    for section in sections:
        parts.append(f"## {escaped(section.title)}")
        parts += [sentence(section.left_out)] if section.left_out else []
        parts += [_BLOCKS[block.kind](block) for block in section.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cell(value: Any) -> str:
    return number(value) if is_number(value) else escaped(value)


def _lines(header: list[str], rows: Sequence[Sequence[Any]], right: list[bool]) -> str:
    rule = ["---:" if to_right else "---" for to_right in right]
    table = [header, rule, *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def _table(block: Any) -> str:
    rows = block.rows[:MOST_ROWS]
    right = [is_number(value) for value in block.rows[0]] if rows else [False] * len(block.header)
    text = _lines([escaped(name) for name in block.header], rows, right)
    if len(block.rows) > MOST_ROWS:
        text += f"\n\n{number(len(block.rows) - MOST_ROWS)} more are not shown."
    return f"{sentence(block.caption)}\n\n{text}" if block.caption else text


def _facts(block: Any) -> str:
    return _lines(["", ""], block.rows, [False, False])


_BLOCKS: dict[str, Any] = {
    "text": lambda block: sentence(block.text),
    "listing": lambda block: "\n".join(f"- {sentence(item)}" for item in block.items),
    "code": lambda block: f"```{block.language}\n{block.text.rstrip()}\n```",
    "table": _table,
    "facts": _facts,
}


# ---------------------------------------------------------------------- the header
def front_matter(facts: Mapping[str, Any], remarks: Sequence[str] = ()) -> str:
    """YAML between dashes: numbers, texts, lists and dictionaries; remarks are comments.

    >>> print(front_matter({"tags": ["a: b"]}, ["license: choose one"]))
    ---
    # license: choose one
    tags:
    - "a: b"
    ---
    """
    lines = ["---", *(f"# {remark}" for remark in remarks), *_yaml(facts, 0), "---"]
    return "\n".join(lines)


def _yaml(value: Any, depth: int) -> list[str]:
    pad = "  " * depth
    if isinstance(value, Mapping):
        lines = []
        for key, part in value.items():
            if isinstance(part, (Mapping, list)):
                lines += [f"{pad}{key}:", *_yaml(part, depth + isinstance(part, Mapping))]
            else:
                lines.append(f"{pad}{key}: {_scalar(part)}")
        return lines
    lines = []
    for part in value:
        if isinstance(part, Mapping):
            first, *rest = _yaml(part, depth + 1)
            lines += [f"{pad}- {first.strip()}", *rest]
        else:
            lines.append(f"{pad}- {_scalar(part)}")
    return lines


def _scalar(value: Any) -> str:
    """A number, a plain word, or a text in quotes, which JSON and YAML write alike."""
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if re.fullmatch(r"[a-z][a-z0-9-]*[a-z0-9]", value) and value not in _NO_TEXTS:
        return str(value)
    return json.dumps(written(value, LONGEST), ensure_ascii=False)


_NO_TEXTS = ("true", "false", "yes", "no", "on", "off", "null")
