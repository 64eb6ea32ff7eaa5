# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of rows, finite checks, ties, containers: what knows arrays and nothing else."""
