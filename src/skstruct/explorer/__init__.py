# SPDX-License-Identifier: BSD-3-Clause
"""A live page of a model: rows, predictions in their structure, and what would change them."""

from skstruct.explorer.running import explore, make_app

__all__ = ["explore", "make_app"]
