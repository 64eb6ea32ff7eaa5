# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets under the embedding of their labels and of products over parents."""

import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct._arrays.stopping import Limit
from skstruct.exceptions import UndecidableError
from skstruct.saving import savable
from skstruct.spaces.base import EmbeddingView, decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.indicator_sets.closed_products import ProductDag
from skstruct.spaces.indicator_sets.decoding import limit_constraints
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solving import Solving
from skstruct.tolerances import ROUNDING_GAP

MOST_BRANCHES = 500  # of a row, before an integer program
QUICK_BRANCHES = 4  # of a row, where no program follows


@savable
class ParentProducts(EmbeddingView):
    r"""Closed sets with :math:`\psi(y) = (y, z)`, :math:`z_j = \prod_{k \in P(j)} y_k`.

    One product for every label with two or more parents; for the others it is the single
    parent, or one. The hierarchical loss is bilinear here on any acyclic graph. Minimizing
    a linear cost is NP-hard with signed costs, so rows go through three doors:

    1. *a few min-cuts* fix labels that some best set has, or has not: all of them in most rows.
       Cuts also bound the others from below, and a set that attains the bound is optimal;
    2. *branch and bound* with such cuts;
    3. after hundreds of branchings, an integer program, LP first, with its bound.

    Rows of a view in haste, ``Solving.of(view).quick()``, go through the first door, and four
    branchings of the second.
    """

    embedding = "indicators and parents"
    exact = True  # whether argmin goes on until values and bounds are one
    _saved_arguments = ("space",)  # compiled code follows what else there is

    def __init__(self, space: Any) -> None:
        self.space = space

    @cached_property
    def _graph(self) -> ProductDag:
        return ProductDag(self.space.dag_)

    @property
    def shared_(self) -> np.ndarray:
        """Labels that have a product."""
        return self._graph.labels

    def embed(self, Z: np.ndarray) -> np.ndarray:
        Z = np.asarray(Z)
        return np.hstack([Z, self._graph.products(Z)]).astype(np.float64)

    def _over(self, space: Any) -> Self:
        other = copy.copy(self)  # constraints leave the graph as it is
        other.space = space
        return other

    def argmin(self, costs: np.ndarray) -> Decoded:
        costs, constraints = self._checked(costs), self.space.constraints_
        if constraints.one_path:
            outputs, values, bounds = self.space._decode_paths(costs, constraints, self.embed)
        elif constraints.is_sized or constraints.groups:
            outputs, values, bounds = self._by_program(costs, constraints)
        else:
            outputs, values, bounds = self._by_cuts(costs)
            open_ = np.flatnonzero(values - bounds > ROUNDING_GAP * np.abs(costs).sum(axis=1))
            if self.exact and len(open_):
                try:
                    best, least, lower = self._by_program(costs[open_], constraints, open_)
                except UndecidableError:  # the limits are met
                    return Decoded(outputs, values, bounds)
                rows = open_[least < values[open_]]
                outputs[rows] = best[least < values[open_]]
                values[open_] = np.minimum(values[open_], least)
                bounds[open_] = np.minimum(np.maximum(bounds[open_], lower), values[open_])
        return decoded_or_infeasible(outputs, values, bounds, self.space)

    def _checked(self, costs: np.ndarray) -> np.ndarray:
        self.space._check_rows(len(costs))
        width = len(self.labels_) + len(self.shared_)
        return check_costs(costs, width, used_by="ParentProducts")

    def _by_cuts(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best closed sets found, with lower bounds."""
        low, high = self.space._close_masks(self.space.constraints_)
        feasible = (low <= high).all(axis=1)
        check_feasible(np.broadcast_to(feasible, len(costs)), self.space)
        most = Limit().nodes(MOST_BRANCHES if self.exact else QUICK_BRANCHES)
        return self._graph.closed_sets(costs, low, high, most)

    def _by_program(
        self, costs: np.ndarray, constraints: Any, rows: Any = slice(None)
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        program, m = self._program(constraints), len(self.shared_)
        low, high = (
            mask if len(mask) == 1 else mask[rows] for mask in self.space._close_masks(constraints)
        )
        low = np.hstack([low, np.zeros((len(low), m), bool)])
        high = np.hstack([high, np.ones((len(high), m), bool)])
        points, values, bounds = program.solve_rows(costs, low, high)
        return points[:, : len(self.labels_)], values, bounds

    def _program(self, constraints: Any) -> BinaryProgram:
        """y and z binary, with y_j <= z_j <= y_k and z_j >= sum of y_k - |P(j)| + 1."""
        d, m = len(self.labels_), len(self.shared_)
        A, b, _, _ = limit_constraints(self.space.dag_, constraints)
        owner, parents = self._graph.owner, self._graph.parents
        counts = np.bincount(owner, minlength=m)
        each, arc = np.arange(m), np.arange(len(parents))
        below = _rows((each, self.shared_, 1.0), (each, d + each, -1.0), shape=(m, d + m))
        above = _rows((owner, parents, 1.0), (each, d + each, -1.0), shape=(m, d + m))
        inside = _rows((arc, d + owner, 1.0), (arc, parents, -1.0), shape=(len(arc), d + m))
        A = sparse.hstack([A, sparse.csr_array((A.shape[0], m))])
        right = np.concatenate([b, np.zeros(m), counts - 1.0, np.zeros(len(arc))])
        stacked = sparse.vstack([A, below, above, inside], format="csr")
        return BinaryProgram(stacked, right, sparse.csr_array((0, d + m)), np.zeros(0))


def _rows(*entries: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix from (row, column, value) triples of arrays and a number."""
    row = np.concatenate([entry[0] for entry in entries])
    column = np.concatenate([entry[1] for entry in entries])
    value = np.concatenate([np.full(len(entry[0]), entry[2]) for entry in entries])
    return sparse.csr_array((value, (row, column)), shape=shape)


Solving.at(ParentProducts, "skstruct.spaces.indicator_sets.solving:SolvingOfProducts")
Coordinates.at(ParentProducts, "skstruct.spaces.indicator_sets.coordinates:CoordinatesOfProducts")
Known.at(ParentProducts, "skstruct.spaces.indicator_sets.known:KnownOfProducts")
Inference.at(ParentProducts, "skstruct.spaces.indicator_sets.inference:InferenceOfProducts")
