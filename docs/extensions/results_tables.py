# SPDX-License-Identifier: BSD-3-Clause
"""The directive ``results``: a kept log as tables, with its protocol and the log itself folded up.

```{results} name
:least: Hamming, F1     columns of which the least figure is set bold; :most: likewise, * for all
:across: most           the best of every row instead
:groups:                compare only rows below the same text
:errors:                what follows ± is a standard error: what is level with the best is marked
:not: paper, published  rows whose names begin so are not compared
:start-at: words        from the line with these words; :end-before: likewise
```
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import kept_logs
from docutils import nodes
from docutils.parsers.rst import Directive, directives
from kept_logs import NUMBER, Log, Row, Table, Text, blocks

TALL = 24  # rows; taller tables scroll
LEGEND = {
    (True, False): "Bold: the best.",
    (True, True): "Bold: the best. Underlined: the best, level within two standard errors.",
    (False, True): "Underlined: the best, level within two standard errors.",
}


def figure_of(cell: str) -> tuple[float, float] | None:
    """The number of a cell and what it may be off by, if it has one."""
    match = NUMBER.search(cell)
    if match is None or "nan" in cell[: match.start()]:
        return None
    error = re.match(rf"\s*(?:±|\+-)\s*({NUMBER.pattern})", cell[match.end() :])
    as_float = [float(text.replace(",", "")) for text in (match[0], error[1] if error else "0")]
    return as_float[0], as_float[1]


def marks(table: Table, options: dict) -> dict[tuple[int, int], str]:
    """Classes of cells that are best, or level with the best: by columns, or across rows."""
    found: dict[tuple[int, int], str] = {}
    excluded = tuple(options.get("not", ()))
    rows = [i for i, row in enumerate(table.rows) if not row.spans]
    rows = [i for i in rows if not (excluded and table.rows[i].cells[0].startswith(excluded))]
    for i in rows:  # marks of the log itself
        for j, cell in enumerate(table.rows[i].cells):
            if own := re.fullmatch(rf"{NUMBER.pattern}([*+])", cell):
                found[i, j] = {"*": "best", "+": "level"}[own[1]]
    if "across" in options:
        sign = {"least": 1, "most": -1}[options["across"]]
        for i in rows:
            best_of(
                [(i, j) for j in range(1, len(table.rows[i].cells))], table, sign, options, found
            )
        return found
    for name, sign in (("least", 1), ("most", -1)):
        wanted = options.get(name, ())
        for j, column in enumerate(table.names):
            if j and (column in wanted or ("*" in wanted and not column.startswith("CPU"))):
                for group in groups(table, rows, "groups" in options):
                    best_of([(i, j) for i in group], table, sign, options, found)
    return found


def groups(table: Table, rows: list[int], parted: bool) -> list[list[int]]:
    """Rows that are compared with each other."""
    if not parted:
        return [rows]
    parts: list[list[int]] = [[]]
    for i, row in enumerate(table.rows):
        if row.spans:
            parts.append([])
        elif i in rows:
            parts[-1].append(i)
    return parts


def best_of(places, table, sign, options, found) -> None:
    """Mark the best of some cells; with standard errors, it and what is within two of them.

    Where something else is within noise, none of them is the best: all are level.
    """
    figures = {}
    for i, j in places:
        cells = table.rows[i].cells
        figure = figure_of(cells[j]) if j < len(cells) else None
        if figure is not None:
            figures[i, j] = figure
    if len(figures) < 2:
        return
    best, error = min(figures.values(), key=lambda figure: sign * figure[0])
    near = {
        place
        for place, (value, own) in figures.items()
        if "errors" in options and 0 < abs(value - best) <= 2 * max(error, own)
    }
    for place, (value, _) in figures.items():
        if value == best or place in near:
            found[place] = "level" if near else "best"


def common_word(table: Table, j: int) -> str:
    """A word that begins all cells of a column without a name: it becomes the name."""
    cells = [row.cells[j] for row in table.rows if not row.spans and row.cells[j]]
    words = {cell.partition(" ")[0] for cell in cells}
    word = words.pop() if len(words) == 1 and j else ""
    return word if word.isalpha() and not table.names[j] and len(cells) > 1 else ""


def table_html(table: Table, options: dict) -> str:
    names = table.names
    words = [common_word(table, j) for j in range(len(names))]
    found = marks(table, options)
    body = [row_html(i, row, words, found, len(names)) for i, row in enumerate(table.rows)]
    head = ""
    if any(names) or any(words):
        head = "".join(f"<th>{escape(name or word)}</th>" for name, word in zip(names, words))
        head = f"<thead><tr>{head}</tr></thead>"
    caption = " ".join(line.strip() for line in table.caption)
    caption = f"<caption>{escape(caption)}</caption>" if caption else ""
    legend = LEGEND.get(("best" in found.values(), "level" in found.values()), "")
    tall = " tall" if len(body) > TALL else ""
    return (
        f'<div class="pst-scrollable-table-container results{tall}" tabindex="0">'
        '<table class="table">'
        f"{caption}{head}<tbody>{''.join(body)}</tbody></table></div>"
        + (f'<p class="legend">{legend}</p>' if legend else "")
    )


def row_html(i: int, row: Row, words: list[str], found: dict, width: int) -> str:
    if row.spans:
        kind = "note" if len(row.cells[0]) > 30 else "over"
        return f'<tr class="{kind}"><th colspan="{width}">{escape(row.cells[0])}</th></tr>'
    ours = re.match(r"\*?(ours|default|skstruct)\b", row.cells[0])
    cells = []
    for j, cell in enumerate(row.cells):
        text = cell.removeprefix(f"{words[j]} ") if words[j] else cell
        if (i, j) in found and text[-1:] in "*+":
            text = text[:-1]
        text = escape(re.sub(r" {2,}", " ", text).removeprefix("*"))
        kind = found.get((i, j))
        text = {"best": f"<strong>{text}</strong>", "level": f"<u>{text}</u>"}.get(kind, text)
        cells.append(f'<td class="number">{text}</td>' if j else f"<td>{text}</td>")
    row_class = ' class="ours"' if ours else ""
    return f"<tr{row_class}>{''.join(cells)}</tr>"


def text_html(text: Text) -> str:
    """Prose as a paragraph, points as a list, what is set by hand as it is."""
    lines = text.lines
    if any(re.match(r"\*|\d\. ", line) for line in lines):
        joined = re.sub(r"\s*\n(?!\*|\d\. )\s*", " ", "\n".join(lines)).splitlines()
        points = [re.sub(r"^(\*|\d\.) ", "", line) for line in joined]
        return "<ul>" + "".join(f"<li>{escape(point)}</li>" for point in points) + "</ul>"
    if any(re.search(r"^ {2,}|\S {2,}\S", line) for line in lines):
        return f"<pre>{escape(chr(10).join(lines))}</pre>"
    return f"<p>{escape(' '.join(lines))}</p>"


def counts_html(lines: list[str]) -> str:
    """What a script of reliability counted: the object of JSON that it ends with, as a table."""
    starts = [i for i, line in enumerate(lines) if line.startswith("{")]
    for start in starts:
        try:
            told = json.loads("\n".join(lines[start:]))
        except ValueError:
            continue
        plain = {key: value for key, value in told.items() if isinstance(value, int)}
        rows = "".join(
            f"<tr><td>{escape(k)}</td><td>{escape(str(v))}</td></tr>" for k, v in plain.items()
        )
        return f'<div class="results"><table class="table"><tbody>{rows}</tbody></table></div>'
    return ""


def render(log: Log, options: dict) -> str:
    """A log, or a part of it, as HTML."""
    lines = log.part(options.get("start-at"), options.get("end-before"))
    counted = counts_html(lines)
    found = [] if counted else blocks(lines)
    first = next((i for i, block in enumerate(found) if isinstance(block, Table)), len(found))
    parts = []
    if protocol := "".join(text_html(block) for block in found[:first] if isinstance(block, Text)):
        parts.append(f"<details><summary>Protocol</summary>{protocol}</details>")
    for block in found[first:]:
        shown = table_html(block, options) if isinstance(block, Table) else text_html(block)
        parts.append(shown)
    parts.append(counted)
    if "end-before" not in options:
        made = escape(f"{log.command}; {log.made}" if log.made else log.command)
        parts.append(
            f"<details><summary>As printed by <code>{made}</code></summary>"
            f"<pre>{escape(log.text)}</pre></details>"
        )
    return f'<div class="kept-results">{"".join(parts)}</div>'


def names(argument: str) -> list[str]:
    return [name.strip() for name in argument.split(",")]


class Results(Directive):
    """``{results} name``: see the module."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "least": names, "most": names, "not": names,
        "groups": directives.flag, "errors": directives.flag,
        "across": lambda text: directives.choice(text, ("least", "most")),
        "start-at": directives.unchanged, "end-before": directives.unchanged,
    }  # fmt: skip

    def run(self):
        env = self.state.document.settings.env
        path = Path(env.srcdir) / "results" / f"{self.arguments[0]}.txt"
        for source in (path, __file__, kept_logs.__file__):
            env.note_dependency(str(source))
        try:
            html = render(Log.read(path), self.options)
        except (OSError, ValueError) as error:
            raise self.error(f"{path.name}: {error}") from error
        return [nodes.raw("", html, format="html")]


def setup(app):
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
