# SPDX-License-Identifier: BSD-3-Clause
"""Histograms: amounts that add up to a fixed total."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.saving import savable
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates, CoordinatesOfShares
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.quantities.base import QuantitySpace
from skstruct.spaces.quantities.constrained import boxes_for
from skstruct.spaces.solving import Solving
from skstruct.tolerances import OUTPUT_FEASIBLE, OUTPUT_RANGE, ROUNDING_GAP

CELLS = 64  # of the first samples of curves that are not piecewise linear


@savable
class Simplex(QuantitySpace):
    r"""Histograms, :math:`z_j \ge 0` and :math:`\sum_j z_j = T`.

    Shares, mixtures, probabilities, or percentages with ``total=100``. Linear, quadratic
    and root costs are minimized exactly, for signs of any kind; any other sum over entries
    with a certificate, which is zero up to rounding where the sum is convex. For up to 40 entries
    branch and bound closes what is left of the gap, mostly to 1e-7 of the risk.

    Parameters
    ----------
    total : float, default=1.0
        What every row adds up to.
    labels : sequence, default=None
        Names of the entries; columns of a frame, or numbers, when None.
    max_boxes : int, default=None
        Boxes that branch and bound looks at in each row that has a gap, before the gap that is
        left is reported in ``bounds``; 0 for none. None means 20,000 for up to 40 entries, and
        none for more.

    Examples
    --------
    >>> import numpy as np
    >>> space = Simplex().fit([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    >>> space.argmin(np.array([[1.0, -2.0, 0.0]])).outputs
    array([[0., 1., 0.]])
    >>> from skstruct.spaces import Embeddings
    >>> roots = Embeddings.of(space).view("roots")
    >>> roots.argmin(np.array([[-3.0, -4.0, 1.0]])).outputs.round(2)
    array([[0.36, 0.64, 0.  ]])
    """

    def __init__(
        self,
        total: float = 1.0,
        *,
        labels: Iterable[Any] | None = None,
        max_boxes: int | None = None,
    ) -> None:
        self.total = total
        self.labels = labels
        self.max_boxes = max_boxes

    def _learn(self, Z: np.ndarray) -> None:
        is_number = isinstance(self.total, Real)
        if not (is_number and 0 < self.total < np.inf):
            raise ValueError(f"Simplex: total is a positive number; got {self.total!r}.")
        self._check_inside(Z)

    def validate(self, Y: Any) -> np.ndarray:
        """Rows of at least zero that add up to the total exactly, up to the last bits.

        Those that do are left as they are: outputs of ``argmin`` are read as they were decided.
        """
        Z = np.maximum(super().validate(Y), 0.0)
        sums = Z.sum(axis=1, keepdims=True)
        rounding = Z.shape[1] * np.finfo(np.float64).eps * self.total
        kept = np.abs(sums - self.total) <= rounding
        return np.asarray(np.where(kept, Z, Z * (self.total / sums)))

    def _check_inside(self, Z: np.ndarray) -> None:
        below = np.argwhere(Z + OUTPUT_RANGE * self.total < 0)
        if len(below):
            row, j = below[0]
            raise ValueError(
                f"Simplex expects amounts of at least 0; Y[{row}], column {self.labels_[j]!r}, is "
                f"{Z[row, j]:g}."
            )
        sums = Z.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - self.total) > OUTPUT_FEASIBLE * self.total)
        if len(off):
            row = off[0]
            hint = "divide each row by its sum" if self.total == 1 else "rescale the rows"
            raise ValueError(
                f"Simplex expects rows that add up to {self.total:g}; Y[{row}] adds up to "
                f"{sums[row]:.7g}. Where only the proportions matter, {hint}."
            )

    def contains(self, Z: Any) -> np.ndarray:
        Z = np.asarray(Z, dtype=np.float64)
        adds_up = np.abs(Z.sum(axis=1) - self.total) <= OUTPUT_FEASIBLE * self.total
        return adds_up & (Z + OUTPUT_RANGE * self.total >= 0).all(axis=1)

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Uniform histograms, Dirichlet(1, ..., 1) times the total; shape (n, d)."""
        self._ready()
        shares = np.random.default_rng(rng).standard_exponential((n, len(self.labels_)))
        return shares * (self.total / shares.sum(axis=1, keepdims=True))

    # ------------------------------------------------------------- decoding
    def embed(self, Z: np.ndarray) -> np.ndarray:
        if self.embedding == "roots":
            return np.sqrt(np.asarray(Z, dtype=np.float64))
        return super().embed(Z)

    def argmin(self, costs: Any) -> Decoded:
        if self.embedding != "roots":
            return super().argmin(costs)
        from skstruct.spaces.quantities.resource_allocation import roots_on_simplex

        costs = check_costs(costs, len(self.labels_), used_by="Simplex")
        outputs, values = roots_on_simplex(costs, self.total)
        return Decoded(outputs, values, values)

    def _linear(self, costs: np.ndarray) -> Decoded:
        from skstruct.spaces.quantities.resource_allocation import best_vertices

        outputs, values = best_vertices(costs, self.total)
        return Decoded(outputs, values, values)

    def _quadratic(self, a: np.ndarray, b: np.ndarray) -> Decoded:
        from skstruct.spaces.quantities.resource_allocation import quadratic_on_simplex

        outputs, values = quadratic_on_simplex(a, b, self.total)
        return Decoded(outputs, values, values)

    def minimize(self, curves: Any) -> Decoded:
        found = self._searched(curves)
        max_boxes = boxes_for(len(self.labels_), self.max_boxes)
        gap = found.values - found.bounds
        rows = np.flatnonzero(
            (gap > ROUNDING_GAP * np.abs(found.values)) & ~np.asarray(curves.convex)
        )
        if not len(rows) or not max_boxes:
            return found
        from skstruct.spaces.quantities.separable.branch_and_bound import close_gaps
        from skstruct.spaces.quantities.separable.relaxations import HullProblem
        from skstruct.spaces.solvers.linear_constraints import read_constraints

        d = len(self.labels_)
        polytope = HullProblem(read_constraints(np.ones((1, d)), [float(self.total)]))
        parts = found.outputs, found.values, found.bounds
        ends = np.zeros((len(rows), d)), np.full((len(rows), d), float(self.total))
        closed = close_gaps(
            curves.rows(rows),
            polytope,
            *ends,
            tuple(part[rows] for part in parts),
            ROUNDING_GAP * np.abs(found.values[rows]),
            CELLS,
            max_boxes,
        )
        for part, better in zip(parts, closed):
            part[rows] = better
        return found

    def _searched(self, curves: Any) -> Decoded:
        from skstruct.spaces.quantities.resource_allocation import separable_on_simplex
        from skstruct.spaces.solvers.curves.base import QuadraticCurves

        if isinstance(curves, QuadraticCurves):
            decoded = self._quadratic(curves.a, curves.b)
            values = decoded.values + curves.constant.sum(axis=1)
            return Decoded(decoded.outputs, values, values)
        return Decoded(*separable_on_simplex(curves, self.total))


Coordinates.at(Simplex, CoordinatesOfShares)
Solving.at(Simplex, "skstruct.spaces.quantities.solving:SolvingOfSimplices")
Description.at(Simplex, "skstruct.spaces.quantities.description:DescriptionOfSimplices")
Embeddings.at(Simplex, "skstruct.spaces.quantities.coordinates:EmbeddingsOfSimplices")
