# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that are numbers: intervals, boxes, histograms, polytopes, flows, directions."""
