# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families over structured outputs: learning by maximum a posteriori."""
