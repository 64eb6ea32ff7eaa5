# SPDX-License-Identifier: BSD-3-Clause
"""Smooth psi(Y), apply the loss, take the argmin."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length

from skstruct._arrays.checks import repeatable
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported
from skstruct.backends import device_of
from skstruct.config import config_context
from skstruct.learners.calibration import Calibration, fit_calibration
from skstruct.learners.checkpoints.saving import Checkpoint, resuming
from skstruct.learners.conditional_risk.automatic import StackedRegression
from skstruct.learners.conditional_risk.disambiguation import decide_candidates
from skstruct.learners.conditional_risk.filling import fill_targets
from skstruct.learners.conditional_risk.part_plan import parse_seconds
from skstruct.learners.conditional_risk.prediction import RiskPredictor
from skstruct.learners.conditional_risk.streams import StreamedRisk, is_read_whole
from skstruct.learners.inputs import (
    TrainingData,
    given_outputs,
    row_weights,
    takes_raw_inputs,
)
from skstruct.learners.leave_out import check_groups
from skstruct.learners.marginals import check_outputs_observed, leaves_pairs_open
from skstruct.learners.masked_problem import OpenPairsProblem, masked_problem
from skstruct.learners.problem import risk_problem
from skstruct.learners.regression import (
    ONE_PASS,
    GivenSmoother,
    Regressed,
    Retargeting,
    RidgeRegression,
    check_settings,
    is_searched,
    smoothing_by,
)
from skstruct.losses import Effort, Observed, PartlyKnown, pair, resolve_loss
from skstruct.saving import savable
from skstruct.smoothing import Learning
from skstruct.smoothing.planning import SPECTRAL_ROWS
from skstruct.spaces import Classes, Known, Solving
from skstruct.spaces.infer_space import infer_space
from skstruct.spaces.truth import read_truth
from skstruct.streaming import as_source, is_source
from skstruct.streaming.engines import kept_open


@savable
class ConditionalRiskMinimizer(StreamedRisk, RiskPredictor):
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
        The loss; the usual one of the space when None. A callable of two
        outputs is minimized over the outputs seen in training.
    kernel : str, kernel, callable or list of them, default="auto"
        Kernel between inputs: an object of :mod:`skstruct.kernels` or the name that stands for
        it, ``"rbf"`` for :class:`RBF() <skstruct.kernels.RBF>`; ``"precomputed"`` too. Names
        joined by a plus, ``"rbf+laplacian"``, are added with equal weight. A list is searched like
        alpha, and so are the widths of ``RBF(gamma="auto")``. ``"auto"`` is the Gaussian kernel,
        ``"rbf"``; above 20,000 rows, if alpha is open, the better one on left-out rows of it and
        the linear kernel.
    alpha : float, several, or "auto"
        Ridge penalty, K + alpha I. ``"auto"`` and several values are chosen by the loss
        itself on left-out rows, in closed form, from one eigendecomposition.
    fit_intercept : bool, default=True
        With it the weights of every prediction sum to one.
    smoother : "auto", "kernel_ridge" or regressor, default="auto"
        ``"auto"`` weighs several: ridge regressions of three kernels, on inputs as given, scaled
        and ranked, forests, and logistic regressions where targets have two values, by their
        left-out means (:class:`~skstruct.smoothing.Stacked`). One of them alone is kept where its
        left-out *decisions* are clearly better. ``search_`` tells what was tried, and what it took.
        ``"kernel_ridge"`` is ridge regression with one kernel, and so is ``"auto"`` as soon as
        ``kernel``, ``alpha``, ``fit_intercept``, ``solver`` or ``n_landmarks`` is given, and where
        blocks of rows can be read only once or a device is asked for.
        Otherwise a smoother of this library, any multi-output regressor of scikit-learn, which
        is shown the targets that vary, or a classifier, whose ``predict_proba`` gives the means of
        targets of two values (:class:`~skstruct.smoothing.ClassifierMeans`): labels, from whose
        probabilities F measures are decided as if they were independent. One that was fitted before
        comes as ``FrozenEstimator``. A ridge regression of this library with
        ``alpha="auto"``, such as :class:`~skstruct.smoothing.AdditiveKernelRidge` for labels that
        borrow strength from each other, has its penalty chosen like the learner's own. Where its
        tags, or those of a pipeline's first step, say that it takes missing values, categories or
        texts, inputs reach it as they are.
    solver : "auto", "cholesky", "packed", "spectral", "nystroem", "fourier" or "primal"
        How the ridge system is solved. ``"auto"`` is exact for up to 20,000 rows; beyond it
        takes landmarks, in one pass over the rows (:class:`~skstruct.smoothing.NystroemRidge`).
        Alphas are compared by one eigendecomposition, of 1,000 rows or a sample of more.
        ``"packed"`` keeps half of the kernel matrix; ``"fourier"`` is for the Gaussian kernel;
        ``"primal"`` is for the linear one, and that of ``"auto"`` beyond 5,000 rows: exact, and
        sparse inputs stay sparse.
    n_landmarks : int or "auto", default="auto"
        Of ``"nystroem"`` and ``"fourier"``. ``"auto"`` begins with 1,000 or 2 sqrt(n), and takes
        twice as many as long as the loss on left-out rows falls by a hundredth, within some
        minutes. More than a tenth of the kernel's trace left unexplained raises a warning.
    cv : None, "output", int or splitter, default=None
        What is left out together when alpha is chosen: each row with its copies for None, in
        closed form; all rows of the same output; so many contiguous blocks; or the test sets of a
        scikit-learn splitter.
        Rows that are alike beyond what the test rows will be (blocks, sorted files, copies
        with small changes) must go together, or the choice will be too bold. Rows equal in
        inputs and output are taken for copies, unless inputs are discrete: equal ones with
        different outputs, or five of each row. ``groups`` in ``fit`` overrides it.
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
    alpha_, gamma_, kernel_, solver_ : what was chosen for kernel ridge regression, or None
    device_ : where it was fitted; see :func:`skstruct.set_config`
    search_ : LeaveOutSearch or None; all trials with their left-out risks
    partial_ : PartialOutputs or None; what is known of outputs of training, where that is not all
    filling_ : Filling or None; how parts were filled by what known ones say of them
    disambiguation_ : Disambiguation or None; outputs that were decided among candidates
    outputs_ : array of the training outputs in canonical form; of a sample, where blocks are read

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization".
    .. [2] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, Algorithm 1.

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> from skstruct.spaces import Hierarchy
    >>> X = [[0.0], [0.1], [1.0], [1.1], [3.0]]
    >>> Y = [{"animal", "cat"}, {"animal", "cat"}, {"animal", "dog"}, {"animal", "dog"}, set()]
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> model = ConditionalRiskMinimizer(space, "hierarchical", kernel=RBF(2.0), alpha=0.1)
    >>> model = model.fit(X, Y)
    >>> sorted(model.predict([[0.05]])[0])
    ['animal', 'cat']
    >>> sorted(model.predict([[0.05]], restrict={"exclude": ["cat"]})[0])
    ['animal']
    """

    seed_: Any = None  # of landmarks and forests, where rows are held
    partial_: Any = None  # what is known of outputs of training; None where they are as a whole
    starts_: Any  # where the tokens of each sequence begin; None for one input per output
    _halves_open_pairs = False  # what a ranking leaves open is both orders, by half

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        *,
        kernel: Any = "auto",
        alpha: Any = "auto",
        fit_intercept: bool = True,
        smoother: Any = "auto",
        solver: str = "auto",
        n_landmarks: str | int = "auto",
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.smoother = smoother
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan |= takes_raw_inputs(self.smoother)
        return tags

    # ------------------------------------------------------------------ fitting
    @reported
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        known: Any = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
        budget: str | float | None = None,
    ) -> Self:
        """Learn from inputs ``X`` (n, p) and outputs ``y`` in any format the space reads.

        A DataFrame may have names, dates and missing cells; what becomes of them is said at
        :class:`~skstruct.encoding.TableEncoder`.

        Rows that do not fit into memory at once are read in blocks, and learned from by landmarks:
        memory-mapped arrays, Parquet files (then ``y`` and ``sample_weight`` are names of
        columns), iterators of pairs (X, y) or (X, y, weight), and every source of
        :mod:`skstruct.streaming`.

        Parts of outputs may be missing: NaN, None or NA, masked arrays, or what ``known`` says. A
        row may also be a set of outputs of which one is meant. See "When labels are missing".

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
        groups : array of shape (n,), default=None
            Rows of the same group are left out together when alpha is chosen.
        known : bool array of the shape of y, default=None
            Parts of outputs that are known; what stands elsewhere is not looked at.
        checkpoint : str, path or Checkpoint, default=None
            File that the choice of kernel and alpha is saved to on the way, and goes on from when
            it was stopped; it is removed in the end. See :class:`~skstruct.learners.Checkpoint`.
        budget : str or float, default=None
            The time that the smoothers of ``smoother="auto"`` and decisions of left-out rows, which
            compare them, may take, ``"30s"`` or a number of seconds. What is tried then depends on
            the speed of the machine; without a budget it follows from the data alone: some ten
            times the work of one kernel ridge regression, from what takes a slow machine twenty
            seconds to two minutes of it, which more than 5,000 rows have in any case.
        """
        check_settings(self)
        seconds = parse_seconds(budget)
        self.streamed_ = is_source(X) and not is_read_whole(self, X, y, groups)
        if self.streamed_:
            if known is not None:
                raise ValueError("known: rows in blocks say by NaN which parts are not known.")
            source = as_source(X, y, sample_weight)
            with kept_open():
                fitted: Self = self._fit_source(source, groups, checkpoint, seconds)
            return fitted
        data = self._pair(self._read(X, y, sample_weight, groups, known=known))
        # A fit that is saved has a seed of its own meanwhile.
        self.seed_ = repeatable(self.random_state)
        read = {"X": data.rows, "y": y, "sample_weight": data.row_weight, "groups": groups}
        context = config_context(device=self.device_)
        with resuming(self, checkpoint, **read) as level, kept_open(), context:
            return self._keep(self._regress(data, level, seconds), data.row_weight)

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        encode: bool = True,
        known: Any = None,
    ) -> TrainingData:
        """What is learned from, once it is checked; device, space and how inputs are read."""
        y, self.device_ = given_outputs(y, "ConditionalRiskMinimizer"), device_of(self.device, X)
        X = self._read_first(X, self.kernel, encode)
        self.starts_ = X.starts if self.tokens_ is not None else None
        if self.starts_ is not None and self.streamed_:
            raise ValueError("Features for every position of a sequence are not read in blocks.")
        check_consistent_length(X, y)
        check_groups(groups, X.shape[0])
        if groups is not None and not is_searched(self):
            raise ValueError("groups serve the choice of alpha, which the smoother has not.")
        if sample_weight is not None:
            sample_weight = row_weights(sample_weight, X.shape[0])
        self.space_ = self._inferred(y) if self.space is None else clone(self.space)
        self.loss_ = resolve_loss(self.space_.default_loss if self.loss is None else self.loss)
        seen = self.observation_space_
        if known is not None and (masked := Known.of(seen).masked(y, known)) is not None:
            y, known = masked, None
        self.partial_ = Known.of(seen).read_gaps(y, known)
        if self.partial_ is None:
            return TrainingData(X, seen.fit_validate(y), sample_weight, groups)
        return TrainingData(X, self.partial_.outputs, sample_weight, groups)

    def _pair(self, data: TrainingData) -> TrainingData:
        """The loss, and the problem that it makes of the space; what is left open is decided where
        the loss needs outputs as a whole.
        """
        self.disambiguation_ = None
        self.loss_ = self._as_learned(self.loss_)
        self.outputs_, self.problem_ = data.outputs, None
        problem = None if self.partial_ is None else self._partial_problem(self.loss_)
        if self.partial_ is not None and problem is None:
            self.disambiguation_ = decide_candidates(self, data, self.partial_)
            data, self.partial_ = replace(data, outputs=self.disambiguation_.outputs), None
            self.outputs_ = data.outputs
        self.problem_ = self._problem(self.loss_) if problem is None else problem
        return data

    def _as_learned(self, loss: Any) -> Any:
        """A loss, or that of parts where these are all that is learned: of outputs that are known
        in part, or told part by part by a classifier.
        """
        parts = self.partial_ is not None or Known.of(self.observation_space_).estimates_targets
        if not parts and smoothing_by(self) == "given" and Observed.of(loss).what == "outputs":
            from skstruct.smoothing.classifiers import classifies

            parts = classifies(self.smoother)
        return PartlyKnown.of(loss).learned(self.space_) if parts else loss

    def _partial_problem(self, loss: Any) -> Any:
        """The problem of outputs that are known in part, or None if it needs whole ones."""
        if self.starts_ is not None and self.partial_.by_parts:
            return self._token_problem(loss)
        learned = PartlyKnown.of(loss).learned(self.space_)
        problem: Any = masked_problem(self.space_, learned, self.partial_)
        fitted = self.problem_
        gaps = problem is not None and fitted is not None and fitted.has_gaps
        if gaps and fitted.width == problem.width:
            problem.filling = fitted.filling  # of labels, under whatever loss
        return problem

    def _regress(self, data: TrainingData, level: Any, budget: float | None = None) -> Regressed:
        how = smoothing_by(self)
        self.filling_ = None
        if self.problem_.has_gaps:
            self.filling_ = fill_targets(self.problem_, data.rows, data.row_weight)
        if how == "stack" and self.device_ is None and not data.is_single:
            return StackedRegression(self, self.problem_, budget).fit(data, level)
        if how != "given":
            return RidgeRegression(self, self.problem_).fit(data, level)
        self._check_linear(self.problem_, self.smoother)
        return GivenSmoother(self, self.problem_).fit(data, level)

    def _keep(self, found: Regressed, weight: Any = None) -> Self:
        """The model, with what was fitted and chosen."""
        self.smoother_, self.search_ = found.smoother, found.search
        self.kernel_, self.alpha_, self.gamma_ = found.kernel, found.alpha, found.gamma
        self.solver_, self._retargeting = found.solver, Retargeting()
        self.calibration_ = self._calibrated(found, weight)
        if self.filling_ is not None:
            self.problem_.filled_by = None  # it is large
        if found.solver in ONE_PASS:
            self.problem_.n_kept = Learning.of(found.smoother).n_landmarks
        return self

    def _calibrated(self, found: Regressed, weight: Any) -> Calibration | None:
        """What left-out means say of marginals and risks; None where none are known."""
        if found.left is None:
            return None
        rows = slice(None) if found.left_rows is None else found.left_rows
        problem = self.problem_
        means = problem.left_out(found.left, found.left_rows)
        if means is None:
            return None
        weight = problem.output_weights(weight, found.left_rows)
        return fit_calibration(problem, means, self.outputs_[rows], rows, weight)

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None, *, known: Any = None) -> Self:
        """Learn from rows that the model was not fitted to how sure marginals and risks are.

        In place of the rows that were left out in ``fit``; sets ``calibration_``. Parts of ``y``
        may be missing, as in ``fit``.
        """
        problem, smoother = self._prepared()
        X, _ = self._checked(X)
        check_consistent_length(X, y)
        truth = read_truth(self.observation_space_, y, known)
        outputs = truth.outputs
        problem = problem.judging(truth.looked_at)
        problem.check_truth(X, outputs)
        weight = None if sample_weight is None else row_weights(sample_weight, X.shape[0])
        means = problem.smooth(smoother, X)
        rows = slice(None)
        self.calibration_ = fit_calibration(problem, means, outputs, rows, weight)
        return self

    def _inferred(self, y: Any) -> Any:
        if self._expected is not None:
            return Classes(self._expected)
        if self.starts_ is not None:
            from skstruct.spaces import Sequences

            return Sequences()
        loss = None if self.loss is None else resolve_loss(self.loss)
        check_outputs_observed(loss)
        needs = None if loss is None else loss.embedding
        return infer_space(y, quantities=needs in ("weights", "squares"))

    def _problem(self, loss: Any) -> Any:
        joint = Learning.of(self.smoother).joins_labels
        if self.starts_ is not None:
            return self._token_problem(loss)
        if self.partial_ is not None:
            problem = self._partial_problem(loss)
            if problem is None:
                learned = PartlyKnown.of(loss).learned(self.space_)
                raise ValueError(
                    f"{type(learned).__name__} needs outputs as a whole, and some are known in "
                    "part: take a loss that adds up over parts, such as "
                    f"{self.space_.default_loss!r}."
                )
            return problem
        loss = self._as_learned(loss)
        gaps = self.problem_ is not None and self.problem_.has_gaps  # of the fitted smoother
        whole = self.streamed_ or joint or self._halves_open_pairs
        if not whole and (gaps or self.problem_ is None):
            view, paired = pair(loss, self.space_, self.outputs_)
            if leaves_pairs_open(view, self.outputs_):
                return OpenPairsProblem(view, paired, self.outputs_)
        # With many rows, or blocks of them, their weights would need a pass over all.
        many = self.streamed_ or self.solver in ONE_PASS or len(self.outputs_) > SPECTRAL_ROWS
        many |= gaps  # there are no weights that serve all targets
        problem = risk_problem(
            self.space_, loss, self.outputs_,
            joint=joint, by_weights=smoothing_by(self) != "given" and not many, some=self.streamed_,
        )  # fmt: skip
        if joint and problem.key[0] != "indicators":
            raise ValueError(
                f"A label kernel joins indicators; {type(loss).__name__} needs {problem.key[0]}."
            )
        return problem

    # ------------------------------------------------------------- model files
    _work_when_read = 500

    def _not_saved(self) -> tuple[str]:
        return ("problem_",)

    @classmethod
    def _bytes_when_used(cls, state: dict[str, Any]) -> Any:
        """psi of the training outputs, from which the model decides."""
        outputs = state.get("outputs_")
        if "smoother_" not in state or not isinstance(outputs, np.ndarray):
            return 0
        return Effort.of(state["loss_"]).target_bytes(state["space_"], outputs)

    def _check_saved(self) -> None:
        """What to regress on and how to decide follows from the space, the loss and the outputs."""
        if hasattr(self, "smoother_"):
            self.problem_ = None
            self.problem_ = self._problem(self.loss_)

    def _token_problem(self, loss: Any) -> Any:
        from skstruct.learners.token_problem import TokenProblem

        if not Solving.of(self.space_).decodes_chains:
            raise ValueError(
                "X has features for every position of a sequence: the space is Sequences; got "
                f"{type(self.space_).__name__}."
            )
        fitted = self.problem_  # with bigrams, means of symbols alone are there as well
        pairs = fitted is not None and fitted.pairs_used
        known = None if self.partial_ is None else self.partial_.known
        return TokenProblem(
            self.space_, loss, self.outputs_, self.starts_, pairs=pairs, known=known
        )
