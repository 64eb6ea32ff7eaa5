# SPDX-License-Identifier: BSD-3-Clause
"""Linear, quadratic and separable costs over linear constraints."""
