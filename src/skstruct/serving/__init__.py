# SPDX-License-Identifier: BSD-3-Clause
"""Models behind HTTP: loss, constraints, threshold and level are chosen in each request."""
