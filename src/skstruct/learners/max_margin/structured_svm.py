# SPDX-License-Identifier: BSD-3-Clause
"""The structured support vector machine, over any space that can be decoded."""

from os import PathLike
from typing import Any, Self

from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import reported
from skstruct.learners.checkpoints.saving import Checkpoint
from skstruct.learners.max_margin.base import HingeLearner
from skstruct.learners.max_margin.slack_rescaling import RESCALINGS, oracle_of
from skstruct.learners.partial_outputs import check_not_masked
from skstruct.learners.passes import is_streamed
from skstruct.saving import savable
from skstruct.streaming import as_source


@savable
class StructuredSVM(HingeLearner):
    r"""Scores that keep the truth ahead of every other output by its loss.

    .. math:: \min_W \tfrac\alpha2 \|W\|^2 + \frac1n \sum_i \max_z \bigl(\ell(z, y_i)
              + \langle W' x_i, \psi(z) - \psi(y_i) \rangle\bigr)

    for margin rescaling [1]_ [2]_; for slack rescaling the maximum is over
    :math:`\ell(z, y_i)\,(1 + \langle W' x_i, \psi(z) - \psi(y_i) \rangle)`. Predicts
    :math:`\arg\max_z \langle W' x, \psi(z) \rangle`. Decoding with the loss added is decoding
    with other costs, so that every space and loss of this library serve. Solved by
    block-coordinate Frank-Wolfe [3]_ to a duality gap, linear or with a kernel; from blocks of
    rows by cutting planes [4]_ [5]_, linear or with ``n_landmarks``, to a duality gap too.

    On :class:`~skstruct.spaces.Hierarchy` this is the hierarchical max-margin network, on
    :class:`~skstruct.spaces.Sequences` with a row of features per position a chain with
    transitions.

    Parts of outputs may be missing (see :class:`~skstruct.learners.ExponentialFamily` for how they
    are given). Where what is known of row i leaves the outputs :math:`S_i`, the objective is [6]_

    .. math:: \min_W \tfrac\alpha2 \|W\|^2 + \frac1n \sum_i \Bigl(\max_z \bigl(\ell_i(z)
              + \langle W' x_i, \psi(z) \rangle\bigr) - \max_{h \in S_i} \langle W' x_i, \psi(h)
              \rangle\Bigr).

    Outputs are completed by the h of the largest score, the convex problem that is left is solved,
    and so in turns until no completion changes: a local optimum. :math:`\ell_i` is the loss
    expected over all of :math:`S_i` alike, less its least value there: for losses that add up over
    labels or symbols it is that of the known ones. First completions are those of least expected
    loss under a ridge regression of psi, of which open rows have the mean over :math:`S_i`. That
    goes with ``rescaling="margin"``, and with rows in memory.

    Parameters
    ----------
    space : space, default=None
        What may be predicted; learned from ``y`` when None.
    loss : str, loss or callable, default=None
        The usual loss of the space when None.
    rescaling : "margin" or "slack", default="margin"
        What the loss scales. Slack rescaling searches a product of two linear functions:
        exact over spaces small enough to list, else up to a bound that the gap includes and
        that may keep it above ``tol``.
    alpha : float, several, or "auto", default="auto"
        Weight of the penalty. Several are compared by the loss of left-out rows, of whole
        sequences where rows are such: five folds, or a fifth of more than a thousand rows once,
        from strong to weak penalties. All are tried: the loss of decisions may fall, rise and
        fall again. "auto" tries half decades over five decades, from a penalty at which weights
        hardly differ from zero, by the scale of the data. Where fewer than five rows, or only one
        output, leave nothing to compare by, it is a hundredth of that one.
    kernel : str, kernel or callable, default="linear"
        Kernel between inputs: a name, an object of :mod:`skstruct.kernels` with parameters of
        its own, a callable, or ``"precomputed"``.
    n_landmarks : int, default=None
        Stand in for the kernel by so many Nyström features.
    fit_intercept : bool, default=True
        A constant feature, penalised like all others.
    tol : float, default=0.01
        Stop when the duality gap is at most this share of the objective.
    max_iter : int, default=1000
        Passes over the data at most.
    n_jobs : int, default=None
        Threads that predict blocks of rows.
    verbose : int, default=0
        Progress on stderr.
    random_state : int or RandomState, default=None
        Order of the examples, and which of them are left out together. That choice is the same
        every time where it is None.

    Attributes
    ----------
    alpha_ : float, the penalty
    search_ : LeaveOutSearch or None
        The penalties tried, with the mean left-out loss of each and its standard error;
        :class:`~skstruct.inspection.AlphaPathDisplay` draws them. ``constant`` is the loss of the
        best answer that is the same for all training rows: where no penalty has less, ``fit``
        warns, and still predicts by the best penalty. None for sequences of any length, and where
        parts of outputs are missing.
    gap_, objective_, dual_objective_ : float
        The optimum is between the last and the second; the first is their difference.
    n_iter_ : int
    history_ : array of (pass, objective, gap), wherever the gap was measured
    trace_ : array
        Where parts of outputs are missing: the objective after each round of completing and
        solving, which never rises. The gap is that of the last completions, ``outputs_``.
    space_, loss_, outputs_ : the fitted parts

    References
    ----------
    .. [1] I. Tsochantaridis, T. Joachims, T. Hofmann, Y. Altun, "Large margin methods for
       structured and interdependent output variables", JMLR 6, 2005.
    .. [2] B. Taskar, C. Guestrin, D. Koller, "Max-margin Markov networks", NIPS 2003.
    .. [3] S. Lacoste-Julien, M. Jaggi, M. Schmidt, P. Pletscher, "Block-coordinate
       Frank-Wolfe optimization for structural SVMs", ICML 2013.
    .. [4] T. Joachims, T. Finley, C.-N. Yu, "Cutting-plane training of structural SVMs", Machine
       Learning 77, 2009.
    .. [5] C. Lemaréchal, A. Nemirovskii, Y. Nesterov, "New variants of bundle methods",
       Mathematical Programming 69, 1995.
    .. [6] C.-N. Yu, T. Joachims, "Learning structural SVMs with latent variables", ICML 2009.

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> from skstruct.spaces import Hierarchy
    >>> X = [[0.0], [0.1], [1.0], [1.1], [3.0]]
    >>> Y = [{"animal", "cat"}, {"animal", "cat"}, {"animal", "dog"}, {"animal", "dog"}, set()]
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> model = StructuredSVM(space, "hamming", alpha=0.01, kernel=RBF(2.0), random_state=0)
    >>> [sorted(labels) for labels in model.fit(X, Y).predict([[0.05], [3.0]])]
    [['animal', 'cat'], []]
    >>> bool(model.gap_ <= 0.01 * model.objective_)
    True

    With labels that are known to be in, or out, and nothing of others:

    >>> Y[0], Y[2] = {"include": ["cat"]}, {"include": ["dog"], "exclude": ["cat"]}
    >>> trace = model.fit(X, Y).trace_
    >>> [sorted(labels) for labels in model.space_.restore(model.outputs_[[0, 2]])]
    [['animal', 'cat'], ['animal', 'dog']]
    >>> all(trace[1:] <= trace[:-1])
    True
    """

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        *,
        rescaling: str = "margin",
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
        self.space = space
        self.loss = loss
        self.rescaling = rescaling
        self.alpha = alpha
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
        if self.rescaling not in RESCALINGS:
            raise ValueError(f'rescaling is "margin" or "slack"; got {self.rescaling!r}.')

    @property
    def _rescaling(self) -> str:
        return self.rescaling

    def _oracle(self) -> Any:
        return oracle_of(self.problem_, self.rescaling)

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

        Rows that do not fit into memory are read in blocks, once for each cut of a few:
        Parquet files (then ``y`` and ``sample_weight`` are names of columns), functions that make
        an iterator of pairs (X, y), and every source of :mod:`skstruct.streaming` that can be read
        again, with ``kernel="linear"`` or ``n_landmarks``. The objective is that of arrays, and
        after every pass there is a gap; names, landmarks and an alpha that is searched for are
        those of a sample of 2,000 rows.

        Parameters
        ----------
        sample_weight : array of shape (n,), default=None
        known : bool array of the shape of y, default=None
            Which parts of the outputs are known, where ``y`` does not say so by gaps; for rows in
            memory.
        checkpoint : str, path or Checkpoint, default=None
            File that training is saved to on the way, and goes on from when it was stopped; it is
            removed in the end. See :class:`~skstruct.learners.Checkpoint`.

        Examples
        --------
        >>> from skstruct.spaces import Classes
        >>> def blocks():
        ...     for day in range(10):
        ...         yield [[0.0, day], [1.0, day]], ["sun", "rain"]
        >>> model = StructuredSVM(Classes(["rain", "sun"]), alpha=0.01, random_state=0).fit(blocks)
        >>> model.predict([[0.1, 3.0], [0.9, 5.0]]).tolist()
        ['sun', 'rain']
        """
        if is_streamed(X, y):
            from skstruct.learners.max_margin.streams import fit_source

            check_not_masked(known, type(self).__name__)
            return fit_source(self, as_source(X, y, sample_weight), checkpoint)
        fitted = super().fit(X, y, sample_weight, known=known, checkpoint=checkpoint)
        return fitted
