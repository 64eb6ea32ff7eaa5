# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of a graph or of a triangle mesh: classes that lie near to or far from each other."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct._arrays.by_name import are_named, by_position
from skstruct._arrays.imports import is_networkx, is_pandas
from skstruct.saving import savable
from skstruct.spaces.classes.space import Classes
from skstruct.spaces.common.formats import (
    check_distinct,
    check_numbered,
    in_columns,
    name_array,
    plain_name,
    refuse_empty,
    unknown_label,
)
from skstruct.spaces.common.point_graphs import cotangent_weights, diffusion_graph
from skstruct.spaces.description import Description
from skstruct.tolerances import TABLE_SYMMETRY


@savable
class GraphNodes(Classes):
    r"""One node of a finite, undirected graph, :math:`\psi(z) = e_z`.

    As :class:`Classes`, any loss matrix is bilinear here; the graph says which nodes are
    near, for losses that ask, such as the diffusion distance. All nodes may be predicted,
    whether they occurred in training or not.

    Parameters
    ----------
    graph : networkx graph, sparse or dense adjacency matrix, or DataFrame
        Undirected, with weights :math:`\ge 0` (of a networkx graph: the edge attribute
        ``weight``, one where it is missing; parallel edges add up). Directed graphs and
        matrices that are not symmetric are refused. Self-loops are left out: no distance
        depends on them. Nodes without edges and graphs in several pieces are fine.
    labels : sequence, default=None
        Names of the nodes of a matrix; 0, 1, 2, ... when None. A networkx graph and a
        DataFrame bring their own.
    masses : array of shape (n_nodes,), or mapping or Series by node, default=None
        What each node stands for, such as its part of a surface: its heat is what it holds over
        its mass. One each when None.

    Examples
    --------
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> space = GraphNodes(path, labels=["left", "middle", "right"]).fit(["left"])
    >>> space.restore(space.argmin(np.array([[0.3, 0.1, 0.2]])).outputs)
    array(['middle'], dtype='<U6')
    """

    default_loss = "diffusion"

    masses: Any = None  # of models saved before nodes had any
    masses_: np.ndarray | None = None

    def __init__(
        self, graph: Any, *, labels: Iterable[Any] | None = None, masses: ArrayLike | None = None
    ) -> None:
        self.graph = graph
        self.labels = labels
        self.masses = masses

    @classmethod
    def from_mesh(
        cls, points: ArrayLike, faces: ArrayLike, *, labels: Iterable[Any] | None = None
    ) -> Self:
        r"""The vertices of a triangle mesh with cotangent weights.

        :math:`w_{uv} = \max(0, (\cot\alpha + \cot\beta) / 2)` over the angles opposite to an
        edge: negative ones, of very obtuse triangles, are set to zero, since a graph's
        weights are not negative. Areas of vertices are not taken into account.

        Parameters
        ----------
        points : array of shape (n, 2) or (n, 3)
        faces : integer array of shape (m, 3)
            Numbers of the three vertices of each triangle.

        Examples
        --------
        >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
        >>> space = GraphNodes.from_mesh(square, [[0, 1, 2], [0, 2, 3]])
        >>> space.graph.toarray().round(6)  # the diagonal is opposite to right angles
        array([[0. , 0.5, 0. , 0.5],
               [0.5, 0. , 0.5, 0. ],
               [0. , 0.5, 0. , 0.5],
               [0.5, 0. , 0.5, 0. ]])
        """
        return cls(cotangent_weights(points, faces), labels=labels)

    @classmethod
    def from_points(
        cls,
        points: ArrayLike,
        *,
        epsilon: float | None = None,
        alpha: float = 1.0,
        n_neighbors: int | None = None,
        labels: Iterable[Any] | None = None,
    ) -> Self:
        r"""Points drawn from a manifold, on which heat spreads as on the manifold itself.

        Between points lie the weights of a Gaussian kernel, divided by the density of the points
        [1]_. The more points and the smaller epsilon, the nearer the
        :class:`~skstruct.losses.Diffusion` distance comes to
        :math:`\sum_k e^{-2 t \lambda_k} (\phi_k(z) - \phi_k(y))^2` with eigenvalues and
        eigenfunctions of the manifold's Laplacian, of mean square one.

        Parameters
        ----------
        points : array of shape (n, p)
        epsilon : float, default=None
            Of the kernel :math:`e^{-|x - y|^2 / 4 \epsilon}`, in squared units of the points; None
            for a quarter of the median squared distance to the neighbor of number
            :math:`\lceil \sqrt n \rceil`. The time t of a diffusion should not be below it.
        alpha : float, default=1.0
            Power of the density that weights are divided by: 1, and the distance does not depend
            on how densely regions were sampled; 0, and dense regions are nearer to each other.
        n_neighbors : int, default=None
            Joins two points where one is among so many nearest of the other, which keeps the graph
            sparse; None joins all pairs.
        labels : sequence, default=None
            Names of the points.

        References
        ----------
        .. [1] R. R. Coifman and S. Lafon, "Diffusion maps", 2006, section 3.

        Examples
        --------
        >>> angle = 2 * np.pi * np.arange(200) / 200
        >>> circle = GraphNodes.from_points(np.c_[np.cos(angle), np.sin(angle)])
        >>> from skstruct.losses import Diffusion
        >>> loss = Diffusion(1.0).bind(circle.fit([0]))
        >>> loss([0], [100]).round(2)  # 8 (e^-2 + e^-18 + ...) = 1.083 on the circle itself
        array([1.07])
        """
        weights, masses = diffusion_graph(points, epsilon, alpha, n_neighbors)
        return cls(weights, labels=labels, masses=masses)

    _learned: ClassVar[tuple[str, ...]] = ("labels_", "number_", "series_", "adjacency_")

    def _is_given(self) -> bool:
        return True

    def _open(self) -> None:
        names, self.adjacency_ = _read_graph(self.graph, self.labels)
        if is_networkx(self.graph) and not (self.masses is None or are_named(self.masses)):
            check_numbered(names, "masses", "give {node: mass}, or a Series", "GraphNodes")
        self.masses_ = _check_masses(self.masses, names)
        self._take(name_array(names))
        self.number_ = {name: j for j, name in enumerate(names)}
        self.series_ = None

    def fit(self, Y: Any) -> Self:
        self._open()
        self.series_ = (Y.name, Y.dtype) if is_pandas(Y, "Series") else None
        self.validate(Y)
        return self

    def validate(self, Y: Any) -> np.ndarray:
        """Numbers of the nodes in ``Y``; shape (n,)."""
        self._ready()
        names = _names_of(Y)
        for i, name in enumerate(names):
            try:
                known = name in self.number_
            except TypeError:
                known = False
            if not known:
                message = unknown_label(f"Y[{i}] is", name, self.number_, "GraphNodes")
                raise ValueError(message.replace("the label", "the node"))
        return np.array([self.number_[name] for name in names], dtype=np.int64)

    def embed(self, Z: np.ndarray) -> Any:
        Z = np.asarray(Z)
        ones = np.ones(len(Z)), (np.arange(len(Z)), Z)
        return sparse.csr_array(ones, shape=(len(Z), len(self.labels_)))


