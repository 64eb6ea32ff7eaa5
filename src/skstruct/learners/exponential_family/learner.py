# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families: probabilities of structured outputs."""

from os import PathLike
from typing import Any, Self

import numpy as np

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported
from skstruct.learners.checkpoints.saving import Checkpoint, resuming
from skstruct.learners.exponential_family.chains import resolve_solver
from skstruct.learners.exponential_family.distribution import ModelDistributions
from skstruct.learners.exponential_family.likelihood import RowModel
from skstruct.learners.exponential_family.optimization import Solution, lbfgs
from skstruct.learners.exponential_family.path import (
    LikelihoodPath,
    TrainingRows,
    TrainingSequences,
    missing_sums,
)
from skstruct.learners.exponential_family.prediction import ExponentialPredictor
from skstruct.learners.exponential_family.problem import ExponentialProblem
from skstruct.learners.features import InputFeatures
from skstruct.learners.inputs import plain_kernel
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.learners.partial_outputs import check_not_masked
from skstruct.learners.passes import is_streamed
from skstruct.learners.penalty_path import (
    Fold,
    check_alpha,
    choose_alpha,
    chosen_once,
    is_given,
    split_rows,
)
from skstruct.learners.tokens import TokenBatch
from skstruct.sampling.chains import check_samplable
from skstruct.saving import savable
from skstruct.spaces import Known, Solving
from skstruct.spaces.constraints import differs_by_row
from skstruct.streaming import as_source

DESCENT_ACCURACY = 1e-3  # what the objective may still fall by, where gradients are stochastic


