# SPDX-License-Identifier: BSD-3-Clause
"""Max-margin Markov networks over labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skstruct.learners.max_margin.base import HingeLearner
from skstruct.learners.max_margin.problem import MarginProblem, MostViolating
from skstruct.learners.tokens import TokenBatch
from skstruct.saving import savable
from skstruct.spaces import BaseSpace, PairwiseLabels, Solving

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, eq=False)
class NetworkScores:
    """Scores of the labels, row by row, and of the edges, the same in every row."""

    labels: np.ndarray  # shape: (n, n_labels)
    edges: np.ndarray  # shape: (n_edges,)


@savable
class NetworkMargins(MarginProblem):
    """Labels see the inputs, edges do not: both parts of psi of :class:`PairwiseLabels`."""

    def __init__(
        self, space: PairwiseLabels, loss: Any, outputs: np.ndarray, *, relaxed: bool = True
    ) -> None:
        super().__init__(space, loss, outputs, relaxed=relaxed)
        self.n_seeing = len(space.labels_)
        self.n_constants = self.width - self.n_seeing

    def truth(self, examples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        psi = self.psi[examples]
        return psi[:, : self.n_seeing], psi[:, self.n_seeing :]

    def most_violating(
        self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray, weight: Any = 1.0
    ) -> MostViolating:
        loss_costs, offset = self.loss_costs(examples)
        weight = np.broadcast_to(weight, len(examples))
        space, n = self.space.rows(examples), self.n_seeing
        solving = Solving.of(space)
        if len(weight) and np.ptp(weight) > 0:  # edges that differ from row to row
            both = np.hstack([scores, np.broadcast_to(constants, (len(scores), len(constants)))])
            costs = -weight[:, None] * both
            costs[:, :n] -= loss_costs
            found = solving.argmin_relaxed(costs) if self.relaxed else space.argmin(costs)
        else:
            once = weight[0] if len(weight) else 1.0
            decode = solving.argmin_relaxed_shared if self.relaxed else solving.argmin_shared
            found = decode(-once * scores - loss_costs, -once * constants)
        psi = found.outputs if self.relaxed else space.embed(found.outputs)
        losses = (psi[:, :n] * loss_costs).sum(axis=1) + offset
        return MostViolating(psi[:, :n], psi[:, n:], losses, offset - found.bounds)

    def outputs_of(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Any:
        return self.decode(NetworkScores(scores, constants), examples).outputs

    # ------------------------------------------------------------------ predicting
    def smooth(self, smoother: Any, X: Any) -> Any:
        return NetworkScores(smoother.predict(X), smoother.constants_)

    def decode(self, means: Any, rows: Any = slice(None)) -> Any:
        # Weights of edges are the same for all rows: only what a product gave is rounded.
        labels = self._snapped(-means.labels)
        return Solving.of(self.space.rows(rows)).argmin_shared(labels, -means.edges)

    def costs(self, means: Any) -> tuple[np.ndarray, np.ndarray]:
        n, edges = len(means.labels), means.edges
        labels = self._snapped(-means.labels)
        costs = np.hstack([labels, np.broadcast_to(-edges, (n, len(edges)))])
        return costs, np.zeros(n)

    def bytes_per_row(self) -> Any:
        return 8 * (6 * self.n_seeing + 3 * self.n_features)


class NetworkLearner(HingeLearner):
    """What networks and trees share: label sets, a graph over them, and weights of its edges."""

    @staticmethod
    def _additive(problem: NetworkMargins, space: PairwiseLabels, X: Any) -> NetworkMargins:
        """The problem, if inputs and loss are such that labels and pairs of labels are scored."""
        if isinstance(X, TokenBatch):
            raise ValueError(
                "X has features for every position of a sequence; a network over labels has one "
                "row of features per label set. StructuredSVM(Sequences()) learns chains."
            )
        if problem.scored is not space or problem.decoder is not space:
            raise ValueError(
                f"A network is trained for losses that add up over labels, such as 'hamming'; got "
                f"{type(problem.loss).__name__}. StructuredSVM takes others."
            )
        return problem

    @property
    def edge_coef_(self) -> Any:
        """Weights of the edges ``space_.edges_``; shape (n_edges,)."""
        check_is_fitted(self)
        return self.scores_.constants_

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the labels, then those of the edges ``space_.edges_``, which are the same in
        every row; shape (n, n_labels + n_edges).
        """
        X, _ = self._checked(X)
        costs, _ = self.problem_.costs(self.problem_.smooth(self.scores_, X))
        return -costs

    def _weighted_graph(self) -> networkx.Graph:
        """The graph over the labels' names, edges with their weights."""
        names, graph = self.space_.labels_, self.space_.graph_
        for (i, j), weight in zip(self.space_.edges_, self.edge_coef_):
            graph[names[i]][names[j]]["weight"] = float(weight)
        return graph