def _check_masses(given: Any, names: Sequence[Any]) -> np.ndarray | None:
    if given is None:
        return None
    given, n = by_position(given, names, what="masses", used_by="GraphNodes"), len(names)
    masses: np.ndarray = np.asarray(given, dtype=np.float64)
    if masses.shape != (n,) or not (np.isfinite(masses) & (masses > 0)).all():
        raise ValueError(
            f"GraphNodes: masses are {n} positive numbers, one for each node; got {masses!r:.60}."
        )
    return masses


def _names_of(Y: Any) -> list[Any]:
    """The nodes in ``Y`` one by one; a node may itself be a tuple."""
    if isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.shape[1] == 1:
        Y = Y[:, 0]
    if (
        (isinstance(Y, np.ndarray) and Y.ndim != 1)
        or sparse.issparse(Y)
        or is_pandas(Y, "DataFrame")
    ):
        raise ValueError(f"GraphNodes expects one node per sample; Y has shape {Y.shape}.")
    names = Y.tolist() if hasattr(Y, "tolist") else [plain_name(name) for name in Y]
    refuse_empty(names, "GraphNodes")
    return names


def _read_graph(graph: Any, labels: Any) -> tuple[tuple[Any, ...], sparse.csr_array]:
    """Names of the nodes, and the symmetric matrix of weights with an empty diagonal."""
    if is_networkx(graph):
        own, matrix = _read_networkx(graph)
    elif is_pandas(graph, "DataFrame"):
        own, matrix = tuple(graph.columns), graph.to_numpy()
        if list(graph.index) != list(own):
            raise ValueError("GraphNodes: rows and columns of the DataFrame name different nodes.")
    else:
        own, matrix = None, graph
    if own is not None and labels is not None:
        raise ValueError("GraphNodes: this graph names its nodes itself; leave out labels.")
    adjacency = _check_weights(matrix, own)
    n = adjacency.shape[0]
    names = own if own is not None else range(n) if labels is None else _names_of(labels)
    names = check_distinct(names, "GraphNodes")
    if len(names) != n:
        raise ValueError(f"GraphNodes: there is a label for each of {n} nodes; got {len(names)}.")
    return names, adjacency


