# SPDX-License-Identifier: BSD-3-Clause
"""Answers as JSON, CSV or Arrow."""

import csv
import io
import json
from typing import Any

from skstruct._arrays.imports import require
from skstruct.datasets.formats.cells import write_cell
from skstruct.datasets.formats.columns import harmless
from skstruct.serving.messages import ARROW, CSV, JSON

CELLS = {"labels": "labels", "hierarchy": "labels", "ranking": "ranking", "sequence": "sequence"}
OWN = ("row", "rank")


def accepted(accept: str) -> str:
    """The type of the answer that a header ``Accept`` asks for; JSON if it does not say.

    >>> accepted("text/csv, */*"), accepted("*/*")
    ('text/csv', 'application/json')
    """
    wanted = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return next((kind for kind in wanted if kind in (CSV, ARROW, JSON)), JSON)


def written(served: Any, records: list[Any], kind: str) -> bytes:
    """The body of an answer."""
    if kind == JSON:
        answer = {"model": served.name, "answers": records}
        return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
    columns = flat(served, records)
    return _csv(columns) if kind == CSV else _arrow(columns)


def flat(served: Any, records: list[Any]) -> dict[str, list[Any]]:
    """Columns of texts and numbers, by name; the k best are a row each."""
    lines: list[dict[str, Any]] = []
    for i, record in enumerate(records, 1):
        if "best" in record:
            best = enumerate(record["best"], 1)
            lines += [{"row": i, "rank": rank, **_line(served, one)} for rank, one in best]
        else:
            lines.append({"row": i, **_line(served, record)})
    names = dict.fromkeys(name for line in lines for name in line)
    return {name: [line.get(name) for line in lines] for name in names}


def _line(served: Any, record: dict[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {}
    for name, value in record.items():
        if name == "prediction" and isinstance(value, dict):  # numbers by target
            line |= {f"predicted {t}" if t in OWN else t: number for t, number in value.items()}
        elif name == "prediction":
            line[name] = _cell(served.kind, value)
        elif name == "marginals" and isinstance(value, dict) and not _nested(value):
            line |= {f"P({part})": number for part, number in value.items()}
        elif name in ("low", "high") and isinstance(value, dict):
            line |= {f"{name} {target}": number for target, number in value.items()}
        elif name in ("supporters", "opponents"):
            line[name] = ";".join(f"{one['row']}:{one['weight']:.4g}" for one in value) or "none"
        else:
            line[name] = value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
    return line


def _nested(value: dict[str, Any]) -> bool:
    return any(isinstance(part, dict) for part in value.values())


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _cell(kind: str, value: Any) -> Any:
    """An output as files have it: ``a;b``, ``a>b=c`` or ``a b``."""
    if _is_plain(value):
        return value
    try:
        names = tuple(tuple(map(str, v)) if isinstance(v, list) else v for v in value)
        if kind in CELLS and all(isinstance(name, (str, tuple)) for name in names):
            return write_cell(CELLS[kind], names)
    except (TypeError, ValueError, AttributeError):  # edges, or names that files cannot have
        pass
    return json.dumps(value, ensure_ascii=False)


def _csv(columns: dict[str, list[Any]]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(harmless, columns))
    cells = [[_text(value) for value in column] for column in columns.values()]
    writer.writerows(zip(*cells))
    return file.getvalue().encode()


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else repr(value)


def _arrow(columns: dict[str, list[Any]]) -> bytes:
    pyarrow: Any = require("pyarrow", used_by="Writing Arrow", extra="parquet")
    ipc: Any = require("pyarrow.ipc", used_by="Writing Arrow", extra="parquet")
    arrays = []
    for column in columns.values():
        if any(isinstance(value, str) for value in column):
            column = [None if value is None else str(value) for value in column]
        arrays.append(pyarrow.array(column))
    table = pyarrow.table(arrays, names=list(columns))
    sink = pyarrow.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()
