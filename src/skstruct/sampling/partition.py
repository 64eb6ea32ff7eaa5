# SPDX-License-Identifier: BSD-3-Clause
"""Quick estimates of ln Z from counts alone.

Over all outputs, f = <u, psi> has mean m = psibar'u and variance v = u'Su, which countable
spaces know. Neither estimate has a guarantee; both are exact for u = 0, and the cumulant one is
right to second order around the uniform distribution whatever the number of outputs.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.memory import row_blocks
from skstruct.sampling.annealed_estimates import MOST_CHAINS, annealed_estimate, check_accuracy
from skstruct.sampling.chains import mean_of
from skstruct.sampling.convergence import warn_if_moved
from skstruct.sampling.metropolis import check_sizes
from skstruct.sampling.populations import BATCHES, Population
from skstruct.spaces import Countable, Inference
from skstruct.spaces.common.listing import check_scores
from skstruct.spaces.solvers.proposals import Proposals


def moments_of_scores(space: Any, scores: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """ln |Y|, and mean and variance of <u, psi(Y)> for uniform Y; shapes (n,)."""
    if not isinstance(space, Countable) or not hasattr(space, "covariance"):
        raise ValueError(
            f"{type(space).__name__} is not Countable: quick estimates need log_size(), "
            "mean_embedding() and second_moment(). Use method='annealed'."
        )
    mean = scores @ np.asarray(space.mean_embedding())
    variance = np.einsum("nd,nd->n", scores, space.covariance().apply(scores))
    return space.log_size(), mean, np.maximum(variance, 0.0)


def cumulant_estimate(space: Any, scores: np.ndarray) -> np.ndarray:
    r""":math:`\ln |\mathcal Y| + m + v / 2`; exact where f is normally distributed."""
    log_size, mean, variance = moments_of_scores(space, scores)
    return log_size + mean + variance / 2


def taylor_estimate(space: Any, scores: np.ndarray) -> np.ndarray:
    r""":math:`\ln |\mathcal Y| (1 + m + (v + m^2) / 2)`, the second order expansion of exp."""
    log_size, mean, variance = moments_of_scores(space, scores)
    return log_size + np.log1p(mean + (variance + mean**2) / 2)


# Partition functions and marginals of a distribution on a space, by whichever way there is.


SWEEPS = 5  # at each level of annealing
OPTIONS = (
    "n_draws", "n_sweeps", "proposals", "p", "draws", "max_trials", "n_jobs", "verbose"
)  # fmt: skip
METHODS = ("auto", "exact", "annealed", "cumulant", "taylor")


@dataclass(frozen=True, eq=False)
class LogPartition:
    """Logarithms of partition functions with what is known of their errors.

    Attributes
    ----------
    values : array (n,)
    lower, upper : arrays (n,)
        Hold ln Z with probability ``confidence``; NaN where a method promises nothing.
    errors : array (n,)
        Standard errors by the spread of the draws; 0 where values are exact, NaN where too few
        draws saw too little to tell.
    confidence : float
        Of draws by chains, as far as these mix; of exact ones without a proviso.
    method : str
    draws : array (n,) of str
        ``"none"`` where nothing was drawn, ``"exact"``, ``"chains"``, or ``"mixed"``: exact up to
        some level of annealing, and chains from there on.
    """

    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    errors: np.ndarray
    confidence: float
    method: str
    draws: np.ndarray

    @classmethod
    def joined(cls, parts: "list[LogPartition]") -> "LogPartition":
        """Those of several blocks of rows, one after the other."""
        names = ("values", "lower", "upper", "errors", "draws")
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in names
        }
        return replace(parts[0], **arrays)

    @classmethod
    def exact(cls, values: np.ndarray) -> "LogPartition":
        """Values that are known."""
        return cls(
            values, values, values, np.zeros(len(values)), 1.0, "exact", _nothing_drawn(values)
        )


def _nothing_drawn(values: np.ndarray) -> np.ndarray:
    return np.full(len(values), "none", dtype="<U6")


def log_partition(
    space: Any,
    scores: ArrayLike,
    *,
    method: str = "auto",
    eps: float = 0.1,
    delta: float = 0.25,
    return_interval: bool = False,
    rng: int | np.random.Generator | None = None,
    **options: Any,
) -> Any:
    r""":math:`\ln Z = \ln \sum_{y \in \mathcal Y} \exp \langle u, \psi(y) \rangle`, row by row.

    Parameters
    ----------
    space : fitted space
    scores : array u of shape (n, d), or (d,) for one row
    method : "auto", "exact", "annealed", "cumulant" or "taylor", default="auto"
        Exact by dynamic programming; annealed between the uniform distribution and this one, with a
        promise [1]_; or quick, from counts alone and with no promise. ``"auto"`` is exact where
        that is possible, else annealed.
    eps, delta : float, default=0.1 and 0.25
        The annealed estimate is right up to a factor :math:`1 \pm \epsilon` with probability
        :math:`1 - \delta`, as far as chains mix; with ``draws="exact"`` that is a theorem [1]_: the
        probability that it answers and is wrong is at most :math:`\delta`.
    return_interval : bool, default=False
        Whether to return a :class:`LogPartition`, with intervals, instead of an array.
    rng : int or Generator, default=None
    **options
        Of :func:`~skstruct.sampling.annealed_estimates.annealed_estimate`: ``n_draws`` for an
        estimate of so many chains with a standard error in place of the promise, ``n_sweeps``,
        ``proposals``, ``p``, ``n_jobs``, ``verbose``; ``draws="exact"`` for draws by rejection or
        coupling from the past at every level (an error says where these take more than
        ``max_trials``), ``"auto"`` for such draws up to the level where they cost too much.

    Returns
    -------
    values : array of shape (n,), or LogPartition

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       sections 6.3 and 6.4, with the sharper constants of
       :mod:`skstruct.sampling.annealed_estimates`; exact draws: Theorems 6.5 and 6.11 together.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets(["a", "b"])
    >>> log_partition(space, [[0.0, 0.0]]), np.log(4)
    (array([1.38629436]), np.float64(1.3862943611198906))
    >>> sure = log_partition(space, [1.0, -1.0], method="annealed", return_interval=True, rng=0)
    >>> bool(sure.lower[0] < log_partition(space, [1.0, -1.0])[0] < sure.upper[0])
    True
    >>> found = log_partition(
    ...     space, [1.0, -1.0], method="annealed", draws="exact", return_interval=True, rng=0
    ... )
    >>> found.draws, found.confidence
    (array(['exact'], dtype='<U6'), 0.75)
    """
    check_method(method)
    scores = check_scores(scores, space)
    check_accuracy(eps, delta)
    unknown = set(options) - set(OPTIONS)
    if unknown:
        raise TypeError(f"Options are {', '.join(OPTIONS)}; got {unknown.pop()!r}.")
    found = None
    if method in ("auto", "exact"):
        distribution = exact_distribution(space, scores, required=method == "exact")
        if distribution is not None:
            found = LogPartition.exact(distribution.log_partition)
    if found is None and method in ("auto", "annealed"):
        found = _annealed(space, scores, eps, delta, rng, options)
    if found is None:
        quick = {"cumulant": cumulant_estimate, "taylor": taylor_estimate}[method]
        values = quick(space, scores)
        nothing = np.full(len(values), np.nan)
        found = LogPartition(values, nothing, nothing, nothing, 0.0, method, _nothing_drawn(values))
    return found if return_interval else found.values


def _annealed(
    space: Any,
    scores: np.ndarray,
    eps: float,
    delta: float,
    rng: int | np.random.Generator | None,
    options: dict[str, Any],
) -> LogPartition:
    values, errors, draws = annealed_estimate(
        space, scores, eps=eps, delta=delta, rng=rng, **options
    )
    promised = options.get("n_draws") is None
    if promised:  # |Zhat / Z - 1| <= eps
        lower = values - np.log1p(eps)
        upper = values - (np.log1p(-eps) if eps < 1 else -np.inf)
    else:  # errors are themselves from the spread of a few batches
        from scipy.stats import t

        wide = t.isf(delta / 2, BATCHES - 1) * errors
        lower, upper = values - wide, values + wide
    return LogPartition(values, lower, upper, errors, 1.0 - delta, "annealed", draws)


def marginals(
    space: Any,
    scores: ArrayLike,
    *,
    method: str = "auto",
    n_draws: int = 1000,
    n_warmup: int = 50,
    proposals: str | Proposals = "auto",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    r""":math:`\mathbf E\, \psi(Y)` under :math:`p(y) \propto \exp \langle u, \psi(y) \rangle`.

    Parameters
    ----------
    space : fitted space
    scores : array u of shape (n, d), or (d,) for one row
    method : "auto", "exact" or "chains", default="auto"
        By dynamic programming, or the mean over Markov chains; ``"auto"`` is exact where that
        is possible.
    n_draws : int, default=1000
        Chains of every row, annealed together from the uniform distribution, of which the last
        output is taken.
    n_warmup : int, default=50
        Sweeps of every chain once it is there.
    moves, rng, n_jobs : see :class:`~.metropolis.Metropolis`

    Returns
    -------
    means : array of shape (n, d)
        From S independent draws, <means, z> is off by at least eps with probability
        :math:`2 e^{-\epsilon^2 S / (2 R^2 \|z\|^2)}` at most, :math:`R = \max \|\psi\|`; draws of
        chains are that as far as they mix.

    Notes
    -----
    The gradient of :math:`\ln Z` is this mean. To anneal it coordinate by coordinate, as ratios of
    partition functions with the weights :math:`\psi_j(y)` (appendix C.2 of the thesis that
    :func:`log_partition` cites), is not offered: weights of zero or of both signs leave no
    distribution to draw from, and the common schedule printed there depends on y.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> marginals(LabelSets(["a", "b"]), np.log([[3.0, 1.0]]))
    array([[0.75, 0.5 ]])
    """
    check_method(method, ("auto", "exact", "chains"))
    scores = check_scores(scores, space)
    if method != "chains":
        distribution = exact_distribution(space, scores, required=method == "exact")
        if distribution is not None:
            return distribution.marginals()
    if not len(scores):
        return np.zeros_like(scores)
    drawn = chain_draws(
        space, scores, n_draws, n_warmup=n_warmup, proposals=proposals, rng=rng, n_jobs=n_jobs
    )
    means = [mean_of(space.embed, outputs) for outputs in drawn]
    return np.array(means).reshape(len(scores), scores.shape[1])


def chain_draws(
    space: Any,
    scores: np.ndarray,
    n: int,
    *,
    n_warmup: int = 50,
    proposals: str | Proposals = "auto",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """``n`` draws of every row by chains that were annealed together; shape (n_rows, n, ...).

    Warns where ``n_warmup`` further sweeps change the mean score: chains had not arrived.
    """
    check_sizes(n, n_warmup, 1)
    rng = np.random.default_rng(rng)
    drawn = []
    for rows in row_blocks(len(scores), 1, max(1, MOST_CHAINS // n)):
        population = Population(space, scores[rows], n, proposals=proposals, rng=rng, n_jobs=n_jobs)
        population.anneal(SWEEPS)
        chains, R = population.chains, len(scores[rows])
        before = chains.values().reshape(R, -1)
        if n_warmup:
            chains.advance(int(n_warmup))
        warn_if_moved(before, chains.values().reshape(R, -1))
        outputs = np.asarray(chains.outputs)
        outputs = outputs.reshape(R, -1, *outputs.shape[1:])
        drawn.append(outputs[:, rng.permutation(outputs.shape[1])[:n]])
    return np.concatenate(drawn)


def exact_distribution(space: Any, scores: np.ndarray, required: bool = False) -> Any:
    """The distribution of the space, or None; where it is required, an error that says what
    else.
    """
    distribution = Inference.of(space).distribution(scores)
    if distribution is None and required:
        raise ValueError(
            f"{type(space).__name__} has no exact distribution (facet Inference) of "
            "this size and within these constraints: use method='auto', which samples instead."
        )
    return distribution


def check_method(method: str, known: tuple[Any, ...] = METHODS) -> None:
    """Raise where there is no such method."""
    if method not in known:
        raise ValueError(f"method is one of {', '.join(known)}; got {method!r}.")
