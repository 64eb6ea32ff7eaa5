# SPDX-License-Identifier: BSD-3-Clause
"""Solvers that know arrays only; compiled loops are in the ``_compiled`` modules."""
