# SPDX-License-Identifier: BSD-3-Clause
"""The ARFF dialect of CLUS, with a hierarchical class."""

from __future__ import annotations

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.formats.arff import declares, read_arff_data
from skstruct.datasets.formats.arff_writer import write_arff_data
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.exceptions import DataFormatError


def read_clus(path, options: ReadOptions) -> Dataset:
    """Read an ARFF file with a hierarchical class.

    Raises
    ------
    DataFormatError
        Tells line and column; also if there is no such class.
    """
    data = read_arff_data(path, options)
    if options.targets is None and data.format != "clus":
        raise DataFormatError("no attribute is hierarchical", path=path)
    return data


def _sniff(file_name: str, lines: list[str]) -> bool:
    return declares(lines, r"@attribute\s.*\shierarchical\s")


FORMAT = Format(
    name="clus",
    suffixes=(".arff",),
    tasks=("hierarchy", "labels"),
    about="ARFF of CLUS, with a hierarchical class and key attributes",
    sniff=_sniff,
    read=read_clus,
    write=write_arff_data,
)
