# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number, one per row and coordinate: minimized, sampled, convexified."""
