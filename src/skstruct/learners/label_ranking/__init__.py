# SPDX-License-Identifier: BSD-3-Clause
"""Label rankers: rankings learned from rankings, by reductions, margins, trees, neighbors."""
