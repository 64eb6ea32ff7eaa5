# SPDX-License-Identifier: BSD-3-Clause
"""All readers that are tried with broken files, by name."""

from __future__ import annotations

import formats_arff
import formats_lines
import formats_options
import formats_tables
from file_format import FileFormat

FORMATS: dict[str, FileFormat] = {
    format.name: format
    for module in (formats_arff, formats_lines, formats_tables, formats_options)
    for format in module.FORMATS
    if format.seeds  # of Parquet there are none where its libraries are missing
}
