# SPDX-License-Identifier: BSD-3-Clause
"""A live page of a model: rows, predictions in their structure, and what would change them."""
