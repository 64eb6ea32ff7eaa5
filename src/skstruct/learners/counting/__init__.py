# SPDX-License-Identifier: BSD-3-Clause
"""Learning from counts of the space alone: no output is searched for in training."""
