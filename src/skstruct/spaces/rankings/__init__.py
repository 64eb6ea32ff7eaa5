# SPDX-License-Identifier: BSD-3-Clause
"""Total orders of items."""
