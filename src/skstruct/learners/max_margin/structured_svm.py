# SPDX-License-Identifier: BSD-3-Clause
"""The structured support vector machine, over any space that can be decoded."""

from typing import Any

from skstruct.learners.max_margin.base import HingeLearner
from skstruct.learners.max_margin.slack_rescaling import SlackRescaling
from skstruct.saving import savable

RESCALINGS = ("margin", "slack")


@savable
class StructuredSVM(HingeLearner):
    r"""Scores that keep the truth ahead of every other output by its loss.

    .. math:: \min_W \tfrac\lambda2 \|W\|^2 + \frac1n \sum_i \max_z \bigl(\ell(z, y_i)
              + \langle W' x_i, \psi(z) - \psi(y_i) \rangle\bigr)

    for margin rescaling [1]_ [2]_; for slack rescaling the maximum is over
    :math:`\ell(z, y_i)\,(1 + \langle W' x_i, \psi(z) - \psi(y_i) \rangle)`. Predicts
    :math:`\arg\max_z \langle W' x, \psi(z) \rangle`. Decoding with the loss added is decoding
    with other costs, so that every space and loss of this library serve. Solved by
    block-coordinate Frank-Wolfe [3]_ to a duality gap, linear or with a kernel.

    On :class:`~skstruct.spaces.Hierarchy` this is the hierarchical max-margin network, on
    :class:`~skstruct.spaces.Sequences` with a row of features per position a chain with
    transitions.

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
    lam : float, default=0.01
        Weight of the penalty.
    kernel, gamma, degree, coef0
        Kernel between inputs, by scikit-learn's names, a callable or ``"precomputed"``.
    n_components : int, default=None
        Stand in for the kernel by so many Nyström features.
    fit_intercept : bool, default=True
        A constant feature, penalised like all others.
    tol : float, default=0.01
        Stop when the duality gap is at most this share of the objective.
    max_iter : int, default=1000
        Passes over the data at most.
    warm_start : bool, default=False
        Go on from the last ``fit`` if the rows are the same.
    memory : str or int, default="1GB"
        Budget for outputs that are kept in training, and for a block of rows at prediction.
    n_jobs : int, default=None
        Threads that predict blocks of rows.
    verbose : int, default=0
        Progress on stderr.
    random_state : int or RandomState, default=None
        Order of the examples.

    Attributes
    ----------
    gap_, objective_, dual_objective_ : float
        The optimum is between the last and the second; the first is their difference.
    n_iter_ : int
    history_ : array of (pass, objective, gap), wherever the gap was measured
    space_, loss_, outputs_ : the fitted parts

    References
    ----------
    .. [1] I. Tsochantaridis, T. Joachims, T. Hofmann, Y. Altun, "Large margin methods for
       structured and interdependent output variables", JMLR 6, 2005.
    .. [2] B. Taskar, C. Guestrin, D. Koller, "Max-margin Markov networks", NIPS 2003.
    .. [3] S. Lacoste-Julien, M. Jaggi, M. Schmidt, P. Pletscher, "Block-coordinate
       Frank-Wolfe optimization for structural SVMs", ICML 2013.

    Examples
    --------
    >>> from skstruct.spaces import Hierarchy
    >>> X = [[0.0], [0.1], [1.0], [1.1], [3.0]]
    >>> Y = [{"animal", "cat"}, {"animal", "cat"}, {"animal", "dog"}, {"animal", "dog"}, set()]
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> model = StructuredSVM(space, "hamming", kernel="rbf", gamma=2.0, random_state=0)
    >>> [sorted(labels) for labels in model.fit(X, Y).predict([[0.05], [3.0]])]
    [['animal', 'cat'], []]
    >>> bool(model.gap_ <= 0.01 * model.objective_)
    True
    """

    def __init__(
        self,
        space: Any = None,
        loss: Any = None,
        rescaling: str = "margin",
        *,
        lam: float = 0.01,
        kernel: str = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: int = 1,
        n_components: int | None = None,
        fit_intercept: bool = True,
        tol: float = 0.01,
        max_iter: int = 1000,
        warm_start: bool = False,
        memory: str = "1GB",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.loss = loss
        self.rescaling = rescaling
        self.lam = lam
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
        if self.rescaling not in RESCALINGS:
            raise ValueError(f'rescaling is "margin" or "slack"; got {self.rescaling!r}.')

    @property
    def _rescaling(self) -> str:
        return self.rescaling

    def _oracle(self) -> Any:
        if self.rescaling == "slack":
            return SlackRescaling(self.problem_)
        return self.problem_.vertices
