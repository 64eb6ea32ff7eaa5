# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regression on features that stand for a kernel, from sums that one pass collects."""
