# SPDX-License-Identifier: BSD-3-Clause
"""Max-margin predictors whose labels depend on each other along a learned tree."""

from typing import Any

import numpy as np

from skstruct._arrays.progress import ticker
from skstruct.learners.max_margin.chow_liu import chow_liu
from skstruct.learners.max_margin.circuit_rank import CircuitRank, crank, sufficient_cost
from skstruct.learners.max_margin.network import NetworkLearner, NetworkMargins
from skstruct.learners.max_margin.tree_search import greedy, mst, project, train_on
from skstruct.saving import savable
from skstruct.spaces import PairwiseLabels

FIXED = ("empty", "full")
METHODS = ("crank", "greedy", "project", "mst", "chow-liu", *FIXED)


@savable
class MaxMarginTree(NetworkLearner):
    r"""Label sets scored by their labels and along the edges of a tree that is learned too.

    .. math:: f(x, y) = \sum_i y_i \langle w_i, x \rangle + \sum_{ij \in T} w_{ij} y_i y_j,
              \qquad \hat y(x) = \arg\max_y f(x, y) \text{ in } O(n)

    minimizes the regularised structured hinge of
    :class:`~skstruct.learners.MaxMarginNetwork` over weights *and* forests T, which is
    NP-hard. CRANK [1]_ starts from all pairs of labels and penalises circles,

    .. math:: \beta \Bigl(\sum_{ij} |w_{ij}| - \sum_{ij \in T(w)} |w_{ij}|\Bigr),

    with T(w) the maximum spanning forest of the absolute weights: a convex problem for every
    guess of T (the convex-concave procedure), for larger and larger :math:`\beta`. A forest
    is certain at :math:`\beta = \max_{ij} \max(p_{ij}, 1 - p_{ij})`, where :math:`p_{ij}` is
    how often both labels occur together. Weights are then trained anew on the forest.

    Parameters
    ----------
    loss : str or loss, default="hamming"
        A loss that adds up over labels.
    method : str or CircuitRank, default="crank"
        "crank", which stands for :class:`CircuitRank`; "greedy" adds the edge of largest gain,
        time after time; "mst" takes the maximum spanning forest of the gains of single edges;
        "project" that of the weights of the full network; "chow-liu" that of the mutual
        information of the labels [2]_. "empty" and "full" are the networks without edges and with
        all: full is no forest, and is here to be compared with.
    alpha : float, several, or "auto", default="auto"
        Weight of the square penalty; chosen as in :class:`~skstruct.learners.StructuredSVM`. Where
        the forest is searched by training, penalties are compared on the Chow-Liu forest of the
        rows that are not left out: one training for each, in place of a search.
    kernel, n_landmarks, fit_intercept, tol, max_iter, verbose, random_state
        As in :class:`~skstruct.learners.StructuredSVM`.
    n_jobs : int, default=None
        Threads for restarts, and for blocks of rows at prediction.

    Attributes
    ----------
    alpha_, search_ : the penalty, and how it was chosen; see StructuredSVM
    tree_ : networkx.Graph over the label names, edges with their weights
    coef_, intercept_ : arrays of shape (n_labels, p) and (n_labels,)
    edge_coef_ : array of shape (n_edges,), weights of ``space_.edges_``
    gap_, objective_, dual_objective_, history_ : see StructuredSVM; for the weights on the forest
    n_iter_ : int, passes over the examples of all trainings that led there

    References
    ----------
    .. [1] O. Meshi, E. Eban, G. Elidan, A. Globerson, "Learning max-margin tree predictors",
       UAI 2013.
    .. [2] C. K. Chow, C. N. Liu, "Approximating discrete probability distributions with
       dependence trees", IEEE Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]
    >>> Y = [{"sun"}, {"sun"}, {"sun", "sea"}, {"sun", "sea"}, {"rain"}, {"rain"}]
    >>> model = MaxMarginTree(alpha=0.001, random_state=0).fit(X, Y)
    >>> [sorted(labels) for labels in model.predict([[0.1], [1.1], [2.1]])]
    [['sun'], ['sea', 'sun'], ['rain']]
    >>> model.tree_.number_of_edges() <= 2
    True
    """

    def __init__(
        self,
        loss: Any = "hamming",
        *,
        method: Any = "crank",
        alpha: Any = "auto",
        kernel: Any = "linear",
        n_landmarks: int | None = None,
        fit_intercept: bool = True,
        tol: float = 0.01,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.method = method
        self.alpha = alpha
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
        if isinstance(self.method, CircuitRank):
            self.method.check()
        elif not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(
                f"method is one of {', '.join(METHODS)}, or CircuitRank; got {self.method!r}."
            )

    def _new_space(self, y: Any) -> Any:
        return PairwiseLabels("full")

    def _problem(self, X: Any) -> Any:
        """Of all pairs of labels: which of them matter is to be found."""
        space = self._space_of("full")
        return self._additive(NetworkMargins(space, self.loss_, self.outputs_), space, X)

    def _space_of(self, graph: Any) -> PairwiseLabels:
        """The space of another graph over the same labels."""
        space = PairwiseLabels(graph, labels=self.space_.labels_)
        space.format_ = self.space_.format_
        return space

    def _oracle(self) -> Any:
        return self.problem_.vertices

    def _solve(self, dual: Any, level: Any) -> Any:
        edges, rng = self.problem_.space.edges_, np.random.default_rng(self._seed())
        mask, dual = self._structure(dual, edges, rng, level.below("structure"))
        self._finish(dual)
        self.scores_.constants_ = dual.constants[mask]
        names = self.space_.labels_
        self.space_ = self._space_of([(names[i], names[j]) for i, j in edges[mask]])
        n_features = self.problem_.n_features
        self.problem_ = NetworkMargins(self.space_, self.loss_, self.outputs_)
        self.problem_.n_features = n_features
        self.tree_ = self._weighted_graph()
        return dual

    def _structure(
        self, dual: Any, edges: np.ndarray, rng: np.random.Generator, level: Any
    ) -> tuple[np.ndarray, Any]:
        """Which edges are kept, and the dual trained on these."""
        settings = {"tol": self.tol, "max_iter": self.max_iter, "rng": rng, "level": level}
        oracle, Y = self.problem_.vertices, self.outputs_
        mask = self._known_structure(edges, Y, dual.share)
        if mask is not None:
            return mask, train_on(dual, oracle, mask, **settings)
        if self.method == "greedy":
            with ticker(len(self.space_.labels_) - 1, "edges", self.verbose) as tick:
                return greedy(dual, oracle, edges, progress=tick, **settings)
        if self.method in ("mst", "project"):
            method = {"mst": mst, "project": project}[self.method]
            return method(dual, oracle, edges, **settings)
        chosen = CircuitRank() if isinstance(self.method, str) else self.method
        beta = sufficient_cost(Y, edges, dual.share) if chosen.beta is None else chosen.beta
        with ticker(chosen.n_restarts, "starts", self.verbose) as tick:
            return crank(
                dual, oracle, edges, beta_max=beta, n_restarts=chosen.n_restarts,
                exchange=chosen.exchange, n_jobs=self.n_jobs, progress=tick, **settings,
            )  # fmt: skip

    def _known_structure(
        self, edges: np.ndarray, Y: np.ndarray, share: np.ndarray
    ) -> np.ndarray | None:
        """The edges by mask, where no weights need to be trained to find them."""
        if not isinstance(self.method, str):
            return None
        if self.method == "chow-liu":
            return chow_liu(Y, edges, share)
        return np.full(len(edges), self.method == "full") if self.method in FIXED else None

    def _fold_dual(self, rows: Any, share: np.ndarray, alpha: float, learned: np.ndarray) -> Any:
        """With the edges of the method where they are known at once, else those of Chow and Liu.

        A search for the forest is many trainings, for each penalty and each fold.
        """
        dual = super()._fold_dual(rows, share, alpha, learned)
        edges, Y = self.problem_.space.edges_, self.outputs_[learned]
        mask = self._known_structure(edges, Y, share)
        mask = chow_liu(Y, edges, share) if mask is None else mask
        return dual.penalise(l1=np.where(mask, 0.0, np.inf), shift=0.0)
