# SPDX-License-Identifier: BSD-3-Clause
"""Uniform points of polytopes and flows, which are cut into simplices."""

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError, UndecidableError, UnverifiedAnswerError
from skstruct.spaces.solvers.linear_constraints import LinearConstraints
from skstruct.tolerances import DIFFERENCE_ROUNDING, FLAT_WIDTH, TIGHT_INEQUALITY, VOLUME_AGREEMENT


@dataclass(frozen=True)
class AffineHull:
    r"""A bounded polytope :math:`\{x_0 + B t : G t \le h\}` that has an interior in t.

    t = 0 is inside: all h are above zero.
    """

    origin: np.ndarray  # x_0, shape (d,)
    basis: np.ndarray  # B, shape (d, k): k is the dimension of the polytope
    normals: np.ndarray  # G, rows of length one, shape (m, k)
    offsets: np.ndarray  # h, shape (m,)

    @property
    def dimension(self) -> int:
        return int(self.basis.shape[1])


def affine_hull(constraints: LinearConstraints, low: np.ndarray, high: np.ndarray) -> AffineHull:
    """The smallest flat around a bounded polytope; limits of shape (d,), finite.

    Every coordinate and every inequality is driven as far as it goes, by linear programs. An
    inequality that cannot be loose is an equation; the mean of all points that were found is
    loose in all the others, and so in the interior.

    Examples
    --------
    >>> from skstruct.spaces.solvers.linear_constraints import read_constraints
    >>> shares = read_constraints([[1, 1, 1]], [1.0], [[1, 1, 0]], [0.0])
    >>> hull = affine_hull(shares, np.zeros(3), np.ones(3))  # x + y <= 0 leaves one point
    >>> hull.dimension, hull.origin.tolist()
    (0, [0.0, 0.0, 1.0])
    """
    d = constraints.n_columns
    A_eq, A_ub = constraints.A_eq.toarray(), constraints.A_ub.toarray()
    costs = np.vstack([np.eye(d), -np.eye(d), A_ub])
    points = constraints.minimize_linear(costs, low, high)[0]
    centre, width = points.mean(axis=0), np.ptp(points, axis=0)
    size = np.abs(points).max(axis=0)
    free = width > FLAT_WIDTH * size + DIFFERENCE_ROUNDING * size.max()
    scale = np.where(free, width, 0.0)  # coordinates in units of their width

    G = np.vstack([np.eye(d), -np.eye(d), A_ub])
    h = np.concatenate([high, -low, constraints.b_ub])
    slack = h - G @ centre
    # The mean is loose by at least 1 / len(points) of the most that any point is.
    room = FLAT_WIDTH * np.abs(G) @ scale + DIFFERENCE_ROUNDING * (np.abs(G) @ size + np.abs(h))
    tight = slack * len(points) <= room
    equations = np.vstack([A_eq, G[tight]])
    off = np.concatenate([constraints.b_eq - A_eq @ centre, slack[tight]])
    solution, null = _solved(equations, off, scale)
    basis = scale[:, None] * null
    origin = centre + scale * solution
    normals, offsets = (G @ basis)[~tight], (h - G @ origin)[~tight]
    # What is left of an inequality on fixed coordinates is no inequality.
    length = np.linalg.norm(normals, axis=1)
    binding = length > DIFFERENCE_ROUNDING * (np.abs(G[~tight]) @ scale + offsets)
    length = length[binding]
    return AffineHull(
        np.clip(origin, low, high), basis, normals[binding] / length[:, None],
        offsets[binding] / length,
    )  # fmt: skip