@savable
class MaxMarginNetwork(NetworkLearner):
    r"""Label sets scored by their labels and by pairs of labels, learned with large margin.

    .. math:: f(x, y) = \sum_i y_i \langle w_i, x \rangle + \sum_{ij \in G} w_{ij} y_i y_j

    is learned by minimizing [1]_ [2]_

    .. math:: \tfrac\alpha2 \|w\|^2 + \beta \sum_{ij} |w_{ij}|
              + \frac1n \sum_m \max_y \bigl(\ell(y, y_m) + f(x_m, y) - f(x_m, y_m)\bigr).

    Where the graph has cycles, the maximum is over the local polytope, an upper bound of the
    hinge that is attained by one min-cut (roof duality), unless the space is exact.

    Edges and the constant feature are penalised like the features, so that the scale of the
    inputs matters: rows of about unit length are a good start, and training is quick there.

    Parameters
    ----------
    space : PairwiseLabels, "full", "empty", edges or networkx.Graph, default=None
        Which pairs of labels have a weight, and whether most violating outputs are found exactly
        in training where the graph has cycles (``PairwiseLabels(graph, exact=True)``, which may
        take exponential time beyond a few labels). A graph stands for ``PairwiseLabels(graph)``,
        and None for all pairs. For edges that see the inputs too, with
        :math:`\langle w_{ij}, x \rangle` in place of :math:`w_{ij}`, give the space to
        :class:`~skstruct.learners.StructuredSVM`.
    loss : str or loss, default=None
        A loss that adds up over labels; "hamming" when None.
    alpha : float, several, or "auto", default="auto"
        Weight of the square penalty; chosen as in :class:`~skstruct.learners.StructuredSVM`.
    l1 : float, default=0.0
        Weight :math:`\beta` of the absolute penalty of the edges.
    kernel, n_landmarks, fit_intercept, tol, max_iter, n_jobs, verbose, random_state
        As in :class:`~skstruct.learners.StructuredSVM`.

    Attributes
    ----------
    alpha_, search_ : the penalty, and how it was chosen; see StructuredSVM
    coef_, intercept_ : arrays of shape (n_labels, p) and (n_labels,)
    edge_coef_ : array of shape (n_edges,), weights of ``space_.edges_``
    graph_ : networkx.Graph over the label names, with the weights
    gap_, objective_, dual_objective_, n_iter_, history_ : see StructuredSVM

    References
    ----------
    .. [1] B. Taskar, C. Guestrin, D. Koller, "Max-margin Markov networks", NIPS 2003.
    .. [2] T. Finley, T. Joachims, "Training structural SVMs when exact inference is
       intractable", ICML 2008.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]
    >>> Y = [{"sun"}, {"sun"}, {"sun", "sea"}, {"sun", "sea"}, {"rain"}, {"rain"}]
    >>> model = MaxMarginNetwork(alpha=0.001, random_state=0).fit(X, Y)
    >>> [sorted(labels) for labels in model.predict([[0.1], [1.1], [2.1]])]
    [['sun'], ['sea', 'sun'], ['rain']]
    >>> model.graph_["rain"]["sun"]["weight"] < 0
    True
    """

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        *,
        alpha: Any = "auto",
        l1: float = 0.0,
        kernel: Any = "linear",
        n_landmarks: int | None = None,
        fit_intercept: bool = True,
        tol: float = 0.01,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.alpha = alpha
        self.l1 = l1
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (np.isfinite(self.l1) and self.l1 >= 0):
            raise ValueError(f"l1 is finite and at least zero; got {self.l1!r}.")

    def _new_space(self, y: Any) -> Any:
        if self.space is None:
            return PairwiseLabels("full")
        if isinstance(self.space, PairwiseLabels):
            return clone(self.space)
        if isinstance(self.space, BaseSpace):
            raise ValueError(
                "space is a PairwiseLabels, or a graph over the labels; got "
                f"{type(self.space).__name__}."
            )
        return PairwiseLabels(self.space)

    def _problem(self, X: Any) -> Any:
        relaxed = not self.space_.exact
        problem = NetworkMargins(self.space_, self.loss_, self.outputs_, relaxed=relaxed)
        return self._additive(problem, self.space_, X)

    def _new_dual(self, rows: Any, share: np.ndarray, alpha: float, memory: int) -> Any:
        dual = super()._new_dual(rows, share, alpha, memory)
        return dual.penalise(l1=self.l1) if self.l1 else dual

    def _oracle(self) -> Any:
        return self.problem_.vertices

    @property
    def graph_(self) -> Any:
        """The graph over the labels' names, edges with their weights."""
        check_is_fitted(self)
        return self._weighted_graph()
