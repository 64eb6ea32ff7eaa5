# SPDX-License-Identifier: BSD-3-Clause
"""Costs over amounts that add up to a total."""
