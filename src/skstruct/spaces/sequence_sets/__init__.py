# SPDX-License-Identifier: BSD-3-Clause
"""What sequences and strings share: symbols, constraints, formats, distributions, proposals."""
