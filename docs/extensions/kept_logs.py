# SPDX-License-Identifier: BSD-3-Clause
"""Reads what scripts printed, kept in docs/results: text, and tables set in columns of characters.

Scripts print for people, so tables are found by their look: lines with gaps of two or more spaces
and numbers after the first gap. Columns are where all of these lines are blank. Cells are pieces of
the lines and nothing else, so that a table holds exactly the words of its lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?")
GAP = re.compile(r" {2,}")
DATUM = re.compile(
    rf"(?:[(<>=~ ]*|(?:\w+[:=]? )){NUMBER.pattern}(?![a-z]{{2}}|/)"
)  # perhaps behind a word
RULE = re.compile(r"[-=]{8,}|[-= ]{8,}")
TIMINGS = re.compile(r"(name) +(time) +(ratio) +(target) +(met)")
TIME_WIDTH = 9
TIMING = [
    re.compile(pattern)
    for pattern in (
        r".*\S",
        r"(?:[\d.,e+-]+ (?:ns|us|ms|s|min|h))?",
        r"(?:[-+]?[\d.,]+(?:e[-+]?\d+)?)?",
        r"(?:[<>]=.*)?",
        r"(?:yes|NO)?",
    )
]


@dataclass
class Row:
    """A line of a table: cells, or one text that stands over the lines below it."""

    line: str
    cells: list[str]
    spans: bool = False  # one text across all columns


@dataclass
class Table:
    """Lines set in columns, with what stands over them."""

    caption: list[str] = field(default_factory=list)
    headers: list[Row] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of the columns, of as many lines as there are."""
        width = max(len(row.cells) for row in self.rows if not row.spans)
        cells = [[*row.cells, *[""] * (width - len(row.cells))] for row in self.headers]
        return [" ".join(part for part in column if part) for column in zip(*cells)] or [""] * width


@dataclass
class Text:
    """Lines that are no table."""

    lines: list[str]


@dataclass
class Log:
    """A kept file: the command, date and versions, and what was printed."""

    command: str
    made: str
    body: list[str]
    text: str

    @classmethod
    def read(cls, path: Path) -> Log:
        text = path.read_text(encoding="utf-8")
        command, *lines = text.splitlines()
        made = []
        while lines and (not made or not made[-1].endswith(")")) and (made or lines[0][:1] == "("):
            made.append(lines.pop(0))
        return cls(command.removeprefix("$ "), " ".join(made).strip("()"), lines, text)

    def part(self, start: str | None = None, end: str | None = None) -> list[str]:
        """Lines from the first one that holds ``start`` to the one before ``end``."""
        first = 0 if start is None else _find(self.body, start)
        last = len(self.body) if end is None else first + 1 + _find(self.body[first + 1 :], end)
        return self.body[first:last]


def _find(lines: list[str], marker: str) -> int:
    for i, line in enumerate(lines):
        if marker in line:
            return i
    raise ValueError(f"no line with {marker!r}")


def cells_by_gaps(line: str) -> list[str]:
    return GAP.split(line.strip())


def is_data(line: str) -> bool:
    """Whether a line has a number at the start of some cell after the first."""
    cells = cells_by_gaps(line)
    if len(cells) < 2 or RULE.fullmatch(line.strip()):
        return False
    if cells[-1][0].isalpha() and len(cells[-1].split()) > 4:  # ends in a sentence
        return False
    return any(DATUM.match(cell) or cell in "–-" for cell in cells[1:])


def is_header(line: str) -> bool:
    """Whether a line above the first of data names columns."""
    return len(cells_by_gaps(line)) > 1 or len(line) - len(line.lstrip()) > 15


def blocks(lines: list[str]) -> list[Table | Text]:
    """Tables and texts, in order; every line but rules and empty ones is in one of them."""
    found: list[Table | Text] = []
    chunk: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            chunk.append(line.rstrip())
        elif chunk:
            found += _blocks_of_chunk(chunk)
            chunk = []
    return found


def _blocks_of_chunk(chunk: list[str]) -> list[Table | Text]:
    """Blocks between two empty lines: captions, headers, and data up to the next header."""
    data = [is_data(line) for line in chunk]
    if sum(data) < 2 and not (sum(data) and any(RULE.fullmatch(line.strip()) for line in chunk)):
        return [Text(chunk)]
    first = data.index(True)
    above = [i for i in range(first) if not RULE.fullmatch(chunk[i].strip())]
    while len(above) > 1 and not is_header(chunk[above[-1]]) and is_header(chunk[above[-2]]):
        first = above.pop()  # a text over the first rows stands below the names of the columns
    if first < len(chunk) - 1 and _numbers_columns(chunk[first], chunk[first + 1]):
        first += 1
    top = first
    while top > 0 and (RULE.fullmatch(chunk[top - 1].strip()) or is_header(chunk[top - 1])):
        top -= 1
    table = Table(caption=chunk[:top])
    headers = [line for line in chunk[top:first] if not RULE.fullmatch(line.strip())]
    body, rest = chunk[first:], []
    for i in range(1, len(body)):  # another header below: another table
        more = any(data[first + i + 1 :]) and not is_data(body[i])
        if more and (_names_columns(body[i]) or _same_columns(body[i], headers)):
            body, rest = body[:i], body[i:]
            break
    fill = _fill_timings if headers[-1:] and TIMINGS.fullmatch(headers[-1]) else _fill
    fill(table, headers, [line for line in body if not RULE.fullmatch(line.strip())])
    return [table, *(_blocks_of_chunk(rest) if rest else [])]


