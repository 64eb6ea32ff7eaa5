# SPDX-License-Identifier: BSD-3-Clause
"""Simple paths from a source to a target of a graph."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.checks import is_count
from skstruct.exceptions import UndecidableError
from skstruct.saving import savable
from skstruct.spaces.base import check_k
from skstruct.spaces.constraints import label_mask
from skstruct.spaces.contracts import EXACT, Decoded, Guarantee
from skstruct.spaces.description import Description
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.paths.arcs import NAME, grid_arcs
from skstruct.spaces.paths.constraints import (
    OPEN_END,
    PathConstraints,
    read_ends,
    read_length,
)
from skstruct.spaces.paths.decoding import MOST_NODES, decode, visited_nodes
from skstruct.spaces.paths.distribution import CountedPaths
from skstruct.spaces.paths.formats import PathFormat, read_paths, trace_paths
from skstruct.spaces.paths.ranked import k_min_cost_paths
from skstruct.spaces.solving import Solving


@savable
class ShortestPaths(CountedPaths):
    r"""Simple paths from a source to a target, :math:`\psi(z)_a = 1` for the arcs a on the path.

    .. math:: \min_z \sum_{a \in z} c_a

    On graphs without cycles, costs of any sign are minimized by dynamic programming, all rows of
    a batch in one compiled loop. On other graphs, rows of costs from zero on are decided by
    Dijkstra's algorithm [1]_, others by Bellman's and Ford's. Where a cycle of negative cost is in
    the way, the best *simple* path is NP-hard: tables over sets of nodes up to 12 nodes, integer
    programs of up to a minute a row beyond; ``bounds`` say where that did not suffice.

    Outputs are lists of nodes along the path, lists of arcs, or 0/1 tables with a column per arc.
    The form that came in comes out, nodes where none came. Canonical outputs are int8 (n, d).

    Parameters
    ----------
    graph : sequence of arcs, networkx.DiGraph, networkx.Graph or sparse adjacency matrix
        Arcs are pairs of nodes, in the order of the coordinates; those of a matrix come row by
        row. An edge of a ``networkx.Graph`` is one coordinate and serves both directions.
        Parallel arcs are refused: put a node into each.
    source, target : names of nodes, or None
        None leaves an end open: training outputs may have any, and predictions need
        ``restrict(source=..., target=...)``.
    constraints : PathConstraints, default=None
        What ``restrict`` sets.

    Attributes
    ----------
    nodes_ : tuple
    labels_ : tuple of arcs, the coordinates in this order

    References
    ----------
    .. [1] E. W. Dijkstra (1959), "A note on two problems in connexion with graphs".

    Examples
    --------
    >>> import numpy as np
    >>> arcs = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
    >>> space = ShortestPaths(arcs, "s", "t")  # all is given: there is nothing to fit
    >>> best = space.argmin(np.array([[1.0, 4.0, 1.0, 5.0, 1.0]]))
    >>> space.restore(best.outputs)[0], best.values
    (['s', 'a', 'b', 't'], array([3.]))
    >>> space.size()
    3
    >>> around = space.restrict(avoid=["b"])
    >>> around.restore(around.argmin(np.ones((1, 5))).outputs)[0]
    ['s', 'a', 't']
    """

    embedding = "indicators"
    default_loss = "hamming"
    _constraints_kind = PathConstraints
    _constraints_rest_on: ClassVar[tuple[str, ...]] = ("graph",)

    def __init__(
        self,
        graph: Any,
        source: Any,
        target: Any,
        *,
        constraints: PathConstraints | None = None,
    ) -> None:
        self.graph = graph
        self.source = source
        self.target = target
        self.constraints = constraints

    @classmethod
    def grid(cls, rows: int, columns: int) -> Self:
        """Paths from the first to the last corner of a grid, by arcs east and south.

        Nodes are ``(row, column)``. Arcs come row by row: those east of a row, then those south.

        Examples
        --------
        >>> ShortestPaths.grid(2, 2).labels_[:2]
        (((0, 0), (0, 1)), ((0, 0), (1, 0)))
        >>> ShortestPaths.grid(5, 5).size()
        70
        """
        for name, size in (("rows", rows), ("columns", columns)):
            if not is_count(size):
                raise ValueError(f"{NAME}.grid: {name} is a whole number from 1; got {size!r}.")
        return cls(grid_arcs(rows, columns), (0, 0), (rows - 1, columns - 1))

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return len(self.labels_), len(self.nodes_)

    def _ends(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Source and target of n rows; open ones where constraints are for other rows."""
        limits = self._limits
        ends = limits.source, limits.target
        found = [end if len(end) in (1, n) else np.array([OPEN_END]) for end in ends]
        return np.broadcast_to(found[0], (n,)), np.broadcast_to(found[1], (n,))

    # ------------------------------------------------------------- the user's format
    def fit(self, Y: Any) -> Self:
        """Learn the form of the outputs; all else is given."""
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self._fit(Y)

    def _fit(self, Y: Any) -> np.ndarray:
        self._forget()
        Z, format = read_paths(Y, self._table)
        self._check_paths(Z)
        self.format_ = format
        return Z

    def validate(self, Y: Any) -> np.ndarray:
        """Paths in canonical form: int8 (n, d). Constraints other than ends are for predictions."""
        Z = read_paths(Y, self._table)[0]
        self._check_paths(Z)
        return Z

    def _check_paths(self, Z: np.ndarray) -> None:
        source, target = self._ends(len(Z))
        outside = np.flatnonzero(~trace_paths(self._table, Z, source, target)[1])
        if len(outside):
            i = int(outside[0])
            raise ValueError(
                f"{NAME}: Y[{i}] is no simple path from {self._named(source[i])} to "
                f"{self._named(target[i])} ({len(outside)} such "
                f"{'row' if len(outside) == 1 else 'rows'})."
            )

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``; nodes along the path else."""
        Z = np.asarray(Z)
        nodes = self._nodes_along(Z)
        format: PathFormat = getattr(self, "format_", PathFormat())
        return format.write(Z, nodes, self._table, index)

    def embed(self, Z: np.ndarray) -> np.ndarray:
        """psi, float64 of shape (n, d)."""
        return np.asarray(Z, dtype=np.float64)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is a path of this space, constraints included; shape (n,)."""
        Z = np.asarray(Z)
        self._check_outputs(Z, len(self.labels_), "0/1 arrays (n, number of arcs)")
        source, target = self._ends(len(Z))
        inside = np.asarray(((Z == 0) | (Z == 1)).all(axis=1))
        whole = np.where(inside[:, None], Z, 0).astype(np.int8)
        inside &= trace_paths(self._table, whole, source, target)[1]
        visited = visited_nodes(self._table, whole, source, target)
        return np.asarray(inside & self._limits.allow(whole, visited))

    def _nodes_along(self, Z: np.ndarray) -> np.ndarray:
        """Nodes in order of travel; of predictions from and to other ends, from their own."""
        nodes, is_path = trace_paths(self._table, Z, *self._ends(len(Z)))
        if not is_path.all():
            ends = np.full((2, len(Z)), OPEN_END)
            nodes = np.where(is_path[:, None], nodes, trace_paths(self._table, Z, *ends)[0])
        return nodes

    # ------------------------------------------------------------- constraints

    def restrict(
        self,
        *,
        include: Any = None,
        exclude: Any = None,
        via: Any = None,
        avoid: Any = None,
        source: Any = None,
        target: Any = None,
        max_length: ArrayLike | None = None,
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : pairs of nodes, the same for all rows or a collection per row
            Arcs that must be used and arcs that are closed; also 0/1 arrays (n, d).
        via, avoid : names of nodes, the same for all rows or a collection per row
            Nodes that must be visited and nodes that are closed; also 0/1 arrays (n, N).
        source, target : name of a node, or a list of them, one per row
            Other ends.
        max_length : int, or one per row
            Arcs of a path, at most.

        Notes
        -----
        ``exclude`` and ``avoid`` cost nothing. The others are as quick on graphs without cycles;
        on graphs with cycles the best path that does not obey them is found first, and where it
        breaks one, the search is NP-hard.
        """
        table, limits = self._table, self._limits
        longest = read_length(max_length)
        asked = PathConstraints(
            low=table.mask(include, "include", NAME),
            high=~table.mask(exclude, "exclude", NAME),
            visited=label_mask(via, table.nodes, "via", NAME),
            open=~label_mask(avoid, table.nodes, "avoid", NAME),
            source=read_ends(source, table, "source"),
            target=read_ends(target, table, "target"),
            longest=np.array([len(table.nodes) - 1]) if longest is None else longest,
        )
        given = PathConstraints.none(len(table.nodes), len(table.edges))
        given = given if self.constraints is None else self.constraints
        limits.narrow(asked)  # raises where numbers of rows differ
        return self._limited(given.narrow(asked))

    # ------------------------------------------------------------- decoding
    @property
    def guarantee(self) -> Guarantee:
        """Exact without cycles and up to 12 nodes; else where no cycle costs less than zero."""
        if self.is_acyclic or len(self.nodes_) <= MOST_NODES:
            return EXACT
        return Guarantee(
            "bound only", reference="exact where no cycle of negative cost is in the way"
        )

    hurried = False  # whether rows with a cycle of negative cost are searched no further

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the path of least cost; costs of shape (n, d), of any sign."""
        costs = self._checked_costs(costs, len(self.labels_))
        outputs, values, bounds = decode(self._table, costs, self._known_ends(), self.hurried)
        lost = np.flatnonzero(np.isinf(values))
        if len(lost):
            i = int(lost[0])
            if np.isfinite(bounds[i]) or bounds[i] < 0:
                raise UndecidableError(
                    f"{NAME}: no path within the constraints was found in row {i}, and that there "
                    "is none was not shown."
                )
            self._raise_infeasible(i)
        return Decoded(outputs, values, bounds)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` paths of least cost of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, NAME)
        costs = self._checked_costs(costs, len(self.labels_))
        outputs, values = k_min_cost_paths(self._table, costs, self._known_ends(), k)
        lost = np.flatnonzero(~np.isfinite(values).any(axis=1))
        if len(lost):
            self._raise_infeasible(int(lost[0]))
        return Decoded(outputs, values, values)


Solving.at(ShortestPaths, "skstruct.spaces.paths.solving:SolvingOfPaths")
Description.at(ShortestPaths, "skstruct.spaces.paths.description:DescriptionOfPaths")
Marginals.at(ShortestPaths, "skstruct.spaces.paths.marginals:MarginalsOfArcs")
