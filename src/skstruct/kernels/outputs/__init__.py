# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between outputs."""
