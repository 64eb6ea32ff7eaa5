# SPDX-License-Identifier: BSD-3-Clause
"""Costs of labels and of pairs of labels, in any graph: decoding, inference, proposals."""
