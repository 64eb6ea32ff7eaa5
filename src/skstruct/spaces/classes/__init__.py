# SPDX-License-Identifier: BSD-3-Clause
"""One class out of several."""
