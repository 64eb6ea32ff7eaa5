# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders of named items: which come before which, and which pairs are left open."""
