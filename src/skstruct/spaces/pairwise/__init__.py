# SPDX-License-Identifier: BSD-3-Clause
"""Labels, and states of labels, that have costs by pairs."""
