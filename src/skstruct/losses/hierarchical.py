# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes count where they begin, not again for everything below."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.losses.base import BaseLoss, Weights, label_weights
from skstruct.losses.deciding import BilinearForm, Effort, Form
from skstruct.losses.levels import Levels, weight_levels
from skstruct.saving import savable
from skstruct.spaces import Description, whole_of


@savable
class HierarchicalLoss(BaseLoss):
    r"""Weighted number of labels where a path goes wrong first.

    .. math:: \ell(z, y) = \sum_j c_j 1[z_j \ne y_j \text{ and all ancestors of j agree}]

    With :math:`q_j(y) = \prod_{k \in P(j)} y_k` (one for a root) it equals
    :math:`\sum_j c_j [z_j (q_j(y) - 2 y_j) + y_j q_j(z)]` on closed sets, because a closed
    set has :math:`y_j \le q_j(y)`. On trees and forests :math:`q_j` is the parent, so the
    loss is bilinear on indicators and decoded in O(d).

    The loss is that of [1]_. On other acyclic graphs it is not linear in z, and ``dag`` chooses:

    * ``"exact"`` (default): bilinear once the products :math:`q_j` join the embedding;
      a few min-cuts settle most rows, an integer program with its LP bound the others;
    * ``"average"``: :math:`q_j` becomes the *mean* over the parents. This is another
      loss, never smaller than the hierarchical one, decoded exactly by one min-cut. Use
      it where exact rows take too long.

    A learner that compares penalties decides every training row once for each of them. On graphs
    that are not forests it does so by ``"average"`` in place of ``"exact"`` (its :class:`Effort`);
    predictions are those of the exact loss.

    Parameters
    ----------
    weights : "siblings", "uniform", sequence or mapping from label to weight
        Siblings share the weight of their parent equally (a label with several parents
        gets the mean of its shares), roots share one; uniform is one for all.
    dag : "exact" or "average"
        What to do where a label has several parents.

    References
    ----------
    .. [1] N. Cesa-Bianchi, C. Gentile, L. Zaniboni, "Incremental algorithms for
       hierarchical classification", 2006; linear on trees by Proposition 3.3 of C. Y. Goh
       and P. Jaillet, "Structured prediction by conditional risk minimization".

    Examples
    --------
    >>> from skstruct.spaces import Hierarchy
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> loss = HierarchicalLoss().bind(space)
    >>> loss([[1, 1, 0]], [[1, 0, 1]])
    array([1.])
    >>> loss([[0, 0, 0]], [[1, 0, 1]])  # wrong at the root: nothing below counts
    array([1.])
    """

    def __init__(self, weights: str | Weights = "siblings", dag: str = "exact") -> None:
        self.weights = weights
        self.dag = dag

    def embedding_on(self, space: Any) -> str:
        forest = _graph_of(space).is_forest
        return "indicators" if forest or self.dag == "average" else "indicators and parents"

    def bind(self, space: Any) -> Self:
        if self.dag not in ("exact", "average"):
            raise ValueError(f'HierarchicalLoss: dag is "exact" or "average"; got {self.dag!r}.')
        bound = copy.copy(self)
        bound.graph_ = _graph_of(space)
        bound.weights_ = self._resolve(space, bound.graph_)
        average = self.dag == "average"
        bound.form_ = _bilinear_form(bound.graph_, bound.weights_, average=average)
        return bound

    def _resolve(self, space: Any, graph: Any) -> np.ndarray:
        if isinstance(self.weights, str):
            if self.weights == "uniform":
                return np.ones(graph.n_nodes)
            if self.weights == "siblings":
                return sibling_weights(graph)
            raise ValueError(
                f'HierarchicalLoss: weights are "siblings", "uniform" or numbers; got '
                f"{self.weights!r}."
            )
        return label_weights(self.weights, space, "HierarchicalLoss")

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Y_pred, Y_true = np.asarray(Y_pred), np.asarray(Y_true)
        if not hasattr(self, "graph_"):
            raise ValueError("HierarchicalLoss: call bind(space) first; it needs the hierarchy.")
        if self.dag == "average" and not self.graph_.is_forest:
            return self._averaged(Y_pred, Y_true)
        differ = (Y_pred != Y_true).astype(np.float64)
        above = differ @ self.graph_.ancestors.T - differ  # disagreements among ancestors
        return (differ * (above == 0)) @ self.weights_

    def _averaged(self, Y_pred: np.ndarray, Y_true: np.ndarray) -> Any:
        """Every arc by itself: a wrong label whose parent is in on both sides, on average."""
        graph, weights, d = self.graph_, self.weights_, self.graph_.n_nodes
        differ = sparse.csr_array(Y_pred != Y_true, dtype=np.float64)  # few labels of many
        both = sparse.csr_array(Y_pred * Y_true, dtype=np.float64)
        share = weights[graph.children] / graph.n_parents[graph.children]
        arcs = sparse.csr_array((share, (graph.children, graph.parents)), shape=(d, d))
        root = np.zeros(d)
        root[graph.roots] = weights[graph.roots]
        return differ @ root + np.asarray((differ @ arcs).multiply(both).sum(axis=1)).ravel()

    def range(self) -> tuple[float, float]:
        return 0.0, float(self.weights_.sum()) if hasattr(self, "weights_") else np.inf

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        V, u, _ = self.form_
        costs = np.ascontiguousarray((V @ g.T).T)
        roots = np.flatnonzero(u)  # few: no other label costs what it does whatever is known
        costs[:, roots] += (total if total.shape[1] == 1 else total[:, roots]) * u[roots]
        return costs

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return g @ self.form_[2]


