# SPDX-License-Identifier: BSD-3-Clause
"""Regression in the feature space of an output kernel, and the nearest output there."""

from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.imports import is_pandas
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import announce, reported
from skstruct._arrays.rows import dense
from skstruct.backends import device_of
from skstruct.bounds import Certificate, compression_bound, held_out_bound, pac_bayes_bound
from skstruct.bounds.certificate import largest_loss
from skstruct.bounds.output_regression import largest_output_loss
from skstruct.config import config_context
from skstruct.encoding.frames import is_frame
from skstruct.kernels import Dirac, OutputKernel, resolve_kernel, resolve_output_kernel
from skstruct.kernels.outputs.precomputed import check_definite
from skstruct.learners.base import BlockPredictor, Explanation
from skstruct.learners.checkpoints.saving import Checkpoint, resuming
from skstruct.learners.inputs import (
    are_training_rows,
    given_outputs,
    held_out_options,
    n_read,
    plain_kernel,
    read_inputs,
    refuse_training_rows,
    row_weights,
)
from skstruct.learners.leave_out import (
    LeaveOutSearch,
    check_groups,
    choose,
    group_numbers,
    kernel_grid,
    twins,
)
from skstruct.learners.marginals import warn_of_open_pairs
from skstruct.learners.output_kernel import methods
from skstruct.learners.output_kernel.components import OutputComponents, choose_components
from skstruct.learners.output_kernel.problem import KernelProblem, output_space
from skstruct.learners.output_kernel.radius_search import choose_radius
from skstruct.learners.problem import risk_problem
from skstruct.learners.regression import (
    ONE_PASS,
    SAMPLED,
    check_settings,
    maker,
    number_tried,
    one_pass_ridge,
    planned_solvers,
    warn_of_loss,
)
from skstruct.learners.sparse_weights import choose_weights
from skstruct.losses import Levels, resolve_loss
from skstruct.saving import savable
from skstruct.smoothing import KernelRidge, LargestWeights, SampleCompression, Weighing
from skstruct.smoothing.planning import check_fits, plan
from skstruct.spaces import Decoded, Marginals
from skstruct.spaces.truth import told_mean
from skstruct.streaming import is_source


