# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of blocks that several parts work in, each with its meaning.

A size of one part alone stands beside its code. Larger blocks save calls, smaller ones memory:
results do not depend on them beyond the rounding of sums.
"""

AT_ONCE = 1 << 22
"""Numbers of a temporary array (32 MB of float64): far more than a call costs, and below what a
laptop notices.
"""
