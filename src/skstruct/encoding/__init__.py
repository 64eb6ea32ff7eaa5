# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers, names, dates and missing cells as the numbers that learners read."""

from skstruct.encoding.encoder import TableEncoder

__all__ = ["TableEncoder"]
