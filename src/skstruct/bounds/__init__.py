# SPDX-License-Identifier: BSD-3-Clause
"""Risk certificates: what can be promised of a fitted model on new rows, one file per theorem."""

from skstruct.bounds.certificate import Certificate
from skstruct.bounds.comparison import ComparisonConstant, comparison_constant
from skstruct.bounds.held_out import held_out_bound
from skstruct.bounds.pac_bayes import (
    compression_bound,
    pac_bayes_bound,
)
from skstruct.bounds.stability import stability_bound

__all__ = [
    "Certificate",
    "ComparisonConstant",
    "comparison_constant",
    "compression_bound",
    "held_out_bound",
    "pac_bayes_bound",
    "stability_bound",
]
