# SPDX-License-Identifier: BSD-3-Clause
"""Trees by a cost on circles: the circuit rank regularizer."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from skstruct._arrays.checks import is_count, is_number
from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.max_margin.chow_liu import n_nodes, spanning_forest
from skstruct.learners.max_margin.contest import Contest
from skstruct.learners.max_margin.tree_search import train_on
from skstruct.saving import savable
from skstruct.spaces.solvers.pairwise.forests import is_forest, random_tree_edges

ROUNDS = 3  # of linearising, before the cost goes up
FIRST, LAST = 16.0, 4.0  # random starts begin between these shares of the highest cost
FEW_CACHED = 2  # passes over known vertices: a tangent needs no more, and they are slow with l1
PATIENCE = 8  # exchanges in a row that were tried, the most promising first, and gained nothing


@savable
class CircuitRank(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""How :class:`~skstruct.learners.MaxMarginTree` finds a forest: by a cost on circles.

    Parameters
    ----------
    beta : float, default=None
        Largest cost :math:`\beta` of the path; None is the value at which a forest is certain.
        Circles that are left are cut at their weakest edges.
    n_restarts : int, default=10
        Starting points; the forest of least objective is taken.
    exchange : bool, default=True
        Whether edges of that forest are exchanged for others, one at a time, while this lowers the
        objective by a thousandth at least. Bounds from the dual leave few exchanges to be trained.

    Examples
    --------
    >>> from skstruct.learners import MaxMarginTree
    >>> X = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]
    >>> Y = [{"sun"}, {"sun"}, {"sun", "sea"}, {"sun", "sea"}, {"rain"}, {"rain"}]
    >>> tree = MaxMarginTree(method=CircuitRank(n_restarts=2), alpha=0.001, random_state=0)
    >>> tree.fit(X, Y).tree_.number_of_edges() <= 2
    True
    """

    def __init__(
        self, beta: float | None = None, n_restarts: int = 10, exchange: bool = True
    ) -> None:
        self.beta = beta
        self.n_restarts = n_restarts
        self.exchange = exchange

    def check(self) -> None:
        """Raise where a parameter is not what it should be."""
        if self.beta is not None and not (is_number(self.beta) and 0 < self.beta < np.inf):
            raise ValueError(f"beta is positive and finite, or None; got {self.beta!r}.")
        if not is_count(self.n_restarts):
            raise ValueError(f"n_restarts is a whole number from 1; got {self.n_restarts!r}.")
        if not isinstance(self.exchange, (bool, np.bool_)):
            raise ValueError(f"exchange is True or False; got {self.exchange!r}.")


def circuit_cost(edges: np.ndarray, weights: np.ndarray) -> float:
    r"""Sum of :math:`|w_e|` over the edges off a maximum spanning forest T of :math:`|w|`.

    .. math:: f_1 - f_2 = \sum_e |w_e| - \sum_{e \in T} |w_e|

    is zero when the edges of nonzero weight are a forest, and only then: a continuous stand-in
    for the circuit rank, the number of edges to take away until no circle is left.

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> circuit_cost(triangle, np.array([3.0, -2.0, 0.5])), circuit_cost(triangle, np.eye(3)[0])
    (0.5, 0.0)
    """
    size = np.abs(weights)
    return float(size.sum() - size[spanning_forest(edges, size)].sum())


def linearise(edges: np.ndarray, weights: np.ndarray, z: np.ndarray) -> np.ndarray:
    """A subgradient of f_2: the signs of the weights on their maximum spanning forest.

    Where weights are zero any number in [-1, 1] will do: the forest is completed by the
    edges that pull most, |z_e|, with the sign of their pull, so that edges can come back.
    """
    forest = spanning_forest(edges, np.abs(weights), np.abs(z))
    return np.where(forest, np.sign(np.where(weights != 0.0, weights, z)), 0.0)


