# SPDX-License-Identifier: BSD-3-Clause
"""Smooth psi(Y), apply the loss, take the argmin."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter

from skstruct._arrays.memory import parse_memory
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import announce, reported, working
from skstruct.kernels.labels import label_kernel_matrix
from skstruct.learners.base import BlockPredictor, Explanation
from skstruct.learners.checkpoints.saving import resuming
from skstruct.learners.conditional_risk.streams import StreamedRisk
from skstruct.learners.inputs import (
    are_training_rows,
    device_of,
    held_out_options,
    on_host,
    plain_kernel,
    read_inputs,
    refuse_training_rows,
    takes_raw_inputs,
)
from skstruct.learners.leave_out import check_groups, choose, group_numbers, kernel_grid
from skstruct.learners.one_pass import (
    ONE_PASS,
    check_settings,
    grow_landmarks,
    number_tried,
    one_pass_ridge,
    planned_systems,
    seed_of,
    warn_of_loss,
)
from skstruct.learners.problem import risk_problem
from skstruct.learners.tokens import TokenBatch
from skstruct.losses import resolve_loss
from skstruct.smoothing import KernelRidge, LinearSmoother
from skstruct.smoothing.base import KeepsEngine
from skstruct.smoothing.planning import EXACT_ROWS, LINEAR_FEATURES, SPECTRAL_ROWS
from skstruct.spaces import Decoded
from skstruct.spaces.infer_space import infer_space
from skstruct.streaming import as_source, is_source

if TYPE_CHECKING:
    from skstruct.bounds import Certificate

_RETARGETED: WeakKeyDictionary = WeakKeyDictionary()  # predicting leaves a model as it is


def retargeted(smoother, problem):
    """The smoother of another loss's targets; the last one is kept for the next batch."""
    key, other = _RETARGETED.get(smoother, (None, None))
    if key != problem.key:
        other = smoother.with_targets(problem.targets())
        _RETARGETED[smoother] = (problem.key, other)
    return other


def _name_of(smoother) -> str:
    """The class that the user gave."""
    return type(getattr(smoother, "classifier", smoother)).__name__


