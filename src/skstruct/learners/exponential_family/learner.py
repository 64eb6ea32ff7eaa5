# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families: probabilities of structured outputs."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.memory import parse_memory
from skstruct.learners.exponential_family.distribution import PARTITIONS, ModelDistributions
from skstruct.learners.exponential_family.likelihood import RowModel
from skstruct.learners.exponential_family.optimization import Solution, lbfgs
from skstruct.learners.exponential_family.prediction import ExponentialPredictor
from skstruct.learners.exponential_family.problem import ExponentialProblem
from skstruct.learners.features import InputFeatures
from skstruct.learners.inputs import plain_kernel
from skstruct.learners.tokens import TokenBatch
from skstruct.sampling.annealed_estimates import check_accuracy
from skstruct.sampling.chains import check_samplable
from skstruct.saving import savable
from skstruct.spaces.constraints import differs_by_row
from skstruct.tolerances import GRADIENT_ACCURACY


@savable
class ExponentialFamily(ExponentialPredictor):
    r"""Probabilities of structured outputs, linear in features of the inputs.

    .. math:: p(y \mid x) = \exp\bigl(\langle \psi(y), W x \rangle - \ln Z(W x)\bigr), \qquad
              \min_W \lambda \|W\|^2 + \frac1n \sum_i \bigl(\ln Z(W x_i)
              - \langle \psi(y_i), W x_i \rangle\bigr)

    The maximum a posteriori of chapter 6 of [1]_. Over classes this is multinomial logistic
    regression, over label sets independent logistic regressions, over sequences with features
    for every position a linear-chain conditional random field. Where the sum over all outputs
    is known (trees, chains, sets, spanning trees, short rankings, ...), training is exact;
    elsewhere gradients come from Markov chains. The means of psi under the model are its
    marginals, so that predictions of least risk under any loss come from the same decoders.

    Parameters
    ----------
    space : space, default=None
        What may be predicted; learned from ``y`` when None.
    loss : str, loss or callable, default=None
        What predictions minimise the expected value of. The most probable output when None,
        where ``score`` measures the usual loss of the space.
    lam : float, default=1e-3
        Weight :math:`\lambda` of the penalty. The scale of the inputs matters.
    partition : "auto", "exact", "annealed" or "contrastive", default="auto"
        Exact sums; gradients from chains that are annealed from the uniform distribution for each
        step; or from chains that go on from step to step (persistent contrastive divergence).
        ``"auto"`` is exact where possible, else contrastive. Where sums are not exact,
        partition functions are annealed estimates. Parameters of sampling may be set anew
        after ``fit``: predictions go by what they are then.
    kernel, gamma, degree, coef0
        Kernel between inputs, by scikit-learn's names, a callable or ``"precomputed"``.
    n_components : int, default=None
        Nyström features that stand for the kernel; None for the kernel itself.
    fit_intercept : bool, default=False
        A constant feature, free of the penalty.
    tol : float, default=None
        Where training stops: for exact gradients, the largest entry (1e-5 when None); for
        stochastic ones, what the objective may still fall by, as far as chains mix (1e-3 when
        None).
    max_iter : int, default=1000
    n_chains : int, default=10
        Markov chains of every training row, where gradients are stochastic.
    n_sweeps : int, default=5
        Sweeps of these between two steps. Distributions of few outputs take more: chains that do
        not mix bend the gradient, which no stopping rule sees.
    n_draws : int, default=1000
        Draws of a row that its marginals are the mean of, where they are not exact, and chains
        that its partition function is estimated with.
    n_warmup : int, default=50
        Sweeps of the chains that these draws are the ends of.
    eps : float, default=None
        Annealed partition functions are right up to a factor :math:`1 \pm \epsilon` with
        probability :math:`1 - \delta`, as far as chains mix, whatever number of draws that takes;
        None for ``n_draws`` and intervals by their standard error.
    delta : float, default=0.1
    proposals : "auto", "local" or "meta", default="auto"
        Of the chains; see :class:`~skstruct.sampling.Metropolis`.
    memory : str or int, default="1GB"
        Budget for blocks of rows.
    n_jobs : int, default=None
        Threads of chains and of predictions.
    verbose : int, default=0
        Progress on stderr.
    random_state : int or RandomState, default=None

    Attributes
    ----------
    space_, loss_ : the fitted parts
    coef_, intercept_ : arrays of shape (d, p) and (d,), where the kernel is linear
    transition_coef_ : array of shape (q, q), of sequences with features for every position
    objective_ : float; NaN where gradients are stochastic
    n_iter_, converged_ : how training ended
    partition_ : "exact", "annealed" or "contrastive", how it was trained

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       chapter 6.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.9], [1.0]]
    >>> Y = [["sun"], ["sun"], ["sun", "sea"], ["sun", "sea"]]
    >>> model = ExponentialFamily(lam=0.01, fit_intercept=True).fit(X, Y)
    >>> model.space_.labels_, model.predict_marginals([[0.0]]).round(2)
    (('sea', 'sun'), array([[0.14, 1.  ]]))
    >>> np.exp(model.log_proba([[0.0]], [["sun"]])).round(2)
    array([0.86])
    >>> model.predict([[0.0], [1.0]], loss="hamming").tolist()
    [['sun'], ['sea', 'sun']]
    """

    def __init__(
        self,
        space: Any = None,
        *,
        loss: Any = None,
        lam: float = 1e-3,
        partition: str = "auto",
        kernel: str = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: int = 1,
        n_components: Any = None,
        fit_intercept: bool = False,
        tol: Any = None,
        max_iter: int = 1000,
        n_chains: int = 10,
        n_sweeps: int = 5,
        n_draws: int = 1000,
        n_warmup: int = 50,
        eps: Any = None,
        delta: float = 0.1,
        proposals: str = "auto",
        memory: str = "1GB",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.lam = lam
        self.partition = partition
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.eps = eps
        self.delta = delta
        self.proposals = proposals
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.partition not in PARTITIONS:
            raise ValueError(
                f"partition is one of {', '.join(PARTITIONS)}; got {self.partition!r}."
            )
        if not (is_number(self.lam) and 0 < self.lam < np.inf):
            raise ValueError(f"lam must be positive; got {self.lam!r}.")
        for name in ("max_iter", "n_chains", "n_sweeps", "n_draws", "n_warmup"):
            if not is_count(getattr(self, name)):
                raise ValueError(f"{name} is a whole number from 1; got {getattr(self, name)!r}.")
        if self.tol is not None and not (is_number(self.tol) and 0 < self.tol < np.inf):
            raise ValueError(f"tol is a positive number, or None; got {self.tol!r}.")
        check_accuracy(0.5 if self.eps is None else self.eps, self.delta)

    # ------------------------------------------------------------------ fitting
    def _problem(self, X: Any) -> Any:
        self.seed_ = self._seed()
        if isinstance(X, TokenBatch):
            from skstruct.learners.exponential_family.problem import ChainExponentialProblem

            kind = ChainExponentialProblem
        else:
            kind = ExponentialProblem
        problem = kind(self.space_, self.loss_, self.outputs_, self._distributions())
        return problem if self.loss is None else problem.judged_by(self.loss_)

    def _distributions(self) -> ModelDistributions:
        return ModelDistributions(
            str(self.partition), self.n_draws, self.n_warmup, self.eps, self.delta, self.proposals,
            self.seed_, self.n_jobs,
        )  # fmt: skip

    def _learn(self, X: Any, weight: np.ndarray, level: Any) -> None:
        if not weight.sum() > 0:
            raise ValueError("sample_weight: all rows have weight zero.")
        share = weight / weight.sum()
        tokens, weights = X, share
        if isinstance(X, TokenBatch):
            tokens, weights = X.tokens, np.repeat(share, np.diff(X.starts))
        self.features_map_ = InputFeatures(
            plain_kernel(self, self.kernel), gamma=self.gamma, degree=self.degree,
            coef0=self.coef0, n_components=self.n_components,
            fit_intercept=self.fit_intercept, random_state=self.random_state,
        ).fit(tokens, weights)  # fmt: skip
        learn = self._learn_chains if isinstance(X, TokenBatch) else self._learn_rows
        solution = learn(X, share, level.below("training"))
        self.objective_, self.n_iter_ = solution.objective, solution.n_iter
        self.converged_ = solution.converged
        if not self.features_map_.is_linear:
            self.problem_.n_features = len(self.scores_.weights_)

    def _learn_rows(self, X: Any, share: np.ndarray, level: Any) -> Solution:
        if not self.space_.discrete:
            raise ValueError(
                f"{type(self.space_).__name__} is a space of numbers; ExponentialFamily sums over "
                "outputs that can be counted. ConditionalRiskMinimizer takes numbers."
            )
        self._check_truth()
        features = self.features_map_.transform(X)
        psi = self.space_.targets(self.outputs_)
        model = RowModel(
            self.space_, features, psi, share, self.lam, self.memory, bool(self.fit_intercept)
        )
        self.partition_ = self._trained_by(model)
        minimise = self._minimise if self.partition_ == "exact" else self._descend
        solution = minimise(model, level)
        self._take(solution.theta.reshape(model.shape))
        return solution

    def _minimise(self, model: Any, level: Any) -> Solution:
        start, tol, room = (
            np.zeros(model.size),
            self.tol or GRADIENT_ACCURACY,
            parse_memory(self.memory),
        )
        return lbfgs(
            model, start, tol=tol, max_iter=self.max_iter, verbose=self.verbose, level=level,
            room=room,
        )  # fmt: skip

    def _trained_by(self, model: RowModel) -> str:
        exact = self.partition in ("auto", "exact") and model.has_distribution()
        if self.partition == "exact" and not exact:
            raise ValueError(
                f"{type(self.space_).__name__} has no exact distribution (protocol "
                "SupportsInference) of this size and within these constraints: use "
                "partition='auto'."
            )
        if exact:
            return "exact"
        if differs_by_row(self.space_):
            raise ValueError(
                f"The constraints of {type(self.space_).__name__} differ from row to row, which "
                "chains of training do not follow: give constraints at prediction, restrict={...}."
            )
        check_samplable(self.space_)
        return "contrastive" if self.partition == "auto" else str(self.partition)

    def _descend(self, model: RowModel, level: Any) -> Solution:
        from skstruct.learners.exponential_family.optimization import (
            StochasticGradients,
            averaged_descent,
        )

        gradients = StochasticGradients(
            model, n_chains=self.n_chains, n_sweeps=self.n_sweeps,
            annealed=self.partition_ == "annealed", proposals=self.proposals,
            rng=np.random.default_rng(self._seed()), n_jobs=self.n_jobs,
        )  # fmt: skip
        start, tol = np.zeros(model.shape), self.tol or 1e-3
        return averaged_descent(
            gradients, start, tol=tol, max_iter=self.max_iter, verbose=self.verbose, level=level
        )

    def _learn_chains(self, X: Any, share: np.ndarray, level: Any) -> Solution:
        from skstruct.learners.exponential_family.likelihood import ChainModel

        if self.partition not in ("auto", "exact"):
            raise ValueError("Chains are summed exactly: partition is 'auto' or 'exact' for them.")
        self.partition_ = "exact"
        features = self.features_map_.transform(X.tokens)
        model = ChainModel(
            self.space_, features, X.starts, self.outputs_, share, self.lam,
            bool(self.fit_intercept),
        )  # fmt: skip
        solution = self._minimise(model, level)
        self._take(*model.parts(solution.theta))
        return solution

    def _check_truth(self) -> None:
        """Outputs to learn from have a probability; partial rankings stand for several."""
        space, outputs = self.space_, self.outputs_
        outside = ~space.contains(outputs)
        if space.constraints is None:
            outside &= space.are_complete(outputs)
        if outside.any():
            raise ValueError(
                f"y[{np.flatnonzero(outside)[0]}] is outside of {type(space).__name__} and its "
                f"constraints ({outside.sum()} such rows): it has no probability. Give "
                "constraints at prediction, restrict={...}."
            )
