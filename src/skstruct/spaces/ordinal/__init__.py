# SPDX-License-Identifier: BSD-3-Clause
"""One level of an ordered scale."""