@savable
class OutputKernelRegressor(BlockPredictor):
    r"""Ridge regression between an input and an output kernel, and the pre-image of its answer.

    .. math:: \hat y(x) = \arg\min_y k_Y(y, y) - 2 \sum_i b_i(x)\, k_Y(y, y_i), \quad
              b(x) = A\, (k_X(x_j, x))_j

    ``method="ridge"`` (SORR [1]_) takes :math:`A = (K_X + \alpha I)^{-1}`. ``"sample_compression"``
    (SOSC) takes the A of least squared error with :math:`\sum_{ij} A_{ij}^2 \le R^2`; see
    :class:`~skstruct.smoothing.systems.CompressionSystem`.

    The answer is a point in the feature space of the output kernel; the prediction is the
    output nearest to it. Where that kernel is the inner product of an embedding of the space
    (Hamming kernel on ``Sequences``, common path in a ``Hierarchy``, spectrum kernel on
    ``Strings``, linear kernel on most), the whole space is searched by its own decoder;
    otherwise all candidates are compared.

    Parameters
    ----------
    space : space, default=None
        What may be predicted: gives outputs their form, and perhaps a decoder. None is the
        outputs of training, unless a space can be searched whole;
        :class:`Candidates(outputs) <skstruct.spaces.Candidates>` a list of others.
    loss : str or loss, default=None
        What alpha and radius are chosen by, and ``score`` measures. None is the kernel's own,
        :math:`(k(y, y) + k(y', y'))/2 - k(y, y')`.
    kernel : str, kernel, callable or list of them, default="rbf"
        Kernel between inputs, as in :class:`~skstruct.ConditionalRiskMinimizer`; or a string
        kernel such as :class:`~skstruct.kernels.SpectrumKernel`, for inputs that are strings.
        A list is searched like alpha.
    output_kernel : str, kernel or callable, default="dirac"
        Kernel between outputs: ``"dirac"``, ``"hamming"``, ``"path"``, ``"linear"``,
        ``"rbf"``, ``"polynomial"``, ``"precomputed"`` (then ``y`` is the kernel matrix and
        predictions are row numbers), a kernel of :mod:`skstruct.kernels`, or a function
        k(y, y') of two outputs.
    method : str or an object that such a name stands for, default="ridge"
        ``"ridge"``, ``"sample_compression"``, ``"largest_weights"`` or ``"components"``.
        The second stands for :class:`SampleCompression(radius=None)
        <skstruct.smoothing.SampleCompression>`, whose radius R is a number, several, or None for
        20 values; among several the folds of ``cv`` choose. The third, which stands for
        :class:`LargestWeights() <skstruct.smoothing.LargestWeights>`, is ridge regression that
        predicts from the largest weights b(x) alone, scaled to the sum of one; their number,
        ``LargestWeights(n_weights=...)``, is chosen together with alpha by the loss on left-out
        rows. Where inputs share a little with nearly all others, as strings do, few weights are
        often better. The fourth stands for :class:`PrincipalComponents()
        <skstruct.learners.PrincipalComponents>`: answers of ridge regression are projected on
        principal components of the outputs (kernel dependency estimation [2]_), whose number is
        chosen by held-out rows, after penalty and kernel.
    alpha : float, several or "auto", default="auto"
        Penalty of ridge regression. ``"auto"`` and several values are chosen by the
        loss on left-out rows, in closed form, from one eigendecomposition; those of equal loss
        by the squared error of left-out rows.
    solver, n_landmarks
        How ridge regression is solved, as in
        :class:`~skstruct.ConditionalRiskMinimizer`: exactly, or by landmarks in one pass.
    cv : None, "output", int or splitter, default=None
        What is left out together when alpha is chosen; see
        :class:`~skstruct.ConditionalRiskMinimizer`. The number of folds, at random, by which a
        radius or a number of components is chosen: 5 unless it is a number.
    n_jobs, verbose
        As in :class:`~skstruct.ConditionalRiskMinimizer`.
    random_state : int or RandomState, default=None
        Of the folds.

    Attributes
    ----------
    coef_ : array of shape (m, m)
        A; computed when asked for.
    alpha_, radius_, gamma_, kernel_, solver_, n_weights_ : what was chosen
        None where it has no part; of ``n_weights_``, where all weights count.
    n_components_ : int or None
        Components in use, of those that are not zero.
    output_variances_ : array or None
        Variances of the outputs along all components, the largest first.
    component_search_ : LeaveOutSearch or None; numbers of components with their held-out risks
    output_kernel_ : the fitted kernel between outputs
    space_, smoother_ : the fitted parts
    search_ : LeaveOutSearch or None; all trials with their left-out risks

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013, (8) and
       Theorem 6. Ridge regression: C. Cortes, M. Mohri, J. Weston, "A general regression
       framework for learning string-to-string mappings", 2007.
    .. [2] J. Weston, O. Chapelle, A. Elisseeff, B. Schölkopf, V. Vapnik, "Kernel dependency
       estimation", 2002; section 2.1 of S. Vembu, "Learning to predict combinatorial structures",
       2010. The mean of the outputs is regressed on like the components, so that all of them give
       ridge regression.

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> X, words = [[0.0], [0.2], [1.0], [1.1], [2.0]], ["cat", "cat", "dog", "dig", "bird"]
    >>> model = OutputKernelRegressor(kernel=RBF(2.0), output_kernel="hamming", alpha=0.1)
    >>> model = model.fit(X, words)
    >>> model.predict([[0.1], [2.1]]).tolist()
    ['cat', 'bird']
    >>> model.decode([[0.1]]).values.shape, model.coef_.shape
    ((1,), (5, 5))
    """

    alpha_: float | None
    n_weights_: int | None
    radius_: float | None
    search_: LeaveOutSearch | None
    solver_: str | None
    n_components_: int | None
    output_variances_: np.ndarray | None
    component_search_: LeaveOutSearch | None

    partial_: Any = None  # outputs are known as a whole

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        *,
        kernel: Any = "rbf",
        output_kernel: Any = "dirac",
        method: Any = "ridge",
        alpha: Any = "auto",
        solver: str = "auto",
        n_landmarks: int | str = "auto",
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.kernel = kernel
        self.output_kernel = output_kernel
        self.method = method
        self.alpha = alpha
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Learn from inputs ``X`` and outputs ``y`` in any format that the kernel reads.

        Parameters
        ----------
        sample_weight : array of shape (m,), default=None
            For ridge regression.
        groups : array of shape (m,), default=None
            Rows of the same group are left out together when alpha or radius is chosen.
        checkpoint : str, path or Checkpoint, default=None
            File that the choice of alpha, radius and kernel is saved to on the way, and goes on
            from when it was stopped; it is removed in the end. See
            :class:`~skstruct.learners.Checkpoint`.
        """
        y = given_outputs(y, "OutputKernelRegressor")
        methods.check(self.method, self.solver, sample_weight is not None)
        check_settings(self)
        if is_source(X) and not (isinstance(X, np.memmap) or is_frame(X)):
            raise ValueError(
                "OutputKernelRegressor learns from arrays, not from blocks of rows; "
                "ConditionalRiskMinimizer reads them."
            )
        self.device_ = device_of(self.device, X)
        X = self._read_first(X, self.kernel)
        if self.tokens_ is not None:
            raise ValueError("OutputKernelRegressor takes one input per output, not one per token.")
        check_consistent_length(X, y)
        check_groups(groups, X.shape[0])
        if sample_weight is not None:
            sample_weight = row_weights(sample_weight, X.shape[0])
        kernel = clone(resolve_output_kernel(self.output_kernel))
        self.space_, self.outputs_, candidates = output_space(y, self.space, kernel)
        self.problem_ = KernelProblem(
            self.space_, kernel, self.outputs_, y, loss=self.loss, candidates=candidates,
            whole=self.space is not None and candidates is None, memory=self.memory,
        )  # fmt: skip
        self.output_kernel_ = self.problem_.kernel
        if not self.problem_.by_embedding:
            check_definite(self.problem_.output_gram()[0])
        self.alpha_ = self.radius_ = self.search_ = self.solver_ = self.n_weights_ = None
        self.n_components_ = self.output_variances_ = self.component_search_ = None
        fit = self._fit_ridge if self._is_ridge else self._fit_compression
        fit = self._fit_sparse if self._is_sparse else fit
        data = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups}
        with resuming(self, checkpoint, **data) as level, config_context(device=self.device_):
            self.smoother_ = fit(X, sample_weight, groups, level.below("search"))
        self.gamma_ = self.smoother_.kernel_.gamma_
        return self

    @property
    def _is_ridge(self) -> bool:
        return methods.is_ridge(self.method)

    @property
    def _is_sparse(self) -> bool:
        return methods.is_sparse(self.method)

    def _kernels(self, X: Any, sample_weight: Any = None) -> list[Any]:
        return kernel_grid(plain_kernel(self, self.kernel), X, sample_weight)

    def _ridge(self, kernel: Any, gamma: Any, alpha: float, solver: str) -> Any:
        shared, settled = {"fit_intercept": False}, resolve_kernel(kernel).with_gamma(gamma)
        if solver in ONE_PASS:
            return one_pass_ridge(self, settled, alpha, solver, shared, n_read(self))
        return KernelRidge(settled, alpha, solver=solver, **shared)

    def _fit_ridge(self, X: Any, sample_weight: Any, groups: Any, level: Any) -> Any:
        pairs = self._kernels(X, sample_weight)
        n_tried = number_tried(pairs, self.alpha)
        search = n_tried != 1
        n_targets = self.problem_.n_targets(compared=search)
        compared: Any
        alone = self.problem_.rows_stand_alone
        compared, solver = planned_solvers(self, X, n_targets, pairs, n_tried, alone)
        self.solver_ = solver
        if search and len(self.outputs_) > 1:
            groups = group_numbers(self.cv, self.outputs_, groups, X)
            self.search_, smoother = choose(
                maker(self._ridge, compared, solver), pairs, self.alpha, self.problem_, X, groups,
                sample_weight=sample_weight, memory=self.memory, verbose=self.verbose,
                level=level,
            )  # fmt: skip
            best = self.search_.best
            tried = (best["kernel"], best["gamma"], best["alpha"])
        else:
            # Of one row nothing can be left out.
            compared, tried = None, (*pairs[0], 1.0 if search else float(self.alpha))
        if compared not in (SAMPLED, solver):
            smoother = self._ridge(*tried, solver)
            smoother.fit(X, self.problem_.targets(), sample_weight)
        self.alpha_, self.kernel_ = smoother.alpha, tried[0]
        warn_of_loss(smoother, self.problem_, self.search_, sample_weight)
        components = methods.components_of(self.method)
        if components is None:
            return smoother
        n = components.n_components
        return self._with_components(n, smoother, X, sample_weight, groups, tried[:2])

    def _with_components(
        self, n: Any, smoother: Any, X: Any, sample_weight: Any, groups: Any, tried: Any
    ) -> Any:
        """The smoother of targets that are projected on n components of the outputs."""
        gram, number = self.problem_.output_gram()
        components = OutputComponents(gram, number, sample_weight)
        self.output_variances_ = components.variances
        if isinstance(n, str) and len(number) < 2:
            n = 1  # of one row nothing can be held out
        if isinstance(n, str):
            n, self.component_search_ = choose_components(
                lambda: self._ridge(tried[0], tried[1], smoother.alpha, self.solver_ or "auto"),
                self.problem_, X, twins(X, self.outputs_) if groups is None else groups,
                sample_weight, cv=int(self.cv) if isinstance(self.cv, (int, np.integer)) else 5,
                memory=self.memory, random_state=self.random_state,
            )  # fmt: skip
        components = components.first(int(n))
        self.n_components_ = components.n_kept
        self.problem_ = self.problem_.projected(components)
        return smoother.with_targets(self.problem_.targets())

    def _fit_sparse(self, X: Any, sample_weight: Any, groups: Any, level: Any) -> Any:
        """Ridge regression by its largest weights: their number and alpha by left-out rows.

        Of several kernels the one of the least left-out loss with all weights.
        """
        pairs = self._kernels(X, sample_weight)
        kernel, gamma = pairs[0]
        if len(pairs) > 1:
            self._fit_ridge(X, sample_weight, groups, level)
            assert self.search_ is not None
            kernel, gamma = self.search_.best["kernel"], self.search_.best["gamma"]
        check_fits(plan(X.shape[0], 0, X.shape[0], solver="spectral"))
        settled = resolve_kernel(kernel).with_gamma(gamma)
        ridge = KernelRidge(settled, self.alpha, fit_intercept=False)
        number = "auto" if isinstance(self.method, str) else self.method.n_weights
        self.search_, smoother = choose_weights(
            LargestWeights(ridge, number), self.problem_, X,
            group_numbers(self.cv, self.outputs_, groups, X), kernel=kernel, gamma=gamma,
            sample_weight=sample_weight, memory=self.memory,
        )  # fmt: skip
        self.alpha_, self.kernel_, self.n_weights_ = smoother.alpha_, kernel, smoother.n_weights_
        warn_of_loss(smoother, self.problem_, self.search_, sample_weight)
        return smoother

    def _fit_compression(self, X: Any, sample_weight: Any, groups: Any, level: Any) -> Any:
        pairs = self._kernels(X)
        announce(
            f"{X.shape[0]:,} rows, sample compression, {len(pairs)} kernels, "
            f"{self._n_folds} folds where a radius is chosen"
        )
        groups = twins(X, self.outputs_) if groups is None else groups
        radius = None if isinstance(self.method, str) else self.method.radius
        makers = [SampleCompression(resolve_kernel(k).with_gamma(g)) for k, g in pairs]
        self.search_, smoother = choose_radius(
            makers, pairs, radius, self.problem_, X,
            groups=groups, cv=self._n_folds, memory=self.memory, verbose=self.verbose,
            random_state=self.random_state, level=level,
        )  # fmt: skip
        self.radius_ = smoother.radius
        self.kernel_ = pairs[0][0] if self.search_ is None else self.search_.best["kernel"]
        return smoother

    @property
    def _n_folds(self) -> Any:
        return 5 if self.cv is None else self.cv

    # ------------------------------------------------------------------ what was fitted
    @property
    def coef_(self) -> np.ndarray:
        """A of shape (m, m): the weights of training outputs are A times kernel values."""
        check_is_fitted(self, "smoother_")
        if self._is_sparse:
            raise AttributeError("coef_: sparse weights are no linear function of kernel values.")
        if not self._is_ridge:
            return self.smoother_.coef_
        if self.solver_ in ONE_PASS:
            raise AttributeError("coef_: landmarks take the place of the coefficients of rows.")
        root = self.smoother_.root_
        coef: np.ndarray = root[:, None] * self.smoother_.system_.solve(np.diag(root))
        return self.problem_.answer_weights(coef.T).T

    @property
    def unit_inputs_(self) -> bool:
        """Whether k(x, x) = 1 is known for all inputs."""
        if self.features_ is not None:
            return bool(getattr(self.features_, "normalize", False))
        return bool(self.smoother_.kernel_.is_unit)

    def gram_inputs(self, X: Any = None) -> np.ndarray:
        """Kernel matrix of the training inputs, (m, m); of a precomputed kernel, give it."""
        check_is_fitted(self, "smoother_")
        rows = Weighing.of(self.smoother_).rows
        if rows is not None:
            return self.smoother_.kernel_.gram(rows)
        if X is None:
            raise ValueError("A precomputed kernel is not kept: give the training X.")
        return self.smoother_.kernel_.gram(read_inputs(self, X))

    def gram_outputs(self) -> np.ndarray:
        """Kernel matrix of the training outputs, (m, m)."""
        check_is_fitted(self, "smoother_")
        gram, number = self.problem_.output_gram()
        return gram[np.ix_(number, number)]

    # ------------------------------------------------------------------ predicting
    def _prepared(
        self, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> tuple[KernelProblem, Any]:
        check_is_fitted(self, "smoother_")
        problem = self.problem_ if loss is None else self.problem_.judged_by(loss)
        return problem.restricted(restrict), self.smoother_

    infers_labels = False  # of any kind, often all different

    def _telling(self, parts: str, told: bool) -> tuple[Any, Any]:
        """psi of the training outputs, weighed as answers in feature space weigh them."""
        loss = resolve_loss(Marginals.of(self.space_).losses[parts])
        telling = risk_problem(self.space_, loss, self.outputs_).from_weights()
        warn_of_open_pairs(telling.space, self.outputs_)
        if self.problem_.components is not None:
            telling._psi = self.problem_.components.targets(dense(telling._psi))
        return telling, self.smoother_

    def decode(self, X: Any, *, restrict: dict[str, Any] | None = None) -> Decoded:
        """Predictions, with k(y, y) - 2 sum_i b_i k(y, y_i) as values and bounds on these.

        Bounds are over what may be predicted: candidates, or the space if one was given.

        Parameters
        ----------
        restrict : dict, default=None
            Arguments of the space's ``restrict``.
        """
        return self._decode(X, *self._prepared(None, restrict))

    def predict(self, X: Any, *, restrict: dict[str, Any] | None = None) -> Any:
        """The outputs nearest to the answers in feature space, in the format of ``y``."""
        return self.decode(X, restrict=restrict).outputs

    def kbest(self, X: Any, k: int = 3, *, restrict: dict[str, Any] | None = None) -> Decoded:
        """The ``k`` nearest outputs of each row; a list of outputs, rank by rank."""
        return self._kbest(X, k, *self._prepared(None, restrict))

    def explain(self, X: Any, *, restrict: dict[str, Any] | None = None) -> Explanation:
        """The weights b(x) of the training examples for each row, and how far each one is."""
        problem, smoother = self._prepared(None, restrict)
        X, _ = self._checked(X)
        decided = self._in_blocks(X, problem, smoother, problem.decode).outputs
        weights = problem.answer_weights(smoother.weights(X))
        losses = problem.loss.pairwise(decided, self.outputs_)
        return Explanation(weights, losses, Weighing.of(smoother).sample_weight)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
    ) -> float:
        """Minus the mean loss of the predictions for ``X``; the model's own when None."""
        loss = self.loss if loss is None else loss
        losses, _ = self._judged(X, y, loss, restrict, sample_weight)
        return 0.0 - told_mean(losses, sample_weight)

    def _judged(
        self,
        X: Any,
        y: Any,
        loss: Any,
        restrict: dict[str, Any] | None = None,
        sample_weight: Any = None,
    ) -> tuple[np.ndarray, Any]:
        """Losses of the predictions, and what measures them: a loss, or an output kernel."""
        y = self._named_alike(given_outputs(y, type(self).__name__))
        judge: OutputKernel | None = self.output_kernel_
        if loss is not None:
            # An output never seen is wrong.
            judge = Dirac() if Levels.of(resolve_loss(loss)).all_or_nothing else None
        problem, smoother = self._prepared(None if judge else loss, restrict)
        if judge is None:
            return self._losses(X, y, problem, smoother, sample_weight), problem.loss.loss
        check_consistent_length(y, sample_weight)
        return judge.loss(self._decode(X, problem, smoother).outputs, y), judge

    def _named_alike(self, y: Any) -> Any:
        """Outputs in the format of predictions where columns have names, in whatever order.

        Others are as they came: kernels compare outputs that the space does not hold, too.
        """
        if not is_pandas(y, "DataFrame"):
            return y
        check_is_fitted(self, "smoother_")
        return self.space_.restore(self.space_.validate(y))

    def certify(
        self, X: Any, y: Any, *, delta: float = 0.05, bound: str | None = None, **options: Any
    ) -> Certificate:
        """A bound on the risk of this model that fails with probability delta at most.

        From rows that the model was not fitted to, it holds for any model, over the draw of these
        rows; from the training rows, over the draw of these.

        Parameters
        ----------
        X, y : rows that had no part in training, or all rows of training
        delta : float, default=0.05
        bound : "held_out", "pac_bayes" or "compression", default=None
            None takes the one that the rows are for; for those of training the one that the
            method minimizes.
        **options
            ``loss_bound`` where the largest loss is not known, and for the training rows those
            of :func:`skstruct.bounds.pac_bayes_bound` or
            :func:`skstruct.bounds.compression_bound`.
        """
        check_is_fitted(self, "smoother_")
        if bound not in (None, "held_out", "pac_bayes", "compression"):
            raise ValueError(
                'bound is "pac_bayes" or "compression", from the rows of training, or "held_out"; '
                f"got {bound!r}."
            )
        trained = bound in (None, "held_out") and are_training_rows(self, X, y)
        if bound is None and trained:
            bound = "pac_bayes" if self._is_ridge else "compression"
        if bound in ("pac_bayes", "compression") and self._is_sparse:
            raise ValueError(
                'Bounds from the rows of training are for all weights; certify method="largest_'
                'weights" with rows that had no part in training (bound="held_out").'
            )
        if bound in ("pac_bayes", "compression"):
            certified = pac_bayes_bound if bound == "pac_bayes" else compression_bound
            return certified(self, X, y, delta=delta, **options)
        refuse_training_rows(trained)
        losses, judge = self._judged(X, y, self.loss)
        largest = self._largest(judge, **held_out_options(options))
        return held_out_bound(losses, largest, delta=delta, binary=Levels.of(judge).all_or_nothing)

    def _largest(self, judge: Any, loss_bound: Any, used_by: str) -> float:
        if judge is self.output_kernel_:
            return largest_output_loss(self, loss_bound, used_by)
        if isinstance(judge, OutputKernel):
            return 1.0
        known = largest_loss(judge, self.space_) if loss_bound is None else loss_bound
        if known is None:
            raise ValueError(f"{used_by}: the largest loss is not known; give loss_bound.")
        return float(known)
