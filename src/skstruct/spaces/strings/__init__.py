# SPDX-License-Identifier: BSD-3-Clause
"""Strings embedded by how often each n-gram occurs."""
