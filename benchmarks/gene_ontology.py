# SPDX-License-Identifier: BSD-3-Clause
"""The SPO_GO data with all terms of its ontology, not trimmed as papers do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.datasets.files import data_file
from skstruct.datasets.formats.arff.reading import read_arff
from skstruct.spaces import Hierarchy

SOURCE = "the folder HMC_data of the GitHub repository EGiunchiglia/C-HMCNN"


@dataclass(frozen=True)
class GeneOntology:
    """Standardized inputs, the terms of every training row, and the space of all terms."""

    space: Hierarchy
    X_train: np.ndarray
    terms_train: list
    X_test: np.ndarray


def load_gene_ontology() -> GeneOntology:
    """Training and validation rows merged; MissingDataError when the files are not here."""
    files = [f"spo_GO.{part}.arff" for part in ("train", "valid", "test")]
    tables = [read_arff(data_file("spo_go", file, source=SOURCE)) for file in files]
    train, valid, test = (table.one_hot()[0] for table in tables)
    X_train, X_test = standardized(np.vstack([train, valid]), test)
    terms = [*tables[0].classes, *tables[1].classes]
    return GeneOntology(Hierarchy(tables[0].hierarchy, close=True), X_train, terms, X_test)


def standardized(X_train, X_test):
    """Both arrays on the training rows' scale, zero where missing, outliers cut."""
    mean, scale = np.nanmean(X_train, axis=0), np.nanstd(X_train, axis=0) + 1e-12
    return [np.nan_to_num((X - mean) / scale).clip(-5.0, 5.0) for X in (X_train, X_test)]
