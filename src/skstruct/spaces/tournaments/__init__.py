# SPDX-License-Identifier: BSD-3-Clause
"""Tournaments: which item of each pair wins, with or without open pairs."""
