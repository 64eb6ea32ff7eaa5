# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between strings, through the n-grams that they have in common."""
