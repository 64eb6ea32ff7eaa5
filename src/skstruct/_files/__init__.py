# SPDX-License-Identifier: BSD-3-Clause
"""Files that are whole or not there: atomic writing, checked containers."""
