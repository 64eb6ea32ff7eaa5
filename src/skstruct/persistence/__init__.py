# SPDX-License-Identifier: BSD-3-Clause
"""Fitted models as files that hold data only: nothing in them can run."""

from skstruct.persistence.model_files import describe_model, load_model, save_model

__all__ = ["describe_model", "load_model", "save_model"]
