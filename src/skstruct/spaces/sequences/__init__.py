# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of symbols, embedded by which symbol is at which position."""
