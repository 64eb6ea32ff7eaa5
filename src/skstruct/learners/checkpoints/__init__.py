# SPDX-License-Identifier: BSD-3-Clause
"""Long fits that are saved on the way, and go on where they were stopped."""
