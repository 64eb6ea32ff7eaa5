# SPDX-License-Identifier: BSD-3-Clause
"""Risk certificates: what can be promised of a fitted model on new rows, one file per theorem."""

from skstruct.bounds.certificate import Certificate, largest_loss
from skstruct.bounds.held_out import held_out_bound
from skstruct.bounds.pac_bayes import (
    compression_bound,
    compression_slack,
    pac_bayes_bound,
    pac_bayes_value,
)
from skstruct.bounds.stability import stability_bound, stability_slack

__all__ = [
    "Certificate",
    "compression_bound",
    "compression_slack",
    "held_out_bound",
    "largest_loss",
    "pac_bayes_bound",
    "pac_bayes_value",
    "stability_bound",
    "stability_slack",
]
