# SPDX-License-Identifier: BSD-3-Clause
"""Max-margin predictors whose labels depend on each other along a learned tree."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import is_count
from skstruct._arrays.progress import ticker
from skstruct.learners.max_margin.chow_liu import chow_liu
from skstruct.learners.max_margin.circuit_rank import crank, sufficient_cost
from skstruct.learners.max_margin.network import NetworkLearner, NetworkMargins
from skstruct.learners.max_margin.tree_search import greedy, mst, project, train_on
from skstruct.saving import savable
from skstruct.spaces.pairwise.labels import PairwiseLabels

METHODS = ("crank", "greedy", "project", "mst", "chow-liu", "empty", "full")


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
    method : str, default="crank"
        "crank"; "greedy" adds the edge of largest gain, time after time; "mst" takes the
        maximum spanning forest of the gains of single edges; "project" that of the weights of
        the full network; "chow-liu" that of the mutual information of the labels [2]_. "empty"
        and "full" are the networks without edges and with all: full is no forest, and is here
        to be compared with.
    loss : str or loss, default="hamming"
        A loss that adds up over labels.
    lam : float, default=0.01
        Weight of the square penalty.
    beta : float, default=None
        Largest :math:`\beta` of the path; None is the value at which a forest is certain.
        Circles that are left are cut at their weakest edges.
    n_restarts : int, default=10
        Starting points of CRANK; the forest of least objective is taken.
    kernel, gamma, degree, coef0, n_components, fit_intercept
        As in :class:`~skstruct.learners.StructuredSVM`.
    tol, max_iter, warm_start, memory, verbose, random_state
        As in :class:`~skstruct.learners.StructuredSVM`.
    n_jobs : int, default=None
        Threads for restarts, and for blocks of rows at prediction.

    Attributes
    ----------
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
    >>> model = MaxMarginTree(lam=0.001, n_restarts=2, random_state=0).fit(X, Y)
    >>> [sorted(labels) for labels in model.predict([[0.1], [1.1], [2.1]])]
    [['sun'], ['sea', 'sun'], ['rain']]
    >>> model.tree_.number_of_edges() <= 2
    True
    """

    def __init__(
        self,
        method: str = "crank",
        *,
        loss: str = "hamming",
        lam: float = 0.01,
        beta: float | None = None,
        n_restarts: int = 10,
        kernel: str = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: int = 1,
        n_components: Any = None,
        fit_intercept: bool = True,
        tol: float = 0.01,
        max_iter: int = 1000,
        warm_start: bool = False,
        memory: str = "1GB",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.loss = loss
        self.lam = lam
        self.beta = beta
        self.n_restarts = n_restarts
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.method not in METHODS:
            raise ValueError(f"method is one of {', '.join(METHODS)}; got {self.method!r}.")
        if self.beta is not None and not (np.isfinite(self.beta) and self.beta > 0):
            raise ValueError(f"beta is positive and finite, or None; got {self.beta!r}.")
        if not is_count(self.n_restarts):
            raise ValueError(f"n_restarts is a whole number from 1; got {self.n_restarts!r}.")

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
        if self.method in ("empty", "full", "chow-liu"):
            mask = np.full(len(edges), self.method == "full")
            if self.method == "chow-liu":
                mask = chow_liu(Y, edges, dual.share)
            return mask, train_on(dual, oracle, mask, **settings)
        if self.method == "crank":
            beta = sufficient_cost(Y, edges, dual.share) if self.beta is None else self.beta
            with ticker(self.n_restarts, "starts", self.verbose) as tick:
                return crank(
                    dual, oracle, edges, beta_max=beta, n_restarts=self.n_restarts,
                    n_jobs=self.n_jobs, progress=tick, **settings,
                )  # fmt: skip
        if self.method == "greedy":
            with ticker(len(self.space_.labels_) - 1, "edges", self.verbose) as tick:
                return greedy(dual, oracle, edges, progress=tick, **settings)
        method = {"mst": mst, "project": project}[self.method]
        return method(dual, oracle, edges, **settings)