class _EffortOfHierarchical(Effort):
    __slots__ = ()

    def stand_in(self, space: Any) -> Any:
        """Itself on forests, which are decided in O(d); else that of ``dag="average"``."""
        if self.loss.dag == "average" or _graph_of(space).is_forest:
            return self.loss
        return HierarchicalLoss(self.loss.weights, dag="average")


class _FormOfHierarchical(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        V, u, v = self.loss.form_
        return BilinearForm(V, u, v, 0.0) if V.shape == (width, width) else None


class _LevelsOfHierarchical(Levels):
    __slots__ = ()

    def steps(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.array(self.loss.weights_)
        if self.loss.dag == "average":
            weights /= np.maximum(self.loss.graph_.n_parents, 1)
        return weight_levels(weights, outputs)

    def largest(self, space: Any) -> float | None:
        """First mistakes are never one below the other, as in a tree of the heaviest choices."""
        graph, weights = self.loss.graph_, self.loss.weights_
        if not graph.is_forest:
            return float(weights.sum())
        heaviest = np.array(weights, dtype=np.float64)
        below = np.zeros(graph.n_nodes)
        for j in reversed(list(graph.order)):  # children before their parents
            heaviest[j] = max(weights[j], below[j])
            for p in graph.parents_of[j]:
                below[p] += heaviest[j]
        return float(heaviest[graph.roots].sum())


Effort.at(HierarchicalLoss, _EffortOfHierarchical)
Form.at(HierarchicalLoss, _FormOfHierarchical)
Levels.at(HierarchicalLoss, _LevelsOfHierarchical)


def _graph_of(space: Any) -> Any:
    graph = Description.of(whole_of(space)).output_dag()
    if graph is None:
        raise ValueError(
            "HierarchicalLoss needs a space with arcs between labels, such as Hierarchy; "
            f"{type(space).__name__} has none."
        )
    return graph


def sibling_weights(graph: Any) -> np.ndarray:
    """c_root = 1 / #roots, c_j = mean over parents p of c_p / #children of p."""
    # Plain numbers: calls of numpy for every node would take a hundred times as long.
    weights = [1.0 / max(len(graph.roots), 1)] * graph.n_nodes
    n_children, parents = graph.n_children.tolist(), graph.parents.tolist()  # sorted by child
    end = np.cumsum(graph.n_parents).tolist()
    for j, n_parents in zip(graph.order.tolist(), graph.n_parents[graph.order].tolist()):
        if n_parents:
            total = 0.0  # sum() corrects rounding from Python 3.12 on, and weights are compared
            for p in parents[end[j] - n_parents : end[j]]:
                total += weights[p] / n_children[p]
            weights[j] = total / n_parents
    return np.array(weights)


def _bilinear_form(
    graph: Any, weights: np.ndarray, *, average: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """V, u, v with loss(z, y) = <V psi(y) + u, psi(z)> + <v, psi(y)>.

    q_j is a combination of entries of psi: Q[j] psi, or one for roots. Then
    loss = sum_j c_j [z_j (Q psi(y) - 2 y)_j + y_j (Q psi(z))_j] + root terms.
    """
    d = graph.n_nodes
    share = 1.0 / graph.n_parents[graph.children]
    Q = sparse.csr_array((share, (graph.children, graph.parents)), shape=(d, d))
    shared = np.flatnonzero(graph.n_parents > 1)
    if len(shared) and not average:
        keep = sparse.diags_array((graph.n_parents <= 1).astype(float))
        products = (np.ones(len(shared)), (shared, np.arange(len(shared))))
        Q = sparse.hstack([keep @ Q, sparse.csr_array(products, shape=(d, len(shared)))])
    C = sparse.diags_array(weights)
    labels = sparse.eye_array(d, Q.shape[1])
    V = (labels.T @ C @ (Q - 2 * labels) + Q.T @ C @ labels).tocsr()
    root = np.zeros(Q.shape[1])
    root[graph.roots] = weights[graph.roots]
    return V, root, root
