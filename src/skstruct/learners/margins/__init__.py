# SPDX-License-Identifier: BSD-3-Clause
"""Learners that keep the truth ahead of all other outputs by a margin."""
