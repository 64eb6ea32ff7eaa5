# SPDX-License-Identifier: BSD-3-Clause
"""The default beside its best peer, cell by cell, read from the kept logs; as a table of a page.

A cell is a data set and a measure. Differences and their standard errors are those of the log:
in pairs, over splits or over test rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from kept_logs import Log

KINDS = {
    "labels": "label sets",
    "hierarchy": "hierarchies",
    "ranking": "rankings",
    "quantities": "quantities",
    "classes": "classes",
}
SET = re.compile(r"([A-Z_0-9]+) \((\w+)\): ")
MEASURE = re.compile(r" {3}(\S.*?) {2,}loss {2,}ours - it ")
ROW = re.compile(r" {4}([* ])(\S.*?) {2,}([\d.]+)(?: +([-+][\d.]+) +([\d.]+))? +[\d.]+ +\d+")


@dataclass(frozen=True)
class Cell:
    """One data set and measure: a loss of ours, the best peer's, and the difference of the two."""

    data: str
    kind: str
    measure: str
    ours: str
    peer: str
    theirs: str
    difference: str
    error: str

    @property
    def relative(self) -> tuple[float, float]:
        """Difference and standard error in per cent of the peer's loss; negative: ours is less."""
        scale = 100.0 / float(self.theirs)
        return float(self.difference) * scale, float(self.error) * scale

    @property
    def verdict(self) -> str:
        difference, error = float(self.difference), float(self.error)
        if difference <= 0.0:
            return "best"
        return "level" if difference <= 2.0 * error else "behind"

    @property
    def marked(self) -> str:
        """Our loss as HTML: bold where it is the least, underlined within one standard error."""
        if self.verdict == "best":
            return f"<strong>{self.ours}</strong>"
        level = float(self.difference) <= float(self.error)
        return f"<u>{self.ours}</u>" if level else self.ours


def cells(folder: Path) -> list[Cell]:
    """All cells in which the default was compared with peers."""
    found: list[Cell] = []
    data = kind = measure = ""
    rows: list[re.Match[str]] = []

    def close() -> None:
        ours = [row[3] for row in rows if row[1] == "*"]
        peers = [row for row in rows if row[1] != "*" and row[4]]
        if ours and peers:
            best = min(peers, key=lambda row: float(row[3]))
            found.append(Cell(data, kind, measure, ours[0], best[2], *best.group(3, 4, 5)))
        rows.clear()

    for line in Log.read(folder / "defaults.txt").body:
        if (match := SET.match(line)) or not line.strip():
            close()
            data, kind = match.groups() if match else (data, kind)
        elif match := MEASURE.match(line):
            close()
            measure = match[1]
        elif match := ROW.fullmatch(line):
            rows.append(match)
    close()
    return found


def published(folder: Path) -> list[Cell]:
    """AU(PRC) of hierarchies as a loss, 1 - AU(PRC), beside the published figures of C-HMCNN."""
    found = []
    for line in Log.read(folder / "default_hierarchies.txt").body:
        parts = line.split()
        if len(parts) > 5 and parts[1] == "auto":
            data, _, area, error, theirs = parts[:5]
            difference = f"{float(theirs) - float(area):+.4f}"
            ours, peer = f"{1 - float(area):.4f}", f"{1 - float(theirs):.4f}"
            found.append(
                Cell(data.upper(), "hierarchy", "AU(PRC)", ours, "C-HMCNN", peer, difference, error)
            )
    return found


def table_html(folder: Path) -> str:
    head = "".join(
        f"<th>{name}</th>"
        for name in ("data", "measure", "default", "best peer", "its loss", "default less peer", "")
    )
    rows = []
    for kind, title in KINDS.items():
        rows.append(f'<tr class="over"><th colspan="7">{title}</th></tr>')
        rows += [row_html(cell) for cell in cells(folder) if cell.kind == kind]
    return (
        '<div class="kept-results"><div class="pst-scrollable-table-container results tall narrow" '
        f'tabindex="0"><table class="table"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        '<p class="legend">Losses, less is better; differences with standard errors of pairs; '
        "level: within two of them. "
        "Bold: the default has the least loss of all. Underlined: within a standard error of the "
        "best peer, which is the best in hindsight.</p></div>"
    )


def row_html(cell: Cell) -> str:
    difference = f"{cell.difference} ± {cell.error}"
    shown = [escape(cell.data.lower()), escape(cell.measure), cell.marked]
    shown += [escape(cell.peer), cell.theirs, difference, cell.verdict]
    return "<tr>" + "".join(f"<td>{text}</td>" for text in shown) + "</tr>"


class DefaultAndPeers(Directive):
    """``{default-and-peers}``: all cells as one table."""

    def run(self):
        env = self.state.document.settings.env
        folder = Path(env.srcdir) / "results"
        env.note_dependency(str(folder / "defaults.txt"))
        return [nodes.raw("", table_html(folder), format="html")]


def setup(app):
    app.add_directive("default-and-peers", DefaultAndPeers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
