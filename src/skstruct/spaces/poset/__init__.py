# SPDX-License-Identifier: BSD-3-Clause
"""One element of a partially ordered set."""
