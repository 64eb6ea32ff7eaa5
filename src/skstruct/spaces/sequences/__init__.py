# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of symbols, and strings under n-gram counts."""
