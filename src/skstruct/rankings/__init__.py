# SPDX-License-Identifier: BSD-3-Clause
"""Rankings without a learner: aggregation with a certificate, distances, correlations."""

from skstruct.rankings.aggregation import Aggregate, aggregate
from skstruct.rankings.comparisons import distance, kendall_tau, spearman_rho
from skstruct.rankings.conversions import orders_from_ranks, ranks_from_orders

__all__ = [
    "Aggregate",
    "aggregate",
    "distance",
    "kendall_tau",
    "orders_from_ranks",
    "ranks_from_orders",
    "spearman_rho",
]
