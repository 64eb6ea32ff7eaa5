# SPDX-License-Identifier: BSD-3-Clause
"""Streams of Arrow as tables, from whoever sends them: checked, and no larger than they look."""

import struct
from typing import Any

from skstruct._arrays.imports import require
from skstruct.serving.problems import Problem

RECORD_BATCH, DICTIONARY = 3, 2  # kinds of messages
CONTINUATION = b"\xff\xff\xff\xff"


def read_arrow(body: bytes, max_rows: int) -> Any:
    """The table of a stream, with columns of numbers, truth values, texts, dates, durations, or
    lists of texts or numbers.
    """
    pyarrow: Any = require("pyarrow", used_by="Reading Arrow", extra="parquet")
    ipc: Any = require("pyarrow.ipc", used_by="Reading Arrow", extra="parquet")
    try:
        _refuse_packed(body)
        with ipc.open_stream(body) as stream:
            for field in stream.schema:
                _check_type(pyarrow, field)
            batches, n_rows = [], 0
            for batch in stream:
                n_rows += batch.num_rows
                if n_rows > max_rows:
                    raise Problem(
                        413, f"There are more than {max_rows:,} rows: send them in parts."
                    )
                batch.validate(full=True)
                batches.append(batch)
            table = pyarrow.Table.from_batches(batches, stream.schema)
    except (pyarrow.ArrowException, OSError, struct.error, IndexError, EOFError) as error:
        said = " ".join(str(error).split())[:100]
        raise Problem(400, f"The body is not a stream of Arrow: {said}.") from None
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(422, f"Two columns are called {twice[:60]!r}.", column=twice)
    return table


def _check_type(pyarrow: Any, field: Any) -> None:
    types, kind = pyarrow.types, field.type
    if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind):
        kind = kind.value_type
    plain = (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
        or types.is_string(kind) or types.is_large_string(kind) or types.is_temporal(kind)
    )  # fmt: skip
    if not plain and not (types.is_null(kind) and kind is field.type):
        raise Problem(
            422, f"column {field.name!r} is of type {str(field.type)[:60]}: numbers, truth values, "
            "texts, dates and durations are read.", column=field.name,
        )  # fmt: skip


# ---------------------------------------------------------------------- packed streams
def _refuse_packed(body: bytes) -> None:
    """Refuse compressed batches: a few bytes of them can stand for gigabytes."""
    at = 0
    while at + 8 <= len(body):
        if body[at : at + 4] == CONTINUATION:
            at += 4
        (size,) = struct.unpack_from("<i", body, at)
        at += 4
        if size <= 0:
            return
        message = body[at : at + size]
        at += size + _check_message(message)


def _check_message(message: bytes) -> int:
    """Length of the body that follows; see Message.fbs and Schema.fbs of Arrow."""
    root = _table(message, struct.unpack_from("<I", message, 0)[0])
    kind = message[root[1]] if root.get(1) else 0
    header = _follow(message, root, 2)
    if kind == DICTIONARY and header is not None:
        header, kind = _follow(message, header, 1), RECORD_BATCH
    if kind == RECORD_BATCH and header is not None and header.get(3):
        raise Problem(422, "Compressed batches are not read: write the stream without compression.")
    length = struct.unpack_from("<q", message, root[3])[0] if root.get(3) else 0
    if length < 0:
        raise Problem(400, "The body is not a stream of Arrow: a message has a negative length.")
    return int(length)


def _table(data: bytes, at: int) -> dict[int, int]:
    """Positions of the fields of a flatbuffer's table, those that are there."""
    (back,) = struct.unpack_from("<i", data, at)
    first = at - back
    if first < 0:
        raise IndexError("a table begins before its buffer")
    (size,) = struct.unpack_from("<H", data, first)
    offsets = struct.unpack_from(f"<{max(0, size // 2 - 2)}H", data, first + 4)
    return {number: at + offset for number, offset in enumerate(offsets) if offset}


def _follow(data: bytes, table: dict[int, int], number: int) -> dict[int, int] | None:
    if number not in table:
        return None
    at = table[number]
    return _table(data, at + struct.unpack_from("<I", data, at)[0])
