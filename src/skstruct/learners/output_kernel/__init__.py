# SPDX-License-Identifier: BSD-3-Clause
"""Regression in the feature space of an output kernel, and the nearest output there."""
