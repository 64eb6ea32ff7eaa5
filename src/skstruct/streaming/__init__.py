# SPDX-License-Identifier: BSD-3-Clause
"""Rows in blocks: from arrays, files and iterators, by one process or by many."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names
from skstruct.streaming.sources import as_source, is_source

if TYPE_CHECKING:
    from skstruct.streaming.arrays import ArraySource
    from skstruct.streaming.blocks import Block, Partition, Source
    from skstruct.streaming.engines import DaskEngine
    from skstruct.streaming.iterators import IteratorSource
    from skstruct.streaming.parquet import ParquetSource
    from skstruct.streaming.prediction import decode_batches, predict_batches, predict_parquet
    from skstruct.streaming.writing import write_batches

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ArraySource": "arrays",
        "Block": "blocks",
        "DaskEngine": "engines",
        "IteratorSource": "iterators",
        "ParquetSource": "parquet",
        "Partition": "blocks",
        "Source": "blocks",
        "decode_batches": "prediction",
        "predict_batches": "prediction",
        "predict_parquet": "prediction",
        "write_batches": "writing",
    },
)

__all__ = [
    "ArraySource",
    "Block",
    "DaskEngine",
    "IteratorSource",
    "ParquetSource",
    "Partition",
    "Source",
    "as_source",
    "decode_batches",
    "is_source",
    "predict_batches",
    "predict_parquet",
    "write_batches",
]
