# SPDX-License-Identifier: BSD-3-Clause
"""All that writes files in the library, as functions of a path and a number: other bytes each.

And writers with a bug, which whoever watches writers has to catch.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

from skstruct import ConditionalRiskMinimizer, save_model
from skstruct._files.atomic import replacing
from skstruct._files.container import write_container
from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.writing import write_data
from skstruct.drawings import draw
from skstruct.reports import write_model_card
from skstruct.streaming import ArraySource
from skstruct.streaming.writing import predict_partitions, write_batches

MODELS = [
    ConditionalRiskMinimizer(alpha=alpha).fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    for alpha in (1.0, 2.0, 3.0)
]


def numbers(number, most=6000):
    """Some numbers, between one and more than buffers hold."""
    rng = np.random.default_rng(number)
    return rng.standard_normal(int(rng.choice([1, 40, most])))


def text(path, number):
    with replacing(path) as file:
        for value in numbers(number):
            file.write(f"{value}\n")


def octets(path, number):
    with replacing(path, "wb") as file:
        file.write(numbers(number).tobytes())
        file.write(b"end")


def container(path, number):
    write_container(path, "trial", {"number": number}, {"a": numbers(number), "b": np.arange(3)})


def model(path, number):
    save_model(MODELS[number % len(MODELS)], path)


def data(path, number):
    X = numbers(number, 900)[:, None]
    y = np.where(X[:, 0] > 0, "yes", "no")
    table = Table(("a",), (None,), X)
    write_data(Dataset("rows", "csv", "classes", table, y, ("no", "yes")), path)


def batches(path, number):
    write_batches(({"a": part} for part in np.array_split(numbers(number), 3)), path)


def card(path, number):
    write_model_card(MODELS[number % len(MODELS)], path)


def drawing(path, number):
    draw(MODELS[0].space_, number % 2).save(path)


def parts(path, number):
    X = numbers(number, 300)[:, None]
    predict_partitions(lambda block: {"twice": 2 * block.X[:, 0]}, ArraySource(X), path, count=2)


WRITERS = {
    "text": (text, "a.txt"),
    "bytes": (octets, "a.bin"),
    "container": (container, "a.box"),
    "model": (model, "a.model"),
    "csv": (data, "a.csv"),
    "csv, gzip": (data, "a.csv.gz"),
    "csv, xz": (data, "a.csv.xz"),
    "arff": (data, "a.arff"),
    "batches, csv": (batches, "b.csv"),
    "batches, parquet": (batches, "b.parquet"),
    "card": (card, "card.md"),
    "drawing": (drawing, "a.svg"),
    "parts": (parts, "folder"),
}


# With a bug each.


def no_sync(path, number):
    """The file is not flushed to the disk before it is renamed."""
    unsafe(path, number, file_sync=False)


def no_folder_sync(path, number):
    """Its new name is not flushed."""
    unsafe(path, number, folder_sync=False)


def sync_too_late(path, number):
    """Flushed after it was renamed."""
    unsafe(path, number, file_sync=False)
    handle = os.open(path, os.O_RDWR)
    os.fsync(handle)
    os.close(handle)


def litter(path, number):
    """A temporary file stays after an error."""
    unsafe(path, number, clean=False)


def in_place(path, number):
    with open(path, "wb") as file:
        file.write(numbers(number).tobytes())
        file.flush()
        os.fsync(file.fileno())


def part_by_part(path, number):
    """Files come into a folder one after another."""
    Path(path).mkdir(exist_ok=True)
    for name in "ab":
        unsafe(Path(path) / name, number)


def unsafe(path, number, file_sync=True, folder_sync=True, clean=True):
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            os.chmod(temporary, 0o644)
            file.write(numbers(number).tobytes())
            file.flush()
            if file_sync:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if clean:
            os.unlink(temporary)
        raise
    if folder_sync:
        handle = os.open(path.parent, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


BUGS = {
    "no fsync": (no_sync, "a"),
    "no fsync of the folder": (no_folder_sync, "a"),
    "fsync too late": (sync_too_late, "a"),
    "litter": (litter, "a"),
    "in place": (in_place, "a"),
    "part by part": (part_by_part, "folder"),
}
