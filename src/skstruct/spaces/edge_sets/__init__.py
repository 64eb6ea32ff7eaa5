# SPDX-License-Identifier: BSD-3-Clause
"""What spaces of edge sets share: named nodes and edges, formats, constraints, distributions."""