def _read_networkx(graph: Any) -> tuple[tuple[Any, ...], Any]:
    if graph.is_directed():
        raise ValueError("GraphNodes: the graph is directed; give graph.to_undirected().")
    names = tuple(in_columns(graph.nodes))
    number = {name: j for j, name in enumerate(names)}
    heads, tails, weights = [], [], []
    for u, v, weight in graph.edges(data="weight", default=1.0):
        heads.append(number[u])
        tails.append(number[v])
        weights.append(1.0 if weight is None else weight)
    values = np.array(weights, dtype=np.float64)
    half = sparse.coo_array((values, (heads, tails)), shape=(len(names), len(names)))
    return names, half + half.T


def _check_weights(matrix: Any, names: tuple[Any, ...] | None) -> sparse.csr_array:
    if not sparse.issparse(matrix):
        try:
            matrix = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "GraphNodes: a graph is a networkx graph or a square adjacency matrix of numbers; "
                f"got {matrix!r:.60}. Of edges, give networkx.Graph(edges)."
            ) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(
            "GraphNodes: a graph is a networkx graph or a square adjacency matrix; got "
            f"shape {matrix.shape}."
        )
    weights = sparse.csr_array(matrix, dtype=np.float64)
    entries = weights.tocoo()
    off = entries.row != entries.col
    weights = sparse.csr_array(
        (entries.data[off], (entries.row[off], entries.col[off])), shape=weights.shape
    )
    weights.sum_duplicates()
    entries = weights.tocoo()
    bad = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))
    if len(bad):
        u, v = (int(end[bad[0]]) for end in (entries.row, entries.col))
        u, v = (u, v) if names is None else (names[u], names[v])
        raise ValueError(
            f"GraphNodes: weights are finite and not negative; that of ({u!r}, {v!r}) is "
            f"{entries.data[bad[0]]}."
        )
    gap = abs(weights - weights.T).tocoo()
    if gap.nnz and gap.data.max() > TABLE_SYMMETRY * entries.data.max():
        worst = gap.data.argmax()
        u, v = int(gap.row[worst]), int(gap.col[worst])
        raise ValueError(
            f"GraphNodes: the graph is not symmetric: entry [{u}, {v}] is {weights[u, v]:.6g} and "
            f"[{v}, {u}] is {weights[v, u]:.6g}. Give (A + A.T) / 2 if directions do not matter."
        )
    weights.eliminate_zeros()
    return weights


Description.at(GraphNodes, "skstruct.spaces.graph_nodes.description:DescriptionOfGraphNodes")
