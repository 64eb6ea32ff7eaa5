# SPDX-License-Identifier: BSD-3-Clause
"""Readers of public data sets, and generators of data."""

from skstruct.datasets.arff import ArffError, ArffTable, read_arff
from skstruct.datasets.base import HierarchicalData, MultilabelData
from skstruct.datasets.digits import load_digit_shapes
from skstruct.datasets.generators import (
    make_hierarchical,
    random_dag_arcs,
    random_forest_parents,
)
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.home import data_file, data_home, open_text
from skstruct.datasets.multilabel import load_multilabel

__all__ = [
    "ArffError",
    "ArffTable",
    "HierarchicalData",
    "MultilabelData",
    "data_file",
    "data_home",
    "load_digit_shapes",
    "load_hierarchical",
    "load_multilabel",
    "make_hierarchical",
    "open_text",
    "random_dag_arcs",
    "random_forest_parents",
    "read_arff",
]
