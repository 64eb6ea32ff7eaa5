# SPDX-License-Identifier: BSD-3-Clause
"""What a model was trained on, what it gets right and wrong, and how sure it is: one page."""

from skstruct.reports.card import write_model_card
from skstruct.reports.writing import write_report

__all__ = ["write_model_card", "write_report"]
