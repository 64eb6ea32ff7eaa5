# SPDX-License-Identifier: BSD-3-Clause
"""Which files are too large to be held, by their sizes and by what was asked for alone."""

import gzip
import lzma
from pathlib import Path
from typing import Any

import click

LARGE = 1 << 25  # bytes of a table: beyond, rows are read in blocks where they can be
MEMORY = "4GB"
_LOOKED_AT = 1 << 20  # bytes of text that tell how many cells there are
_COPIES = 32  # bytes for each number of a table: as it is read, chosen, encoded and learned from
_XML = 6  # bytes for each byte of the sheets of an Excel file, unpacked
_WORDS = 300  # bytes for each word of a sentence and its features


def is_large(path: str | Path, format_name: str | None) -> bool:
    """Whether a file that has blocks of rows is read so without being asked."""
    from skstruct.datasets.blocks import has_blocks

    return has_blocks(path, format_name) and _table_bytes(Path(path)) > LARGE


def _table_bytes(path: Path) -> Any:
    """About the size of the numbers of a CSV or Parquet file."""
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        return _parquet_cells(path) * 8
    return int(path.stat().st_size * _unpacked_share(path)[0])


def check_memory(path: str | Path, format_name: str | None, memory: str | None) -> None:
    """Refuse a file that would take more memory than allowed when it is read as a whole.

    Parameters
    ----------
    memory : str
        Such as ``"4GB"``.
    """
    from skstruct._arrays.memory import parse_memory
    from skstruct.cli.exit_codes import bad_data
    from skstruct.datasets.encodings import text_path
    from skstruct.datasets.reading import find_format

    try:
        most = parse_memory(MEMORY if memory is None else memory)
    except ValueError as error:
        raise click.UsageError(f"--memory: {error}") from None
    with bad_data():
        chosen = find_format(text_path(path), format_name)[0].name
    needed = _needed(Path(path), chosen)
    if needed > most:
        raise click.ClickException(
            f"{path}: to read all of it takes about {_size(needed)}, more than {_size(most)} "
            "(--memory). Only CSV or Parquet files are read in blocks, by fit with the learners "
            "kernel and linear, and by predict: convert the file, take fewer rows, or allow more: "
            f"--memory {-(-needed // 10**9)}GB."
        )


def _needed(path: Path, format_name: str) -> Any:
    if format_name == "parquet":
        return _parquet_cells(path) * _COPIES
    if format_name == "excel":
        from skstruct.datasets.formats.excel import unpacked_bytes

        return unpacked_bytes(path) * _XML
    share, text = _unpacked_share(path)
    if not text:
        return 0
    n_cells = sum(text.count(mark) for mark in (b",", b";", b"\t", b" ", b"\n"))
    cells = path.stat().st_size * share * n_cells / len(text)
    return int(cells * (_WORDS if format_name in ("conll", "conllu", "letters") else _COPIES))


def _parquet_cells(path: Path) -> Any:
    from skstruct.datasets.formats.parquet import parquet_blocks

    source = parquet_blocks(path)
    return source.n_rows * len(source.names)


def _unpacked_share(path: Path) -> tuple[float, bytes]:
    """How many times longer the text of a file is than its bytes, and its beginning."""
    with open(path, "rb") as file:
        if path.suffix not in (".gz", ".xz"):
            return 1.0, file.read(_LOOKED_AT)
        opened = gzip.open if path.suffix == ".gz" else lzma.open
        try:
            with opened(file, "rb") as packed:
                text = packed.read(_LOOKED_AT)
        except (OSError, EOFError, lzma.LZMAError):
            return 1.0, b""  # said by whoever reads it
        return max(1.0, len(text) / max(1, min(file.tell(), path.stat().st_size))), text


def _size(n_bytes: Any) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.2f} MB"
