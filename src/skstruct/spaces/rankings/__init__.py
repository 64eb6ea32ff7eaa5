# SPDX-License-Identifier: BSD-3-Clause
"""Rankings: total orders of items, by ranks, positions or pairs."""
