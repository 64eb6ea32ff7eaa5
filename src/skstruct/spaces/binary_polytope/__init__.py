# SPDX-License-Identifier: BSD-3-Clause
"""The 0/1 points of a polytope."""
