# SPDX-License-Identifier: BSD-3-Clause
"""Knapsacks: sets of items whose weights keep within capacities."""