@savable
class ExponentialFamily(ExponentialPredictor):
    r"""Probabilities of structured outputs, linear in features of the inputs.

    .. math:: p(y \mid x) = \exp\bigl(\langle \psi(y), W x \rangle - \ln Z(W x)\bigr), \qquad
              \min_W \alpha \|W\|^2 + \frac1n \sum_i \bigl(\ln Z(W x_i)
              - \langle \psi(y_i), W x_i \rangle\bigr)

    The maximum a posteriori of chapter 6 of [1]_. Over classes this is multinomial logistic
    regression, over label sets independent logistic regressions, over sequences with features
    for every position a linear-chain conditional random field. Where the sum over all outputs
    is known (trees, chains, sets, spanning trees, short rankings, ...), training is exact;
    elsewhere gradients come from Markov chains. The means of psi under the model are its
    marginals, so that predictions of least risk under any loss come from the same decoders.

    Parts of outputs may be missing: cells of None, NaN or NA, masked arrays, positions of
    sequences without a symbol, a set of classes for one of these, hierarchies that leave parts
    open. Where what is known of row i leaves the outputs :math:`S_i`, the marginal likelihood is
    maximised [2]_,

    .. math:: \min_W \alpha \|W\|^2 + \frac1n \sum_i \bigl(\ln Z(W x_i) - \ln Z(W x_i; S_i)\bigr),
              \qquad Z(u; S) = \sum_{y \in S} \exp \langle u, \psi(y) \rangle,

    for spaces whose sums are exact. That is not convex: what is found is a local optimum, begun
    from the weights that are best where every row has the mean of psi over :math:`S_i`. Penalties
    are then compared by the marginal likelihood of left-out rows, whatever the loss.

    Parameters
    ----------
    space : space, default=None
        What may be predicted; learned from ``y`` when None.
    loss : str, loss or callable, default=None
        What predictions minimise the expected value of. The most probable output when None,
        where ``score`` measures the usual loss of the space.
    alpha : float, several, or "auto", default="auto"
        Weight of the penalty. Several are compared on left-out rows, whole sequences where rows
        are such: five folds, or a fifth of more than a thousand rows once (always once where
        gradients are stochastic), from strong to weak, all of them. What is compared is
        the loss, if one is given; else the negative log-likelihood, which is what a model of
        probabilities is for, and which tells penalties apart that predict the same outputs. Where
        sums are not exact, likelihoods would be estimates of the same size as their differences,
        and the usual loss of the space is compared. "auto" tries half decades over five decades,
        from the variance of the inputs times the largest one of psi. Where fewer than five rows,
        or only one output, leave nothing to compare by, it is a hundredth of that. Of sequences
        with features for every position it is always the likelihood of left-out sequences that is
        compared, a fifth of more than two hundred once, and at most two thousand. "auto" begins at
        the variance of a feature over n, which is 1/n for indicators, and goes to weaker ones as
        long as that helps, or else to stronger ones; ``alpha = c2 / n`` is the c2 of crfsuite.
    solver : "auto", "exact", "annealed", "contrastive", "perturbed" or chains, default="auto"
        Exact sums; gradients from chains that are annealed from the uniform distribution for each
        step (:class:`AnnealedChains`); or from chains that go on from step to step, persistent
        contrastive divergence (:class:`PersistentChains`); or outputs of the largest perturbed
        score, which any decoder finds (:class:`Perturbations`), under the Fenchel–Young loss of
        these in place of the likelihood. ``"auto"`` is exact where possible,
        else contrastive. Where sums are not exact, partition functions are annealed estimates.
        Settings of the chains are parameters of these objects, and may be set anew after
        ``fit``: predictions go by what they are then.
    kernel : str, kernel or callable, default="linear"
        Kernel between inputs: a name, an object of :mod:`skstruct.kernels` with parameters of
        its own, a callable, or ``"precomputed"``.
    n_landmarks : int, default=None
        Nyström features that stand for the kernel; None for the kernel itself.
    fit_intercept : bool, default=True
        A constant feature, free of the penalty.
    tol : float, default=None
        Where training stops: for exact gradients, the largest entry (when None 1e-5, and 1e-4
        for sequences with features for every position, over which entries add: then the
        objective is within about a millionth of its minimum); for stochastic ones, what the
        objective may still fall by, as far as chains mix (1e-3 when None).
    max_iter : int, default=1000
    n_jobs : int, default=None
        Threads of chains and of predictions.
    verbose : int, default=0
        Progress on stderr.
    random_state : int or RandomState, default=None

    Attributes
    ----------
    space_, loss_ : the fitted parts
    alpha_ : float, the penalty
    search_ : LeaveOutSearch or None
        The penalties tried, with what the left-out rows say of each and its standard error.
    coef_, intercept_ : arrays of shape (d, p) and (d,), where the kernel is linear
    transition_coef_ : array of shape (q, q), of sequences with features for every position
    objective_ : float; NaN where gradients are stochastic
    trace_ : array, the objective at the beginning and after each step of L-BFGS; else empty
    n_iter_, converged_ : how training ended
    solver_ : "exact", "annealed", "contrastive" or "perturbed", how it was trained

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       chapter 6.
    .. [2] Y. Tsuboi, H. Kashima, S. Mori, H. Oda, Y. Matsumoto, "Training conditional random
       fields using incomplete annotations", COLING 2008.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.9], [1.0]]
    >>> Y = [["sun"], ["sun"], ["sun", "sea"], ["sun", "sea"]]
    >>> model = ExponentialFamily(alpha=0.01).fit(X, Y)
    >>> model.space_.labels_, model.predict_marginals([[0.0]]).round(2)
    (('sea', 'sun'), array([[0.14, 1.  ]]))
    >>> np.exp(model.log_proba([[0.0]], [["sun"]])).round(2)
    array([0.86])
    >>> model.predict([[0.0], [1.0]], loss="hamming").tolist()
    [['sun'], ['sea', 'sun']]

    Symbols that are not known, and a class that is one of two:

    >>> words, tags = [[[1.0], [0.0]], [[0.0], [1.0]]], [["A", None], [None, "A"]]
    >>> from skstruct.spaces import Classes, Sequences
    >>> chain = ExponentialFamily(Sequences("AB"), alpha=0.01).fit(words, tags)
    >>> bool(chain.trace_[-1] < chain.trace_[0] < np.log(2))
    True
    >>> some = ExponentialFamily(Classes(), alpha=0.01)
    >>> some.fit(X, ["sun", {"sun", "sea"}, None, "sea"]).predict([[0.0], [1.0]]).tolist()
    ['sun', 'sea']
    """

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        *,
        alpha: Any = "auto",
        solver: Any = "auto",
        kernel: Any = "linear",
        n_landmarks: int | None = None,
        fit_intercept: bool = True,
        tol: float | None = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.alpha = alpha
        self.solver = solver
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    learns_partial = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        resolve_solver(self.solver)
        check_alpha(self.alpha)
        if not is_count(self.max_iter):
            raise ValueError(f"max_iter is a whole number from 1; got {self.max_iter!r}.")
        if self.tol is not None and not (is_number(self.tol) and 0 < self.tol < np.inf):
            raise ValueError(f"tol is a positive number, or None; got {self.tol!r}.")

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        known: Any = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Learn from inputs ``X`` (n, p) and outputs ``y`` in any format the space reads.

        A DataFrame may have names, dates and missing cells; what becomes of them is said at
        :class:`~skstruct.encoding.TableEncoder`.

        Sequences with features for every position may be too many for memory: ``X`` is then a
        function that makes an iterator of blocks (X, y) or (X, y, weight), or another source of
        :mod:`skstruct.streaming` that can be read again. Every step of training reads all of it;
        memory is that of one block, of two thousand sequences to begin with, and of some copies
        of the weights. The penalty of ``alpha="auto"`` is chosen by these first sequences, as a
        multiple of 1 / n, and features are those that they have.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
        known : bool array of the shape of y, default=None
            Which parts of the outputs are known, where ``y`` does not say so by gaps: cells of a
            table, rows of classes, positions of sequences. What stands elsewhere is not looked at.
            Blocks of a source have gaps in place of a mask.
        checkpoint : str, path or Checkpoint, default=None
            File that training is saved to on the way, and goes on from when it was stopped; it is
            removed in the end. See :class:`~skstruct.learners.Checkpoint`.
        """
        if is_streamed(X, y):
            check_not_masked(known, type(self).__name__)
            return self._fit_source(as_source(X, y, sample_weight), checkpoint)
        return super().fit(X, y, sample_weight, known=known, checkpoint=checkpoint)

    def _fit_source(self, source: Any, checkpoint: Any) -> Self:
        from skstruct.learners.exponential_family.streams import FirstSequences, StreamedChains

        if not source.again:
            raise ValueError(
                "ExponentialFamily reads a source once for every step: give a function that makes "
                "a new iterator, or files or arrays."
            )
        first = FirstSequences.of(source)
        data: dict[str, Any] = {"X": first.X, "y": first.y, "sample_weight": np.array(first.weight)}
        with resuming(self, checkpoint, **data, n_rows=first.n_rows) as level:
            super().fit(**data)
            if not is_given(self.alpha):
                self.alpha_ *= len(first.X) / first.n_rows
            model = StreamedChains(self, source, first.total, self.alpha_)
            weights, transitions = self.scores_.weights_, self.scores_.constants_
            start = np.concatenate([weights.ravel(), transitions])
            solution = lbfgs(model, start, level=level.below("stream"), **self._settings(model))
            theta, cut = solution.theta, weights.size
            q = self.problem_.n_seeing
            self._take(theta[:cut].reshape(weights.shape), theta[cut:].reshape(q, q))
            self._end(solution)
        return self

    def _end(self, solution: Solution) -> None:
        """Keep how training ended."""
        self.objective_, self.n_iter_ = solution.objective, solution.n_iter
        self.converged_, self.trace_ = solution.converged, np.array(solution.trace)

    def _problem(self, X: Any) -> Any:
        self.seed_ = self._seed()
        kind: type[Any] = ExponentialProblem
        if isinstance(X, TokenBatch):
            from skstruct.learners.exponential_family.problem import ChainExponentialProblem

            kind = ChainExponentialProblem
        problem = kind(self.space_, self.loss_, self.outputs_, self._distributions())
        return problem if self.loss is None else problem.judged_by(self.loss_)

    def _distributions(self) -> ModelDistributions:
        name, chains = resolve_solver(self.solver)
        return ModelDistributions(
            name, chains.n_draws, chains.n_warmup, chains.eps, chains.delta, chains.proposals,
            self.seed_, self.n_jobs, chains if name == "perturbed" else None,
        )  # fmt: skip

    def _learn(self, X: Any, weight: np.ndarray, level: Any) -> None:
        if not weight.sum() > 0:
            raise ValueError("sample_weight: all rows have weight zero.")
        share = weight / weight.sum()
        tokens, weights = X, share
        if isinstance(X, TokenBatch):
            tokens, weights = X.tokens, np.repeat(share, np.diff(X.starts))
        self.features_map_ = InputFeatures(
            plain_kernel(self, self.kernel), n_landmarks=self.n_landmarks,
            fit_intercept=self.fit_intercept, random_state=self.random_state,
        ).fit(tokens, weights)  # fmt: skip
        rows = self._rows(X, tokens, share)
        self.alpha_, self.search_ = self._chosen(X, rows, level)
        model = rows.model(np.arange(len(share)), self.alpha_)
        settings = self._settings(model)
        start = rows.beginning(model, settings)
        solution = self._solved(model, start, level=level.below("training"), **settings)
        self._take(*rows.parts(model, solution.theta))
        self._end(solution)
        if not self.features_map_.is_linear:
            self.problem_.n_features = len(self.scores_.weights_)

    def _rows(self, X: Any, tokens: Any, share: np.ndarray) -> TrainingRows:
        """The rows of training, once it is known how they are learned from."""
        if isinstance(X, TokenBatch):
            if resolve_solver(self.solver)[0] not in ("auto", "exact"):
                raise ValueError(
                    "Chains are summed exactly: solver is 'auto' or 'exact' for sequences."
                )
            self.solver_ = "exact"
            return TrainingSequences(self, self.features_map_.mapped(tokens), X.starts, share)
        if not Solving.of(self.space_).discrete:
            raise ValueError(
                f"{type(self.space_).__name__} is a space of numbers; ExponentialFamily sums over "
                "outputs that can be counted. ConditionalRiskMinimizer takes numbers."
            )
        self._check_truth()
        rows = TrainingRows(self, self.features_map_.transform(X), share)
        if resolve_solver(self.solver)[0] == "perturbed":
            self.solver_ = "perturbed"
            return rows
        self.solver_ = self._trained_by(rows.model(np.arange(len(share)), 1.0))
        return rows

    def _settings(self, model: Any) -> dict[str, Any]:
        """Tolerance, steps and what is shown of training."""
        default = model.accuracy if self.solver_ == "exact" else DESCENT_ACCURACY
        return {
            "tol": default if self.tol is None else self.tol,
            "max_iter": self.max_iter,
            "verbose": self.verbose,
        }

    def _solved(self, model: Any, start: np.ndarray, **settings: Any) -> Solution:
        """The weights of a model, begun with some."""
        if self.solver_ == "exact":
            return lbfgs(model, start, **settings)
        if self.solver_ == "perturbed":  # a mean of maxima has kinks, which steps may end at
            return lbfgs(model, start, **{**settings, "warn": False})
        from skstruct.learners.exponential_family.optimization import (
            StochasticGradients,
            averaged_descent,
        )

        chains = resolve_solver(self.solver)[1]
        gradients = StochasticGradients(
            model, n_chains=chains.n_chains, n_sweeps=chains.n_sweeps,
            annealed=self.solver_ == "annealed", proposals=chains.proposals,
            rng=np.random.default_rng(self._seed()), n_jobs=self.n_jobs,
        )  # fmt: skip
        return averaged_descent(gradients, start.reshape(model.shape), **settings)

    def _chosen(
        self, X: Any, rows: TrainingRows, level: Any
    ) -> tuple[float, LeaveOutSearch | None]:
        """The penalty, and how it was found; where gradients are stochastic, on one split."""
        path = LikelihoodPath(self, rows)
        X = None if self._precomputed else X

        def folds() -> list[Fold]:
            settings = {"X": X, **rows.splitting}
            found = split_rows(rows.split_by, rows.share, self.random_state, **settings)
            return found if self.solver_ in ("exact", "perturbed") else found[:1]

        def choose() -> tuple[float, LeaveOutSearch | None]:
            usual = rows.usual_penalty()
            return choose_alpha(self.alpha, path, folds, rows.share, self.verbose, usual)

        return chosen_once(level, choose)

    def _trained_by(self, model: RowModel) -> str:
        name, chains = resolve_solver(self.solver)
        exact = name in ("auto", "exact") and model.has_distribution()
        if name == "exact" and not exact:
            raise ValueError(
                f"{type(self.space_).__name__} has no exact distribution (facet "
                "Inference) of this size and within these constraints: use "
                "solver='auto'."
            )
        if exact:
            return "exact"
        if self._partial is not None:
            raise ValueError(missing_sums(self.space_, name))
        if differs_by_row(self.space_):
            raise ValueError(
                f"The constraints of {type(self.space_).__name__} differ from row to row, which "
                "chains of training do not follow: give constraints at prediction, restrict={...}."
            )
        check_samplable(self.space_)
        return chains.kind

    def _check_truth(self) -> None:
        """Outputs to learn from have a probability; partial rankings stand for several."""
        space, outputs = self.space_, self.problem_.outputs
        outside = ~space.contains(outputs)
        if self._partial is not None:  # sums within constraints tell of the others
            outside &= self._partial.complete
        if getattr(space, "constraints", None) is None:
            outside &= Known.of(space).are_complete(outputs)
        if outside.any():
            raise ValueError(
                f"y[{np.flatnonzero(outside)[0]}] is outside of {type(space).__name__} and its "
                f"constraints ({outside.sum()} such rows): it has no probability. Give "
                "constraints at prediction, restrict={...}."
            )
