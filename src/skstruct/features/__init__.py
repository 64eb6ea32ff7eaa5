# SPDX-License-Identifier: BSD-3-Clause
"""Features of inputs that are no tables: the tokens of sentences."""

from skstruct.features.token_features import TokenFeatures

__all__ = ["TokenFeatures"]