class ConditionalRiskMinimizer(KeepsEngine, StreamedRisk, BlockPredictor):
    r"""Predict the output of least estimated conditional risk.

    .. math:: \hat z(x) = \arg\min_{z \in \mathcal{Y}} \sum_i w_i(x)\, \ell(z, y_i)

    A smoother gives weights :math:`w(x)` to the training examples; the loss turns the
    weighted mean of their embeddings into costs, and the space minimizes these [1]_ [2]_.
    Trained once, the loss and the constraints may still change.

    Parameters
    ----------
    space : space, default=None
        What may be predicted. Learned from ``Y`` when None: one label per row gives
        :class:`~skstruct.spaces.Classes`, an indicator array or rows of label names
        :class:`~skstruct.spaces.LabelSets`, numbers that are not whole an
        :class:`~skstruct.spaces.Interval` or a :class:`~skstruct.spaces.Box`.
    loss : str, loss or callable, default=None
        What a mistake costs; the usual loss of the space when None. A callable of two
        outputs is minimized over the outputs seen in training.
    kernel : str, callable or list of them, default="auto"
        Kernel between inputs, by scikit-learn's names; ``"precomputed"`` too. Names joined
        by a plus, ``"rbf+laplacian"``, are added with equal weight. A list is searched
        like alpha. ``"auto"`` is the Gaussian kernel, ``"rbf"``; above 20,000 rows, if alpha and
        gamma are open, the better one on left-out rows of it and the linear kernel.
    gamma : float, "auto" or several, default=None
        Kernel width; None is 1 / (n_features * variance of X), ``"auto"`` searches seven
        widths around it.
    degree, coef0 : float
        Further kernel parameters.
    alpha : float, several, or "auto"
        Ridge penalty, K + alpha I. ``"auto"`` and several values are chosen by the loss
        itself on left-out rows, in closed form, from one eigendecomposition.
    fit_intercept : bool, default=True
        With it the weights of every prediction sum to one.
    smoother : regressor, default=None
        Replaces kernel ridge regression: a smoother of this library, any multi-output
        regressor of scikit-learn as it is, or a classifier, whose ``predict_proba`` gives the
        means of 0/1 targets (:class:`~skstruct.smoothing.ClassifierMeans`). Kernel, alpha and
        what is left out then have no part. Where its tags, or those of a pipeline's first step,
        say that it takes missing values, categories or texts, inputs reach it as they are.
    system : "auto", "cholesky", "packed", "spectral", "nystroem", "fourier" or "primal"
        How the ridge system is solved. ``"auto"`` is exact for up to 20,000 rows; beyond it
        takes landmarks, in one pass over the rows (:class:`~skstruct.smoothing.NystroemRidge`).
        Up to 5,000 rows, alphas are compared by one eigendecomposition; beyond, by landmarks.
        ``"packed"`` keeps half of the kernel matrix; ``"fourier"`` is for the Gaussian kernel;
        ``"primal"`` is for the linear one, and that of ``"auto"`` beyond 5,000 rows: exact, and
        sparse inputs stay sparse.
    n_landmarks : int or "auto", default="auto"
        Of ``"nystroem"`` and ``"fourier"``. ``"auto"`` begins with 1,000 or 2 sqrt(n), and takes
        twice as many as long as the loss on left-out rows falls by a hundredth, within some
        minutes. More than a tenth of the kernel's trace left unexplained raises a warning.
    precision : "double" or "mixed", default="double"
        ``"mixed"`` factors in float32 and refines in float64; with landmarks, features are
        computed in float32 and summed in float64.
    device : None, "cpu", "cuda" or torch.device, default=None
        Where torch computes kernels and solves; None is numpy.
    engine : None, "dask", client or engine, default=None
        Who sums over partitions of the rows with landmarks; see :mod:`skstruct.streaming`.
    label_kernel : array (d, d), "adjacency", "laplacian" or "diffusion", default=None
        Lets the labels of a hierarchy borrow strength from each other.
    leave_out : "one", "output", int or splitter, default="one"
        What is left out together when alpha is chosen: each row with its copies, all rows of
        the same output, so many contiguous blocks, or the test sets of a scikit-learn splitter.
        Rows that are alike beyond what the test rows will be (blocks, sorted files, copies
        with small changes) must go together, or the choice will be too bold. Rows equal in
        inputs and output are taken for copies, unless inputs are discrete: equal ones with
        different outputs, or five of each row. ``groups`` in ``fit`` overrides it.
    memory : str or int, default="1GB"
        Budget for one block of rows at prediction.
    n_jobs : int, default=None
        Threads that predict blocks of rows.
    verbose : int, default=0
        1 shows plan and progress of what takes longer than two seconds, on stderr: bars on a
        terminal, lines elsewhere; 2 shows them at once.
    random_state : int or RandomState, default=None
        Passed to a smoother that takes one and has none.

    Attributes
    ----------
    space_, loss_, smoother_ : the fitted parts
    alpha_, gamma_, kernel_, system_ : what was chosen; None with a smoother of your own
    search_ : LeaveOutSearch or None; all trials with their left-out risks
    outputs_ : array of the training outputs in canonical form; of a sample, where blocks are read

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization".
    .. [2] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, Algorithm 1.

    Examples
    --------
    >>> from skstruct.spaces import Hierarchy
    >>> X = [[0.0], [0.1], [1.0], [1.1], [3.0]]
    >>> Y = [{"animal", "cat"}, {"animal", "cat"}, {"animal", "dog"}, {"animal", "dog"}, set()]
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> model = ConditionalRiskMinimizer(space, "hierarchical", gamma=2.0, alpha=0.1).fit(X, Y)
    >>> sorted(model.predict([[0.05]])[0])
    ['animal', 'cat']
    >>> sorted(model.predict([[0.05]], restrict={"exclude": ["cat"]})[0])
    ['animal']
    """

    def __init__(
        self,
        space=None,
        loss=None,
        *,
        kernel="auto",
        gamma=None,
        degree=3,
        coef0=1,
        alpha="auto",
        fit_intercept=True,
        smoother=None,
        system="auto",
        n_landmarks="auto",
        precision="double",
        device=None,
        engine=None,
        label_kernel=None,
        leave_out="one",
        memory="1GB",
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        self.space = space
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.smoother = smoother
        self.system = system
        self.n_landmarks = n_landmarks
        self.precision = precision
        self.device = device
        self.engine = engine
        self.label_kernel = label_kernel
        self.leave_out = leave_out
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_raw_inputs(self.smoother)
        return tags

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(self, X, y=None, sample_weight=None, groups=None, *, checkpoint=None):
        """Learn from inputs ``X`` (n, p) and outputs ``y`` in any form the space reads.

        Rows that are not to be held at once are read in blocks, and learned from by landmarks:
        memory-mapped arrays, Parquet files (then ``y`` and ``sample_weight`` are names of
        columns), iterators of pairs (X, y) or (X, y, weight), and every source of
        :mod:`skstruct.streaming`.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
        groups : array of shape (n,), default=None
            Rows of the same group are left out together when alpha is chosen.
        checkpoint : str, path or Checkpoint, default=None
            File that the choice of kernel and alpha is saved to on the way, and goes on from when
            it was stopped; it is removed in the end. See :class:`~skstruct.learners.Checkpoint`.
        """
        check_settings(self)
        self.streamed_ = is_source(X) and not self._is_held(X, groups)
        if self.streamed_:
            return self._fit_source(as_source(X, y, sample_weight), groups, checkpoint)
        if y is None:
            raise ValueError(
                "ConditionalRiskMinimizer requires y to be passed, but the target y is None."
            )
        y, self.device_ = on_host(y), device_of(self, X)
        y = y if hasattr(y, "__len__") else np.asarray(y)
        parse_memory(self.memory)
        X = read_inputs(self, X, kernel=self.kernel, reset=True)
        check_consistent_length(X, y)
        check_groups(groups, X.shape[0])
        if sample_weight is not None:
            rows = np.empty((X.shape[0], 0))
            sample_weight = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        self.starts_ = X.starts if isinstance(X, TokenBatch) else None
        self.space_ = (self._inferred(y) if self.space is None else clone(self.space)).fit(y)
        self.loss_ = resolve_loss(self.space_.default_loss if self.loss is None else self.loss)
        self.outputs_, self.problem_ = self.space_.validate(y), None
        self.problem_ = self._problem(self.loss_)
        if self.starts_ is not None:  # from here on, every token is a row
            sample_weight = None if sample_weight is None else sample_weight[X.sequence]
            X = X.tokens
        self.alpha_ = self.gamma_ = self.kernel_ = self.search_ = self.system_ = None
        if self.smoother is not None and groups is not None:
            raise ValueError("groups serve the choice of alpha, which a smoother has not.")
        self.seed_ = seed_of(self)  # a fit that is saved has one of its own meanwhile
        data = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups}
        with resuming(self, checkpoint, **data) as level:
            if self.smoother is not None:
                self.smoother_ = self._fit_given(X, sample_weight)
            else:
                self.smoother_ = self._fit_ridge(X, sample_weight, groups, level)
        return self

    def _inferred(self, y):
        if self.starts_ is not None:
            from skstruct.spaces.sequences import Sequences

            return Sequences()
        needs = None if self.loss is None else resolve_loss(self.loss).embedding
        return infer_space(y, quantities=needs in ("weights", "squares"))

    def _problem(self, loss):
        joint = self.label_kernel is not None
        if self.starts_ is not None:
            return self._token_problem(loss)
        linear = self.smoother is None and not self._by_landmarks()
        problem = risk_problem(
            self.space_, loss, self.outputs_,
            joint=joint, by_weights=linear, some=self._is_streamed(),
        )  # fmt: skip
        if joint and problem.key[0] != "indicators":
            raise ValueError(
                f"A label kernel joins indicators; {type(loss).__name__} needs {problem.key[0]}."
            )
        return problem

    def _token_problem(self, loss):
        from skstruct.learners.token_problem import TokenProblem

        if not hasattr(self.space_, "argmin_chains") or self.label_kernel is not None:
            raise ValueError(
                "X has features for every position of a sequence: the space is Sequences, without "
                f"a label kernel; got {type(self.space_).__name__}."
            )
        fitted = self.problem_  # with bigrams, means of symbols alone are there as well
        pairs = fitted is not None and fitted.pairs_used
        return TokenProblem(self.space_, loss, self.outputs_, self.starts_, pairs=pairs)

    def _fit_given(self, X, sample_weight):
        from skstruct.smoothing.classifiers import as_smoother

        smoother = clone(self.smoother)
        self._check_linear(self.problem_, smoother)
        parameters = smoother.get_params(deep=False)
        if self.random_state is not None and parameters.get("random_state", 0) is None:
            smoother.set_params(random_state=self.random_state)
        smoother = as_smoother(smoother)
        name, targets, weight = type(smoother).__name__, self.problem_.targets(), {}
        if sample_weight is not None:
            if not has_fit_parameter(smoother, "sample_weight"):
                raise ValueError(f"{name} takes no sample_weight.")
            weight = {"sample_weight": sample_weight}
        announce(f"{name} on {X.shape[0]:,} rows x {targets.shape[1]:,} targets")
        try:
            with working(f"fitting {name}"):
                return smoother.fit(X, targets, **weight)
        except ValueError as error:
            if "1d array" not in str(error):  # scikit-learn's words for a single target
                raise
            raise ValueError(
                f"{name} predicts one target, and there are several: give "
                f"smoother=MultiOutputRegressor({name}(...)) of sklearn.multioutput."
            ) from error

    def _is_held(self, X, groups) -> bool:
        """Whether an array mapped from a file is held whole, for a system that needs all of it."""
        if not isinstance(X, np.memmap):
            return False
        whole = self.smoother is not None or self.label_kernel is not None or self._precomputed
        text = isinstance(self.leave_out, str)
        whole |= self.leave_out != "one" if text else hasattr(self.leave_out, "split")
        if whole or groups is not None:
            return True
        return self.system not in ONE_PASS and (self.system != "auto" or len(X) <= EXACT_ROWS)

    def _by_landmarks(self) -> bool:
        """Whether weights of training rows would need a pass over all of them."""
        return self._is_streamed() or self.system in ONE_PASS or len(self.outputs_) > SPECTRAL_ROWS

    def _kernels(self, n_rows: int | None, n_features: int):
        """The kernel or kernels to try: with "auto", by the number of rows and what is open."""
        kernel = plain_kernel(self, self.kernel)
        if not (isinstance(kernel, str) and kernel == "auto"):
            return kernel
        if self.system == "primal":
            return "linear"
        many = n_rows is None or n_rows > EXACT_ROWS
        one_pass = self.system in ("auto", "nystroem") and self.label_kernel is None
        wide = self._is_streamed() and n_features > LINEAR_FEATURES
        searched = isinstance(self.alpha, str) and self.gamma is None
        return ["rbf", "linear"] if many and one_pass and searched and not wide else "rbf"

    def _is_streamed(self) -> bool:
        return getattr(self, "streamed_", False)

    def _fit_ridge(self, X, sample_weight, groups, level):
        pairs = kernel_grid(self._kernels(*X.shape), self.gamma, X, sample_weight)
        n_tried = number_tried(pairs, self.alpha)
        compared, self.system_ = planned_systems(
            self, X, self.problem_.n_targets(compared=n_tried > 1), pairs, n_tried
        )
        if n_tried != 1:
            if len(self.outputs_) == 1:
                return self._fit_ridge_single(X)
            inputs = X if self.starts_ is None else TokenBatch(X, self.starts_)
            groups = group_numbers(self.leave_out, self.outputs_, groups, inputs)
            groups = self.problem_.groups_of_rows(groups)
            self.search_, smoother = choose(
                lambda kernel, gamma, alpha: self._ridge(kernel, gamma, alpha, compared),
                pairs, self.alpha, self.problem_, X, groups,
                sample_weight=sample_weight, memory=self.memory, verbose=self.verbose,
                level=level.below("search"),
            )  # fmt: skip
            if self.system_ == compared:
                return self._grown(smoother, X, sample_weight, groups)
            best = self.search_.best
            smoother = self._ridge(best["kernel"], best["gamma"], best["alpha"], self.system_)
        else:
            smoother = self._ridge(*pairs[0], self.alpha, self.system_)
        return self._settled(smoother.fit(X, self.problem_.targets(), sample_weight), sample_weight)

    def _grown(self, smoother, X, sample_weight, groups):
        """The smoother of the search, with more landmarks where these pay."""
        if not hasattr(smoother, "n_landmarks_"):
            return self._settled(smoother, sample_weight)

        def refitted(n_landmarks):
            larger = self._ridge(smoother.kernel, smoother.gamma, np.inf, "nystroem")
            larger.set_params(n_landmarks=n_landmarks)
            return larger.fit(X, self.problem_.targets(), sample_weight)

        smoother = grow_landmarks(self, smoother, refitted, X.shape[0], sample_weight, groups)
        return self._settled(smoother, sample_weight)

    def _fit_ridge_single(self, X):
        """One row: nothing can be left out, and any penalty predicts that row's output."""
        pairs = kernel_grid(self._kernels(*X.shape), None, X, None)
        self.system_ = "cholesky"
        smoother = self._ridge(*pairs[0], 1.0, self.system_)
        return self._settled(smoother.fit(X, self.problem_.targets()))

    def _settled(self, smoother, sample_weight=None):
        self.kernel_, self.alpha_ = smoother.kernel, smoother.alpha
        self.gamma_ = getattr(smoother.kernel_, "gamma_", None)
        if self.system_ in ONE_PASS:
            self.system_ = self._system_of(self.kernel_, self.system_)
            self.problem_.n_kept = getattr(smoother, "n_landmarks_", 0)
        warn_of_loss(self, smoother, sample_weight)
        return smoother

    def _system_of(self, kernel, system) -> str:
        """Where "auto" leaves the choice open, a linear kernel has no need of landmarks."""
        free = self.system == "auto" and system == "nystroem" and kernel == "linear"
        return "primal" if free else system

    def _ridge(self, kernel, gamma, alpha, system):
        shared = {
            "gamma": gamma,
            "degree": self.degree,
            "coef0": self.coef0,
            "fit_intercept": self.fit_intercept,
            "memory": self.memory,
        }
        if system in ONE_PASS:
            system = self._system_of(kernel, system)
            return one_pass_ridge(self, kernel, alpha, system, shared, self.n_features_in_)
        if self.label_kernel is None:
            shared |= {"precision": self.precision, "device": self.device_}
            return KernelRidge(kernel, alpha, system=system, **shared)
        from skstruct.smoothing import AdditiveKernelRidge

        dag = getattr(self.space_, "dag_", None)
        S = label_kernel_matrix(self.label_kernel, dag)
        return AdditiveKernelRidge(S, kernel=kernel, alpha=alpha, **shared)

    # ------------------------------------------------------------------ predicting
    def _prepared(self, loss=None, restrict=None):
        """The problem of a loss and its constraints, and a smoother of its targets."""
        check_is_fitted(self)
        problem = self.problem_ if loss is None else self._problem(resolve_loss(loss))
        smoother = self.smoother_
        self._check_linear(problem, smoother)
        if problem.key != self.problem_.key and not problem.by_weights:
            if not isinstance(smoother, LinearSmoother) or self.label_kernel is not None:
                raise ValueError(
                    f"{_name_of(smoother)} was fitted to {self.problem_.key[0]}, and "
                    f"{type(problem.loss).__name__} needs {problem.key[0]}: fit with that loss, or "
                    "with a smoother that keeps its training rows and weighs them anew for any "
                    "loss (KernelRidge, LinearRidge, Neighbors, NadarayaWatson, Forest)."
                )
            smoother = retargeted(smoother, problem)
        return problem.restricted(restrict), smoother

    @staticmethod
    def _check_linear(problem, smoother):
        if problem.by_weights and not isinstance(smoother, LinearSmoother):
            loss = type(problem.loss).__name__
            raise ValueError(
                f"{loss} needs the weights of the training rows, which {_name_of(smoother)} "
                "has not: use KernelRidge, Neighbors, NadarayaWatson or Forest, or "
                f"loss=Listed({loss}()) to choose among outputs seen in training."
            )

    def decode(self, X, *, loss=None, restrict=None) -> Decoded:
        """Predictions with their estimated conditional risks and lower bounds on these.

        Parameters
        ----------
        loss : str, loss or callable, default=None
            Another loss than that of training; a linear smoother is not fitted again.
        restrict : dict, default=None
            Arguments of the space's ``restrict``, such as ``{"max_size": 3}``.
        """
        return self._decode(X, *self._prepared(loss, restrict))

    def predict(self, X, *, loss=None, restrict=None):
        """Outputs of least estimated risk, in the form in which ``y`` was given."""
        decoded = self.decode(X, loss=loss, restrict=restrict)
        return decoded.outputs

    def predict_risk(self, X, *, loss=None, restrict=None):
        """Estimated conditional risk of each prediction; shape (n,).

        Within what the loss can be: weights of either sign give estimates below zero, too. The
        estimates as they are, which bounds belong to, are ``decode(X).values``.
        """
        problem, smoother = self._prepared(loss, restrict)
        return problem.possible(self._decode(X, problem, smoother).values)

    def possible_risks(self, values, *, loss=None) -> np.ndarray:
        """Values of ``decode`` or ``kbest``, moved into the range of the loss; infinite ones stay.

        Parameters
        ----------
        values : array of estimated risks
        loss : as they were estimated for
        """
        return self._prepared(loss)[0].possible(values)

    def kbest(self, X, k=3, *, loss=None, restrict=None) -> Decoded:
        """The ``k`` outputs of least estimated risk for each row.

        ``outputs`` is a list: its entry r holds the outputs of rank r in the form of
        ``predict``. ``values`` and ``bounds`` are (n, k), infinite where a row has fewer
        outputs; ranks that no row has are left off.
        """
        return self._kbest(X, k, *self._prepared(loss, restrict))

    def explain(self, X, *, loss=None, restrict=None) -> Explanation:
        """The weights of the training examples for each row, and how far each one is."""
        X, _ = self._checked(X)
        if self.starts_ is not None:
            raise ValueError("Weights are of positions, not of sequences: see smoother_.weights.")
        if not isinstance(self.smoother_, LinearSmoother):
            raise ValueError(
                f"{_name_of(self.smoother_)} has no weights of training examples; use "
                "KernelRidge, Neighbors, NadarayaWatson or Forest."
            )
        problem, smoother = self._prepared(loss, restrict)
        decided = self._in_blocks(X, problem, smoother, problem.decode).outputs
        losses = problem.loss.pairwise(decided, self.outputs_)
        return Explanation(self.smoother_.weights(X), losses)

    def score(self, X, y, sample_weight=None, *, loss=None, restrict=None):
        """Minus the mean loss of the predictions for ``X``; loss and limits as in ``predict``."""
        return self._score(X, y, sample_weight, *self._prepared(loss, restrict))

    def certify(self, X, y, *, delta=0.05, bound=None, **options) -> Certificate:
        """A bound on the risk of this model that fails with probability delta at most.

        From rows that the model was not fitted to, it holds for any model, over the draw of these
        rows. From the training rows themselves, it is that of algorithmic stability, for kernel
        ridge regression without intercept.

        Parameters
        ----------
        X, y : rows that had no part in training, or all rows of training
        delta : float, default=0.05
        bound : "held_out" or "stability", default=None
            None takes the one that the rows are for.
        **options
            ``loss_bound`` where the largest loss is not known; for the training rows those of
            :func:`skstruct.bounds.stability_bound`, such as ``rho``.
        """
        from skstruct.bounds import held_out_bound, stability_bound
        from skstruct.bounds.certificate import largest_of_problem

        check_is_fitted(self)
        if bound not in (None, "held_out", "stability"):
            raise ValueError(f'bound is "held_out" or "stability"; got {bound!r}.')
        trained = bound != "stability" and are_training_rows(self, X, y)
        if bound == "stability" or (bound is None and trained):
            return stability_bound(self, X, y, delta=delta, **options)
        refuse_training_rows(trained)
        largest = largest_of_problem(self.problem_, **held_out_options(options))
        losses = self._losses(X, y, *self._prepared())
        return held_out_bound(
            losses, largest, delta=delta, binary=self.problem_.loss.all_or_nothing
        )
