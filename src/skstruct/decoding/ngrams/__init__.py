# SPDX-License-Identifier: BSD-3-Clause
"""Strings under counts of their n-grams: cheapest paths, pre-images, uniform distributions."""
