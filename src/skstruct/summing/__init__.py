# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums over all outputs of a structure: partition functions, marginals, draws."""
