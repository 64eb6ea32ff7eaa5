# SPDX-License-Identifier: BSD-3-Clause
"""Outputs whose features are near to weighted sums of features."""