def _numbers_columns(line: str, following: str) -> bool:
    """Whether whole numbers stand over others: sizes or shares that name the columns."""
    names, cells = (cells_by_gaps(text)[1:] for text in (line, following))
    whole = re.compile(r"\d+%?")
    only_whole = bool(names) and all(map(whole.fullmatch, names))
    return only_whole and not any(map(whole.fullmatch, cells))


def _names_columns(line: str) -> bool:
    return len(line) - len(line.lstrip()) > 15 and len(cells_by_gaps(line)) > 1


def _same_columns(line: str, headers: list[str]) -> bool:
    """Whether a line repeats the names of all columns but the first."""
    names = cells_by_gaps(line)[1:]
    return len(names) > 1 and any(cells_by_gaps(header)[1:] == names for header in headers)


def _fill(table: Table, headers: list[str], body: list[str]) -> None:
    """Cut lines into cells at the columns that lines of data have."""
    edges = columns([line for line in body if is_data(line)])
    for line in body:
        if is_data(line):
            table.rows.append(Row(line, cut(line, edges)))
        else:
            table.rows.append(Row(line, [line.strip()], spans=True))
    for line in headers:
        table.headers.append(Row(line, cut_header(line, edges)))


def _fill_timings(table: Table, headers: list[str], body: list[str]) -> None:
    """Tables of benchmarks: columns stand below their names, or further right by a long name."""
    match = TIMINGS.fullmatch(headers[-1])
    assert match is not None
    ends = [match.end(k) for k in range(2, 6)]
    table.headers.append(Row(headers[-1], list(match.groups())))
    for line in body:
        cells = _timing(line, ends)
        spans = cells is None
        table.rows.append(Row(line, [line.strip()] if cells is None else cells, spans))


def _timing(line: str, ends: list[int]) -> list[str] | None:
    """Name, time, ratio, target and whether it is met; None for a line that has none of these."""
    for shift in range(max(len(line) - ends[0], 0) + 1):
        stops = [ends[0] - TIME_WIDTH + shift, *(end + shift for end in ends)]
        starts = [0, *stops[:-1]]
        parts = [line[a:b] for a, b in zip(starts, [*stops[:-1], None])]
        cells = [part.strip() for part in parts]
        told = all(pattern.fullmatch(cell) for pattern, cell in zip(TIMING, cells))
        if told and any(cells[1:]) and " ".join(cells).split() == line.split():
            return cells
    return None


def columns(lines: list[str]) -> list[tuple[int, int]]:
    """First and last character of every column, by where lines are blank."""
    width = max(map(len, lines))
    padded = [line.ljust(width) for line in lines]
    blank = [all(line[i] == " " for line in padded) for i in range(width)]
    edges, start = [], None
    for i in range(width + 1):
        if i < width and not blank[i]:
            start = i if start is None else start
        elif start is not None:
            edges.append((start, i))
            start = None
    joined = edges[:1]
    for start, end in edges[1:]:
        texts = [line[start:end].strip() for line in padded]
        before = [line[slice(*joined[-1])].strip() for line in padded]
        if _apart(start - joined[-1][1], before, texts, [line[start:] for line in padded]):
            joined.append((start, end))
        else:
            joined[-1] = (joined[-1][0], end)
    return joined


def _apart(gap: int, before: list[str], texts: list[str], rests: list[str]) -> bool:
    """Whether a gap parts two columns, rather than words of one."""
    if any(text.endswith(("±", "+-", "(")) for text in before):
        return False
    if gap >= 2:
        return not all(text[:1] in ("±", "") for text in texts)
    words = [[*text.split(), "", ""] for text in rests]
    named = len({first for first, *_ in words}) == 1 and words[0][0].isalpha()
    if named and all(NUMBER.match(second) for _, second, *_ in words):
        return True  # "precision 0.14" in all lines
    return _numbers(texts) and _complete(before)


def _numbers(texts: list[str]) -> bool:
    filled = [text for text in texts if text]
    return bool(filled) and all(re.fullmatch(rf"{NUMBER.pattern}[%*+)s]*", text) for text in filled)


def _complete(texts: list[str]) -> bool:
    """Whether no cell goes on behind its end, and not all are names: a name may hold a number."""
    open_ended = (",", "±", "+-", "(", "[", "=", "to", "of", "by", "at", "n", "c")
    filled = [text for text in texts if text]
    return all(text[-1:].isdigit() or text[-1] in "%*+s)]" for text in filled) and not any(
        text.endswith(open_ended) for text in filled if not text.endswith(("us", "ms", " s"))
    )


def cut(line: str, edges: list[tuple[int, int]]) -> list[str]:
    """Cells of a line: what stands in each of the columns."""
    stops = [start for start, _ in edges[1:]]
    return [line[a:b].strip() for a, b in zip([0, *stops], [*stops, None])]


def cut_header(line: str, edges: list[tuple[int, int]]) -> list[str]:
    """Names of columns: each goes to the column that it is over, or nearest to."""
    cells = [""] * len(edges)
    for match in re.finditer(r"\S+(?: \S+)*", line):
        over = [min(match.end(), end) - max(match.start(), start) for start, end in edges]
        if sum(width > 0 for width in over) > 1:  # names with one space between them
            parts = [
                (word[0], word.end() + match.start()) for word in re.finditer(r"\S+", match[0])
            ]
            places = [next((k for k, e in enumerate(edges) if e[1] >= at), -1) for _, at in parts]
        else:
            parts, places = [(match[0], 0)], [max(range(len(edges)), key=over.__getitem__)]
        for (word, _), place in zip(parts, places):
            cells[place] = f"{cells[place]} {word}".strip()
    return cells