def sufficient_cost(Y: Any, edges: np.ndarray, share: np.ndarray | None = None) -> float:
    r"""A cost :math:`\beta` that leaves a forest at once: :math:`\max_e \max(p_e, 1 - p_e)`.

    Here p_e is how often two labels occur together. A mean of vertices pulls at an edge by
    :math:`|z_e| = |p_e - \bar\mu_e| \le \beta`, so that edges off the forest stay at zero.

    >>> sufficient_cost(np.array([[1, 1], [0, 1], [0, 0], [1, 1]]), np.array([[0, 1]]))
    0.5
    """
    Y = np.asarray(Y)
    together = np.average(Y[:, edges[:, 0]] * Y[:, edges[:, 1]], axis=0, weights=share)
    return float(np.maximum(together, 1.0 - together).max(initial=0.0))


def _trained_without_and_with_edges(
    dual: Any,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    rng: np.random.Generator,
    training: dict[str, Any],
    level: Any,
) -> Any:
    """The dual is trained without edges; a copy of it, which is returned, with all."""
    if level.found:
        dual.restore(level.found["dual"])
    else:
        none = np.zeros(len(edges), bool)
        train_on(dual, oracle, none, rng=rng, **training, level=level.below("no edges"))
    level.keep(dual=dual)
    full = dual.fork()
    if "full" in level.found:
        full.restore(level.found["full"])
    else:
        all_edges = np.ones(len(edges), bool)
        below = level.below("all edges")
        train_on(full, oracle, all_edges, rng=rng.spawn(1)[0], **training, level=below)
    level.keep(full=full)
    return full


