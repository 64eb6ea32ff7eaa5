# SPDX-License-Identifier: BSD-3-Clause
"""Separable costs of any shape over a polytope: convex envelopes, branch and bound."""
