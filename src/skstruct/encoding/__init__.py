# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers, names, dates and missing cells as the numbers that learners read."""

from skstruct.encoding.encoder import TableEncoder
from skstruct.encoding.tables import Table

__all__ = ["Table", "TableEncoder"]
