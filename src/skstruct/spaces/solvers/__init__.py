# SPDX-License-Identifier: BSD-3-Clause
"""Solvers on plain arrays that structures share; compiled loops are in ``_numba`` files."""
