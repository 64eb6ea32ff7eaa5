# SPDX-License-Identifier: BSD-3-Clause
"""Readers of public data sets, and generators of data."""

from skstruct.datasets.arff import ArffError, ArffTable, read_arff
from skstruct.datasets.base import HierarchicalData, LabelRankingData, MultilabelData
from skstruct.datasets.chunking import TaggedSentences, load_conll2000
from skstruct.datasets.dataset import Dataset
from skstruct.datasets.digit_chains import TokenData, make_digit_chains
from skstruct.datasets.digits import load_digit_shapes
from skstruct.datasets.enzymes import EnzymeData, load_enzymes
from skstruct.datasets.generators import (
    make_hierarchical,
    random_dag_arcs,
    random_forest_parents,
)
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.home import data_file, data_home, open_text
from skstruct.datasets.label_ranking import load_label_ranking
from skstruct.datasets.label_trees import (
    LabelTree,
    LabelTreeData,
    make_label_tree,
    random_tree_edges,
)
from skstruct.datasets.multilabel import load_multilabel
from skstruct.datasets.ocr_words import WordImages, load_ocr_words
from skstruct.datasets.openml import fetch_multilabel
from skstruct.datasets.policies import PolicyTours, make_identity_labels, make_policy_tours
from skstruct.datasets.quantities import (
    RegressionData,
    make_network_flows,
    make_outlier_regression,
)
from skstruct.datasets.ranked_classes import rank_classes
from skstruct.datasets.reading import read_data
from skstruct.datasets.streets import StreetNetwork
from skstruct.datasets.table import Table
from skstruct.datasets.tours import TourData, load_flickr_tours
from skstruct.datasets.town import TownTours, make_tours
from skstruct.datasets.usps import DigitImages, load_usps
from skstruct.datasets.writing import write_data

__all__ = [
    "ArffError",
    "ArffTable",
    "Dataset",
    "DigitImages",
    "EnzymeData",
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
    "TownTours",
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
