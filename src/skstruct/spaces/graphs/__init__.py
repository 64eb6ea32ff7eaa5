# SPDX-License-Identifier: BSD-3-Clause
"""Sets of edges between named nodes."""
