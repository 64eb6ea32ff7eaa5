# SPDX-License-Identifier: BSD-3-Clause
"""Chains of symbols: the cheapest, the k cheapest, counts and samples."""
