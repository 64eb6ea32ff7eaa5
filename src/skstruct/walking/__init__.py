# SPDX-License-Identifier: BSD-3-Clause
"""Markov chains among the outputs of a structure, many at once in compiled code."""
