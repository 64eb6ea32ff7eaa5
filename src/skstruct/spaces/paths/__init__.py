# SPDX-License-Identifier: BSD-3-Clause
"""Simple paths from a source to a target, as sets of arcs."""
