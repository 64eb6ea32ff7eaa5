# SPDX-License-Identifier: BSD-3-Clause
"""Decisions of a solver that somebody already has."""
