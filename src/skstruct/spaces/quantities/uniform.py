# SPDX-License-Identifier: BSD-3-Clause
"""Uniform points of polytopes and flows.

The polytope is reduced to its free coordinates: equations, and inequalities that can hold in
no other way, leave a flat. There its vertices are found and the pulling triangulation cuts it
into simplices; a simplex is drawn by its volume and a point of it by Dirichlet(1, ..., 1)
weights. All this is exact up to rounding, and checked by a second measure of the volume. Uniform
is meant in the flat; no unit or choice of free coordinates has a part in it.
"""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import InfeasibleError, UndecidableError

KEPT = 16  # triangulations that are kept, as chains draw again and again


def uniform_points(space, n, rng) -> np.ndarray:
    """Uniform outputs of a fitted ConstrainedSpace; shape (n, d).

    Examples
    --------
    >>> from skstruct.spaces import Polytope
    >>> shares = Polytope([[1, 1, 1]], [1], bounds=(0, 0.5)).fit([[0.5, 0.3, 0.2]])
    >>> drawn = uniform_points(shares, 1000, rng=0)
    >>> shares.contains(drawn).all(), drawn.mean(axis=0).round(1)
    (np.True_, array([0.3, 0.3, 0.3]))
    """
    space._ready()
    return _triangulation(space).sample(n, np.random.default_rng(rng))


def _triangulation(space):
    from skstruct.decoding.polytopes.triangulations import triangulate

    system = space._one_row()
    constraints, limits = system.constraints, system.range
    sides = (limits.low, limits.high, constraints.b_eq, constraints.b_ub)
    key = tuple(side.tobytes() for side in sides)
    kept = constraints.plans.setdefault("triangulations", {})
    if key not in kept:
        try:
            low, high = space._finite(system, "a uniform sample")
            found = triangulate(constraints, low[0], high[0])
        except InfeasibleError as error:
            raise space._explained(InfeasibleError(str(error), 0)) from None
        except UndecidableError as error:
            raise UndecidableError(
                f"{type(space).__name__}: exactly uniform draws cut the set into simplices; "
                f"{error}. Narrow it; or, as Box and Simplex draw in any dimension, draw from one "
                "of these around it and keep what contains() accepts."
            ) from None
        while len(kept) >= KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = found
    return kept[key]
