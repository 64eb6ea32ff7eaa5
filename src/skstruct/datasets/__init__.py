# SPDX-License-Identifier: BSD-3-Clause
"""Readers of public data sets, and generators of data."""

from skstruct.datasets.dataset import (
    Dataset,
    HierarchicalData,
    LabelRankingData,
    MultilabelData,
    Table,
)
from skstruct.datasets.files import data_file, data_home, open_text
from skstruct.datasets.formats.arff.reading import ArffError, ArffTable, read_arff
from skstruct.datasets.generated_labels import (
    LabelTree,
    LabelTreeData,
    make_hierarchical,
    make_label_tree,
    random_dag_arcs,
    random_forest_parents,
    random_tree_edges,
)
from skstruct.datasets.generated_quantities import (
    RegressionData,
    StreetNetwork,
    make_network_flows,
    make_outlier_regression,
)
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.images import (
    DigitImages,
    TokenData,
    WordImages,
    load_digit_shapes,
    load_ocr_words,
    load_usps,
    make_digit_chains,
)
from skstruct.datasets.multilabel import fetch_multilabel, load_multilabel
from skstruct.datasets.rankings import load_label_ranking, rank_classes
from skstruct.datasets.reading import read_data
from skstruct.datasets.sequences import EnzymeData, TaggedSentences, load_conll2000, load_enzymes
from skstruct.datasets.tours import (
    GeneratedTours,
    PolicyTours,
    TourData,
    load_flickr_tours,
    make_identity_labels,
    make_policy_tours,
    make_tours,
)
from skstruct.datasets.writing import write_data

__all__ = [
    "ArffError",
    "ArffTable",
    "Dataset",
    "DigitImages",
    "EnzymeData",
    "GeneratedTours",
    "HierarchicalData",
    "LabelRankingData",
    "LabelTree",
    "LabelTreeData",
    "MultilabelData",
    "PolicyTours",
    "RegressionData",
    "StreetNetwork",
    "Table",
    "TaggedSentences",
    "TokenData",
    "TourData",
    "WordImages",
    "data_file",
    "data_home",
    "fetch_multilabel",
    "load_conll2000",
    "load_digit_shapes",
    "load_enzymes",
    "load_flickr_tours",
    "load_hierarchical",
    "load_label_ranking",
    "load_multilabel",
    "load_ocr_words",
    "load_usps",
    "make_digit_chains",
    "make_hierarchical",
    "make_identity_labels",
    "make_label_tree",
    "make_network_flows",
    "make_outlier_regression",
    "make_policy_tours",
    "make_tours",
    "open_text",
    "random_dag_arcs",
    "random_forest_parents",
    "random_tree_edges",
    "rank_classes",
    "read_arff",
    "read_data",
    "write_data",
]
