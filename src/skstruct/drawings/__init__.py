# SPDX-License-Identifier: BSD-3-Clause
"""Outputs drawn in their structure, as SVG that pages and reports hold."""

from skstruct.drawings.draw import Drawing, draw, stylesheet

__all__ = ["Drawing", "draw", "stylesheet"]
