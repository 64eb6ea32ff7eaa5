# SPDX-License-Identifier: BSD-3-Clause
"""File formats, those that are recognized more surely first."""

from skstruct.datasets.formats import (
    conll,
    conllu,
    csv_files,
    excel,
    label_ranking,
    letters,
    libsvm,
    parquet,
)
from skstruct.datasets.formats.arff import dialects

FORMATS = (
    parquet.FORMAT,
    excel.FORMAT,
    dialects.CLUS,
    dialects.MULAN,
    dialects.ARFF,
    letters.FORMAT,
    label_ranking.FORMAT,
    libsvm.FORMAT,
    conllu.FORMAT,
    conll.FORMAT,
    csv_files.FORMAT,
)
