# SPDX-License-Identifier: BSD-3-Clause
"""Chains of symbols: of least cost, the k best, counted, drawn, summed."""