def _solved(
    equations: np.ndarray, sides: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The shortest u and the null space of E diag(scale) u = sides; shapes (d,) and (d, k)."""
    d = len(scale)
    free = np.flatnonzero(scale)
    E = equations[:, free] * scale[free]
    length = np.abs(E).max(axis=1, initial=0.0)
    proposals = length > 0
    E, sides = E[proposals] / length[proposals, None], sides[proposals] / length[proposals]
    left, values, right = np.linalg.svd(E, full_matrices=True)
    rank = int((values > FLAT_WIDTH * values.max(initial=0.0)).sum())
    solution, null = np.zeros(d), np.zeros((d, len(free) - rank))
    solution[free] = right[:rank].T @ ((left.T @ sides)[:rank] / values[:rank])
    null[free] = right[rank:].T
    return solution, null


MOST_DIMENSIONS = 7  # free dimensions; the cube of 7 is cut into 5040 simplices, of 8 into 40320
MOST_VERTICES = 2000
MOST_SIMPLICES = 50_000


@dataclass(frozen=True)
class Triangulation:
    """Simplices that fill a polytope and do not overlap."""

    vertices: np.ndarray  # shape (v, d)
    simplices: np.ndarray  # vertex numbers, shape (s, k + 1)
    cumulative: np.ndarray  # volume of the simplices up to each, in all 1; shape (s,)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Uniform points, shape (n, d): a simplex by its volume, then a point of it.

        The barycentric coordinates of a uniform point of a simplex are Dirichlet(1, ..., 1):
        exponential variables divided by their sum.
        """
        which = np.searchsorted(self.cumulative[:-1], rng.random(n), side="right")
        weights = rng.standard_exponential((n, self.simplices.shape[1]))
        weights /= weights.sum(axis=1, keepdims=True)
        first, *others = self.vertices[self.simplices[which].T]  # (n, d) each
        # From the first corner on: coordinates that are known stay what they are.
        points = first.copy()
        for corner, weight in zip(others, weights[:, 1:].T):
            points += weight[:, None] * (corner - first)
        return np.clip(points, self.vertices.min(axis=0), self.vertices.max(axis=0))


def triangulate(constraints: LinearConstraints, low: np.ndarray, high: np.ndarray) -> Triangulation:
    """A bounded polytope, cut into simplices within the flat that it lies in.

    Parameters
    ----------
    constraints : LinearConstraints, the same for all rows
    low, high : arrays of shape (d,), finite

    Raises
    ------
    UndecidableError
        Beyond 7 free dimensions, 2000 vertices or 50 000 simplices.
    UnverifiedAnswerError
        Where rounding leaves the volume in doubt.

    Examples
    --------
    >>> from skstruct.spaces.solvers.linear_constraints import read_constraints
    >>> half = read_constraints(None, None, [[1, 1]], [1.0])
    >>> triangle = triangulate(half, np.zeros(2), np.ones(2))
    >>> triangle.simplices.shape
    (1, 3)
    >>> triangle.sample(2, np.random.default_rng(0)).sum(axis=1) <= 1
    array([ True,  True])
    """
    hull = affine_hull(constraints, low, high)
    k = hull.dimension
    if k > MOST_DIMENSIONS:
        raise UndecidableError(f"it has {k} free dimensions, and only {MOST_DIMENSIONS} are cut up")
    corners, tight = _vertices(hull)
    if len(corners) > MOST_VERTICES:
        raise UndecidableError(f"it has {len(corners)} vertices, more than {MOST_VERTICES}")
    simplices = pulled(tight, k)
    volumes = _volumes(corners, simplices)
    vertices = np.clip(hull.origin + corners @ hull.basis.T, low, high)
    return Triangulation(vertices, simplices, volumes.cumsum() / volumes.sum())


def _vertices(hull: AffineHull) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, k), and which inequalities are equations there, (v, m)."""
    normals, offsets, k = hull.normals, hull.offsets, hull.dimension
    if k == 0:
        return np.zeros((1, 0)), np.zeros((1, len(offsets)), bool)
    if k == 1:
        reach = offsets / normals[:, 0]
        found = np.array([[reach[reach < 0].max()], [reach[reach > 0].min()]])
    else:
        from scipy.spatial import HalfspaceIntersection, QhullError

        halfspaces = np.column_stack([normals, -offsets])
        try:
            found = HalfspaceIntersection(halfspaces, np.zeros(k)).intersections
        except QhullError:
            raise UnverifiedAnswerError("Rounding hides the vertices of the polytope.") from None
    slack = offsets - found @ normals.T
    tight = slack <= TIGHT_INEQUALITY * slack.max(axis=0)
    # A vertex of many facets is found many times over; its equations tell it from the others.
    _, first = np.unique(tight, axis=0, return_index=True)
    return found[first], tight[first]


def pulled(tight: np.ndarray, dimension: int) -> np.ndarray:
    """The simplices of the pulling triangulation, vertex numbers of shape (s, k + 1).

    A face is the union of the cones from its first vertex to those of its facets that do not
    hold that vertex; these are cut up in the same way. Only which vertex lies on which
    inequality is asked for, so that rounding in coordinates has no part in it [1]_.

    Parameters
    ----------
    tight : bool array of shape (v, m)
        Whether vertex v is on inequality m; inequalities may be redundant.

    References
    ----------
    .. [1] J. Cohen and T. Hickey, "Two algorithms for determining volumes of convex polyhedra",
       Journal of the ACM 26, 1979.

    Examples
    --------
    A square, whose corners are numbered around it:

    >>> sides = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], bool)
    >>> pulled(sides, 2).tolist()
    [[0, 1, 2], [0, 2, 3]]
    """
    masks = {sum(1 << int(v) for v in np.flatnonzero(column)) for column in tight.T}
    known: dict[int, np.ndarray] = {}
    return _cut((1 << len(tight)) - 1, sorted(masks, reverse=True), dimension, known)


def _cut(face: int, masks: list[int], dimension: int, known: dict[int, np.ndarray]) -> np.ndarray:
    """Simplices of one face, a set of vertices as the bits of a number."""
    if face in known:
        return known[face]
    if face.bit_count() <= dimension:
        raise UnverifiedAnswerError("Rounding hides which vertices the polytope has.")
    if face.bit_count() == dimension + 1:
        return np.array([_bits(face)])
    apex = face & -face
    facets = _facets(face, masks)
    bases = [_cut(part, facets, dimension - 1, known) for part in facets if not part & apex]
    if not bases:
        raise UnverifiedAnswerError("Rounding hides which facets the polytope has.")
    if sum(map(len, bases)) > MOST_SIMPLICES:
        raise UndecidableError(f"it is cut into more than {MOST_SIMPLICES} simplices")
    base = np.vstack(bases)
    first = np.full((len(base), 1), apex.bit_length() - 1)
    known[face] = np.hstack([first, base])
    return known[face]


def _bits(face: int) -> list[int]:
    """The numbers of the vertices of a face, in order."""
    corners = []
    while face:
        corners.append((face & -face).bit_length() - 1)
        face &= face - 1
    return corners


def _facets(face: int, masks: list[int]) -> list[int]:
    """The largest faces within a face."""
    parts = {face & mask for mask in masks} - {face, 0}
    largest: list[int] = []
    for part in sorted(parts, key=lambda part: (-part.bit_count(), part)):
        if all(part & ~other for other in largest):
            largest.append(part)
    return largest


def _volumes(corners: np.ndarray, simplices: np.ndarray) -> Any:
    """Volumes of the simplices up to a factor; checked against that of the convex hull."""
    from scipy.spatial import ConvexHull, QhullError

    k = corners.shape[1]
    # Measured where the vertices spread alike in all directions: thin is not less exact.
    centred = corners - corners.mean(axis=0)
    spread = np.linalg.svd(centred, full_matrices=False)[0] * np.sqrt(len(corners))
    edges = spread[simplices[:, 1:]] - spread[simplices[:, :1]]
    volumes = np.abs(np.linalg.det(edges)) / factorial(k)
    if k < 2:
        return volumes
    try:
        expected = ConvexHull(spread).volume
    except QhullError:
        expected = np.inf
    if not abs(volumes.sum() - expected) <= VOLUME_AGREEMENT * expected:
        raise UnverifiedAnswerError(
            "Rounding leaves the volume of the polytope in doubt: some of its vertices are very "
            "close to each other."
        )
    return volumes


# Uniform points of polytopes and flows.
#
# The polytope is reduced to its free coordinates: equations, and inequalities that can hold in
# no other way, leave a flat. There its vertices are found and the pulling triangulation cuts it
# into simplices; a simplex is drawn by its volume and a point of it by Dirichlet(1, ..., 1)
# weights. All this is exact up to rounding, and checked by a second measure of the volume. Uniform
# is meant in the flat; no unit or choice of free coordinates has a part in it.


KEPT_TRIANGULATIONS = 16  # triangulations that are kept, as chains draw again and again


def uniform_points(space: Any, n: int, rng: Any) -> np.ndarray:
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


def _triangulation(space: Any) -> Triangulation:
    system = space._one_row()
    constraints, bounds = system.constraints, system.range
    sides = (bounds.low, bounds.high, constraints.b_eq, constraints.b_ub)
    key = tuple(side.tobytes() for side in sides)
    kept: dict[Any, Triangulation] = constraints.plans.setdefault("triangulations", {})
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
        while len(kept) >= KEPT_TRIANGULATIONS:
            kept.pop(next(iter(kept)))
        kept[key] = found
    return kept[key]
