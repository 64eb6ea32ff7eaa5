# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression from moments of the space: no output is searched for in training."""
