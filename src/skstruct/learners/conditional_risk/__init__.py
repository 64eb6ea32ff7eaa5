# SPDX-License-Identifier: BSD-3-Clause
"""Conditional risk minimization: regress on embedded outputs, apply the loss, take the argmin."""
