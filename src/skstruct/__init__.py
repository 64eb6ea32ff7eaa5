# SPDX-License-Identifier: BSD-3-Clause
"""Structured prediction with scikit-learn's manners."""