def crank(
    dual: Any,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    *,
    n_restarts: int = 10,
    exchange: bool = True,
    beta_max: float = 1.0,
    growth: float = 2.0,
    inner_tol: float = 0.05,
    tol: float = 0.01,
    accuracy: float = 1e-3,
    max_iter: int = 1000,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: Callable[..., Any] | None = None,
    level: Any = NOWHERE,
) -> tuple[np.ndarray, Any]:
    r"""A forest by the convex-concave procedure, with a growing cost on circles [1]_.

    Minimizes :math:`P(w) + \beta (f_1 - f_2)(w)`, see ``circuit_cost``: again and again
    :math:`-f_2` is replaced by its tangent, which leaves a convex problem of plain l1 cost
    :math:`\beta` and shift :math:`\beta v`. When the tangent no longer changes and circles
    are left, :math:`\beta` goes up. Training goes on from the means of the problem before.

    Starts differ by their first tangent: the first one is that of the model with all edges,
    the second that of the model with none, the others have a random tree with random signs
    and a random first cost. They give forests, of which the one of least objective is taken: each
    begins at the means of the best so far, and is trained while its bound leaves it a chance.

    Parameters
    ----------
    dual : HingeDual
        Where training begins; used up.
    oracle : callable
    edges : int array of shape (E, 2)
        Which labels the constants of the dual join.
    n_restarts : int
        How many starts.
    exchange : bool
        Whether edges are exchanged in the end; see ``Contest``.
    beta_max : float
        A cost that is high enough; ``sufficient_cost``, which is never above 1 when the
        products of labels that edges weigh are in [0, 1].
    growth : float
        What the cost is multiplied by.
    inner_tol, tol : float
        Gap of convex problems on the way, and of the weights in the end, as a share of the
        objective.
    accuracy : float
        The gap, again as a share, to which forests are trained that are to be compared, and the
        least gain that counts.
    max_iter : int
        Passes over the examples, of each training.
    rng : Generator or int
    n_jobs : int
        Threads for the starts. The result does not depend on it.
    progress : callable
        Given the number of the start and its forest, when one is done.
    level : Level
        Where a fit that is saved goes on.

    Returns
    -------
    forest : bool array of shape (E,)
    dual : HingeDual
        Trained on the forest.

    References
    ----------
    .. [1] O. Meshi, E. Eban, G. Elidan, A. Globerson, "Learning max-margin tree predictors",
       UAI 2013.
    """
    rng = np.random.default_rng(rng)
    training: dict[str, Any] = {"tol": inner_tol, "max_iter": max_iter}
    full = _trained_without_and_with_edges(dual, oracle, edges, rng, training, level)
    top = min(float(np.abs(dual.z).max(initial=0.0)) or beta_max, beta_max)  # the strongest pull

    def begun(number: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """The first tangent and the first cost."""
        if number > 1:
            v, share = random_start(edges, rng)
            return v, share * top
        model = dual if number else full
        return linearise(edges, model.constants, model.z), top / FIRST

    def run(number: int, rng: np.random.Generator, level: Any) -> Any:
        start, stopped = full.fork(), level.found
        v = stopped.get("v")
        v, beta = begun(number, rng) if v is None else (v, stopped["beta"])
        level.keep(v=v, beta=beta)
        start.cached_passes = FEW_CACHED
        return follow(
            start, oracle, edges, v, beta, rng=rng, **training,
            beta_max=beta_max, growth=growth, level=level.below("cost"),
        )  # fmt: skip

    *children, last = rng.spawn(n_restarts + 1)
    found = list(level.found.get("forests", ()))
    level.keep(forests=found)
    lanes = level.beside(map(str, range(len(found), n_restarts)))
    jobs = (delayed(run)(int(name), children[int(name)], lane) for name, lane in lanes.items())
    for number, forest in enumerate(_in_threads(jobs, n_jobs), len(found)):
        found.append(forest)
        level.keep(str(number), forests=found)
        if progress is not None:
            progress(number, forest)
    fine = min(tol, accuracy) if exchange or n_restarts > 1 else tol
    settings: dict[str, Any] = {"accuracy": fine, "max_iter": max_iter, "rng": last}
    contest = Contest(dual, oracle, edges, **settings, level=level.below("contest"))
    contest.best_of(found)
    if exchange:
        contest.exchange(PATIENCE)
    assert contest.forest is not None
    return contest.forest, contest.dual


def _in_threads(jobs: Iterable[Any], n_jobs: int | None) -> Any:
    """Results in order, one at a time: a dual takes much memory."""
    return Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(jobs)


def random_start(edges: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Random signs on a random spanning tree, and a random share of the highest cost."""
    number = {(i, j): e for e, (i, j) in enumerate(edges.tolist())}
    v = np.zeros(len(edges))
    tree = random_tree_edges(n_nodes(edges), rng)
    v[[number[i, j] for i, j in tree.tolist()]] = rng.choice([-1.0, 1.0], len(tree))
    return v, float(np.exp(-rng.uniform(np.log(LAST), np.log(FIRST))))


def follow(
    dual: Any,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    v: np.ndarray,
    beta: float,
    *,
    beta_max: float = 1.0,
    growth: float = 2.0,
    tol: float = 0.01,
    max_iter: int = 1000,
    rng: Any = None,
    each_round: Callable[..., Any] | None = None,
    level: Any = NOWHERE,
) -> Any:
    """Raise the cost from ``beta`` until a forest is left, from a tangent v; its mask (E,)."""
    first, stopped = 0, level.found
    if stopped:
        v, beta, first = stopped["v"], stopped["beta"], stopped["turn"]
    while True:
        for turn in range(first, ROUNDS):
            level.keep(v=v, beta=beta, turn=turn)
            dual.penalise(l1=beta, shift=beta * v)
            dual.solve(oracle, tol, range(max_iter), rng, level.below("training"))
            if each_round is not None:
                each_round(beta, dual)
            before, v = v, linearise(edges, dual.constants, dual.z)
            if settled := bool((before == v).all()):
                break
        if beta >= beta_max or (settled and is_forest(n_nodes(edges), edges[dual.constants != 0])):
            return v != 0.0
        beta, first = min(growth * beta, beta_max), 0
