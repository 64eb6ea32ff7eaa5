# SPDX-License-Identifier: BSD-3-Clause
"""Outputs drawn in their structure, as SVG that pages and reports hold."""
