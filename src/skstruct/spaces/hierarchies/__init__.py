# SPDX-License-Identifier: BSD-3-Clause
"""Label sets that hold the parents of their members."""
