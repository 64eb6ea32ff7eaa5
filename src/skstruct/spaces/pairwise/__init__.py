# SPDX-License-Identifier: BSD-3-Clause
"""Labels that have costs by pairs."""
