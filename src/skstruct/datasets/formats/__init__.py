# SPDX-License-Identifier: BSD-3-Clause
"""File formats, those that are told apart more surely first."""

from skstruct.datasets.formats import (
    arff,
    clus,
    conll,
    csv_files,
    label_ranking,
    letters,
    libsvm,
    mulan,
    parquet,
)

FORMATS = (
    parquet.FORMAT,
    clus.FORMAT,
    mulan.FORMAT,
    arff.FORMAT,
    letters.FORMAT,
    label_ranking.FORMAT,
    libsvm.FORMAT,
    conll.FORMAT,
    csv_files.FORMAT,
)
