# SPDX-License-Identifier: BSD-3-Clause
"""Any finite list of any Python objects."""
