# SPDX-License-Identifier: BSD-3-Clause
"""Files like letter.data: a handwritten letter per line, 16 by 8 pixels."""

from pathlib import Path
from typing import Any

import numpy as np

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import read_lines, stem
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.exceptions import DataFormatError

N_PIXELS = 128
_N_FIELDS = 6 + N_PIXELS  # id, letter, id of the next, word, position, fold, pixels
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def read_letters(path: Path, options: ReadOptions) -> Dataset:
    """Read words, letter by letter.

    On each line, separated by tabs: number of the letter, letter, number of the next letter of
    the word (-1 at its end), word, position, fold, and 128 pixels.

    Raises
    ------
    DataFormatError
        Tells the line.
    """
    path = text_path(path)
    try:
        symbols, nexts, folds, pixels = _read(read_lines(path))
    except DataFormatError as error:
        raise error.at(path=path) from None
    ends = np.flatnonzero(np.array(nexts) == -1) + 1
    starts = np.concatenate([[0], ends[:-1]])
    return Dataset(
        stem(path),
        "letters",
        "sequence",
        [pixels[start:end] for start, end in zip(starts, ends)],
        [tuple(symbols[start:end]) for start, end in zip(starts, ends)],
        labels=tuple(sorted(set(symbols))),
        folds=np.array(folds, dtype=np.int64)[starts],
    )


def _read(lines: list[str]) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], np.ndarray]:
    """Letters, numbers of the next ones, folds, and pixels of all lines."""
    letters = [_letter(number, line) for number, line in enumerate(lines, 1)]
    if not letters or letters[-1][1] != -1:
        raise DataFormatError("the last word has no end (-1)", line=len(letters))
    symbols, nexts, folds, pixels = zip(*letters)
    return symbols, nexts, folds, np.array(pixels, dtype=np.float64)


def _letter(number: int, line: str) -> tuple[str, int, int, np.ndarray]:
    fields = line.rstrip("\t ").split("\t")
    if len(fields) != _N_FIELDS:
        raise DataFormatError(
            f"expected {_N_FIELDS} fields separated by tabs, got {len(fields)}", line=number
        )
    symbol = fields[1]
    if len(symbol) != 1 or symbol not in _LETTERS:
        raise DataFormatError(f"{symbol[:60]!r} is not a letter of a to z", line=number, column=2)
    following, fold = _whole(fields[2], number, 3), _whole(fields[5], number, 6)
    pixels = "".join(fields[6:])
    if len(pixels) != N_PIXELS or pixels.strip("01"):
        column = next(j for j, field in enumerate(fields) if j > 5 and field not in ("0", "1"))
        raise DataFormatError(
            f"pixels are 0 or 1, got {fields[column][:60]!r}", line=number, column=column + 1
        )
    ink = np.frombuffer(pixels.encode("ascii"), dtype=np.uint8) == ord("1")
    return symbol, following, fold, ink


def _whole(text: str, number: int, column: int) -> int:
    digits = text[1:] if text[:1] == "-" else text
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 19):
        raise DataFormatError(f"{text[:60]!r} is not a whole number", line=number, column=column)
    return int(text)


def write_letters(dataset: Dataset, file: Any) -> None:
    """Write words of letters a to z with 128 pixels each; fold 0 where there are no folds."""
    inputs = dataset.inputs
    if dataset.outputs is None or dataset.task != "sequence" or not isinstance(inputs, list):
        raise DataFormatError("letters files hold words; this data set has none")
    folds = np.zeros(len(dataset), np.int64) if dataset.folds is None else dataset.folds
    number = 0
    for word, (images, symbols) in enumerate(zip(inputs, dataset.outputs), 1):
        _check_word(word, images, symbols)
        for position, (image, symbol) in enumerate(zip(images, symbols), 1):
            number += 1
            following = number + 1 if position < len(symbols) else -1
            fields = [number, symbol, following, word, position, int(folds[word - 1])]
            pixels = ["1" if pixel else "0" for pixel in image]
            file.write("\t".join([*map(str, fields), *pixels]) + "\n")


def _check_word(word: int, images: np.ndarray, symbols: tuple[Any, ...]) -> None:
    images = np.asarray(images)
    if images.dtype.kind not in "fiub" or images.shape != (len(symbols), N_PIXELS) or not symbols:
        raise DataFormatError(f"word {word} has no {N_PIXELS} numbers for each of its letters")
    if not np.isin(images, (0, 1)).all():
        raise DataFormatError(f"word {word} has pixels that are neither 0 nor 1")
    wrong = next((symbol for symbol in symbols if symbol not in set(_LETTERS)), None)
    if wrong is not None:
        raise DataFormatError(f"word {word} has the symbol {wrong!r}, not a letter of a to z")


def sniff(file_name: str, lines: list[str]) -> bool:
    """134 fields separated by tabs, a letter in the second."""
    fields = lines[0].rstrip("\t ").split("\t") if lines else []
    return len(fields) == _N_FIELDS and len(fields[1]) == 1


FORMAT = Format(
    name="letters",
    suffixes=(".data",),
    tasks=("sequence",),
    about="handwritten words, a letter of 16 by 8 pixels per line, as in letter.data",
    sniff=sniff,
    read=read_letters,
    write=write_letters,
)
