# SPDX-License-Identifier: BSD-3-Clause
"""Public data sets by name, files of data, and generators of data."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names

if TYPE_CHECKING:
    from skstruct.datasets.catalogue import load, names
    from skstruct.datasets.dataset import Dataset, Table
    from skstruct.datasets.files import data_home
    from skstruct.datasets.generated_labels import make_hierarchical, make_label_tree
    from skstruct.datasets.generated_quantities import (
        StreetNetwork,
        make_network_flows,
        make_outlier_regression,
    )
    from skstruct.datasets.images import make_digit_chains
    from skstruct.datasets.rankings import rank_classes
    from skstruct.datasets.reading import read_data
    from skstruct.datasets.roads import RoadData, make_travel_times
    from skstruct.datasets.tours import make_identity_labels, make_policy_tours, make_tours
    from skstruct.datasets.writing import write_data

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Dataset": "dataset",
        "RoadData": "roads",
        "StreetNetwork": "generated_quantities",
        "Table": "dataset",
        "data_home": "files",
        "load": "catalogue",
        "make_digit_chains": "images",
        "make_hierarchical": "generated_labels",
        "make_identity_labels": "tours",
        "make_label_tree": "generated_labels",
        "make_network_flows": "generated_quantities",
        "make_outlier_regression": "generated_quantities",
        "make_policy_tours": "tours",
        "make_tours": "tours",
        "make_travel_times": "roads",
        "names": "catalogue",
        "rank_classes": "rankings",
        "read_data": "reading",
        "write_data": "writing",
    },
)

__all__ = [
    "Dataset",
    "RoadData",
    "StreetNetwork",
    "Table",
    "data_home",
    "load",
    "make_digit_chains",
    "make_hierarchical",
    "make_identity_labels",
    "make_label_tree",
    "make_network_flows",
    "make_outlier_regression",
    "make_policy_tours",
    "make_tours",
    "make_travel_times",
    "names",
    "rank_classes",
    "read_data",
    "write_data",
]
