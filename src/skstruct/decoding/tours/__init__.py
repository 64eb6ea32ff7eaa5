# SPDX-License-Identifier: BSD-3-Clause
"""Cheapest cycles through some of the places: a table of subsets, a search, and bounds."""
