# SPDX-License-Identifier: BSD-3-Clause
"""MULAN's label sets: ARFF files with a list of labels in XML, or MEKA's ``-C`` instead."""

from __future__ import annotations

import re
from pathlib import Path

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.formats.arff import declares, read_arff_data
from skstruct.datasets.formats.arff_writer import write_arff_data
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.text import stem
from skstruct.datasets.label_list import read_label_list
from skstruct.exceptions import DataFormatError

_PART = re.compile(r"[-_.](train|test|valid|validation|dev)(?=$|[-_.])", re.IGNORECASE)


def label_list_for(path, options, names, remarks):
    """Labels and edges of the list that was given or lies beside the file, or None."""
    if options.labels_file is not None:
        labels, edges = read_label_list(options.labels_file)
        unknown = next((label for label in labels if label not in set(names)), None)
        if unknown is not None:
            raise DataFormatError(
                f"the list of labels names {unknown[:60]!r}, which is no attribute of this file"
            )
        return labels, edges
    beside = _beside(Path(path))
    if beside is None:
        return None
    labels, edges = read_label_list(beside)
    if not set(labels) <= set(names):
        remarks.append(f"{beside.name} lists labels of other names, and is not used.")
        return None
    remarks.append(f"The labels are those listed in {beside.name}.")
    return labels, edges


def _beside(path):
    """The list x.xml of x.arff, x-train.arff or x-test.arff, packed or not."""
    name = stem(path)
    for candidate in dict.fromkeys((name, _PART.sub("", name))):
        for ending in (".xml", ".xml.xz", ".xml.gz"):
            file = path.with_name(candidate + ending)
            if candidate and file.is_file():
                return file
    return None


def read_mulan(path, options: ReadOptions) -> Dataset:
    """Read an ARFF file whose labels are told by a list, by ``-C`` or by targets.

    Raises
    ------
    DataFormatError
        Tells line and column; also if nothing tells the labels.
    """
    data = read_arff_data(path, options)
    if options.targets is None and data.format != "mulan":
        problem = (
            "nothing tells the labels; give MULAN's list (labels_file), put it beside the file, "
            "or name the attributes (targets)"
        )
        raise DataFormatError(problem, path=path)
    return data


def _sniff(file_name: str, lines: list[str]) -> bool:
    return declares(lines, r"@relation\s.*-c\s+-?\d")


FORMAT = Format(
    name="mulan",
    suffixes=(".arff",),
    tasks=("labels", "hierarchy", "regression", "ranking", "histogram", "classes", "ordinal"),
    about="label sets of MULAN (ARFF and a list of labels in XML) or MEKA (-C in the relation)",
    sniff=_sniff,
    read=read_mulan,
    write=write_arff_data,
)
