# SPDX-License-Identifier: BSD-3-Clause
"""What may be asked of a smoother beside its contract: facets, with answers for any regressor."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from skstruct.facets import Facet, Place, loaded

Array = Any


@runtime_checkable
class LinearSmoother(Protocol):
    """A scikit-learn regressor whose prediction is ``weights(X) @ targets``.

    The weights do not depend on the targets, or only through how the smoother was
    grown, so other targets can be put in without fitting again.
    """

    def weights(self, X: Array) -> Array: ...  # shape: (n_samples, n_fitted), dense or CSR
    def with_targets(self, targets: Array) -> Self: ...  # the same weights, other targets
    def loo(self, groups: Array | None = None) -> Array: ...  # shape: (n_fitted, n_targets)


class OfSmoother:
    """What facets of smoothers share: they hold a smoother where others hold a space."""

    __slots__ = ()
    space: Any

    @property
    def smoother(self) -> Any:
        """The smoother that is asked."""
        return self.space


class Weighing(OfSmoother, Facet):
    """Weights of training rows, and the rows that have them.

    Examples
    --------
    >>> from skstruct.smoothing import CrossFitted, KernelRidge, Scaled
    >>> ridge = Scaled(KernelRidge())
    >>> Weighing.of(ridge).is_linear, Weighing.of(Scaled(CrossFitted(ridge))).is_linear
    (True, False)
    """

    __slots__ = ()

    @property
    def is_linear(self) -> bool:
        """Whether a smoother is linear: what is made of others is if all of its parts are."""
        return isinstance(self.smoother, LinearSmoother)

    @property
    def linear_part(self) -> Any:
        """The smoother if it is linear, what is linear of a stack, or None."""
        return self.smoother if self.is_linear else None

    @property
    def weighing_part(self) -> Any:
        """What is linear, or would be if each row knew all targets; None."""
        return self.linear_part

    @property
    def rows(self) -> Any:
        """The training rows; None where these are not kept."""
        return None

    @property
    def sample_weight(self) -> Any:
        """Of the training rows; None for equal ones, or where nobody knows."""
        return None


class WeighingOfRows(Weighing):
    """Smoothers that keep training rows and their weights."""

    __slots__ = ()

    @property
    def rows(self) -> Any:
        return self.smoother.X_fit_

    @property
    def sample_weight(self) -> Any:
        return self.smoother.sample_weight_


class WeighingByTarget(WeighingOfRows):
    """Those that have weights where each row knows all targets, and are not linear."""

    __slots__ = ()

    @property
    def is_linear(self) -> bool:
        return False

    @property
    def weighing_part(self) -> Any:
        return self.smoother


class WeighingOfFits(WeighingOfRows):
    """Those that keep training rows and have no weights of them."""

    __slots__ = ()

    @property
    def is_linear(self) -> bool:
        return False


class LeavingOut(OfSmoother, Facet):
    """Predictions of training rows that had no part in them.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from skstruct.smoothing import KernelRidge
    >>> LeavingOut.of(KernelRidge()).known, LeavingOut.of(Ridge()).known
    (True, False)
    """

    __slots__ = ()

    @property
    def known(self) -> bool:
        """Whether the smoother has them, and needs no folds."""
        return isinstance(self.smoother, LinearSmoother)

    def means(self, groups: Any = None, rows: np.ndarray | None = None) -> Any:
        """``loo`` of the smoother for all rows, or for some."""
        left = self.smoother.loo(groups)
        return left if rows is None else left[rows]

    def weights(self, groups: np.ndarray) -> Any:
        """Weights for training rows without their groups; (n, n)."""
        return self.smoother.with_targets(np.eye(len(groups))).loo(groups)

    def light(self) -> Any:
        """The same predictions, without what only leaving out and other targets need."""
        return self.smoother


class LeavingSomeOut(LeavingOut):
    """Smoothers whose ``loo`` takes less where it is of few rows."""

    __slots__ = ()

    @property
    def known(self) -> bool:
        return True

    def means(self, groups: Any = None, rows: np.ndarray | None = None) -> Any:
        return self.smoother.loo(groups, rows)


class Penalties(OfSmoother, Facet):
    """How ridge regressions are compared by their penalties, from one fit.

    Examples
    --------
    >>> from skstruct.smoothing import Forest, KernelRidge, Scaled
    >>> Penalties.of(Scaled(KernelRidge(alpha="auto"))).given
    'auto'
    >>> Penalties.of(Forest()).compared
    False
    """

    __slots__ = ()
    most_rows: ClassVar[float] = np.inf  # of more, penalties are compared on a sample

    compared: ClassVar[bool] = False  # by left-out means of one after another
    are_costly: ClassVar[bool] = False  # where they are small
    judges_some: ClassVar[bool] = False  # whether ``left_out`` may be of some rows

    @property
    def ridge(self) -> Any:
        """The ridge regression itself, where inputs are scaled for it."""
        return self.smoother

    @property
    def given(self) -> Any:
        """The penalty, several, or "auto"; None where there is none."""
        return None

    @property
    def fitted(self) -> Any:
        """The penalty that the smoother was fitted with; None where it has none."""
        return self.given

    def bounds(self) -> tuple[float, float]:
        """The largest penalty worth trying, near the mean, and what all of them are above."""
        self.refuse("penalty")

    def left_out(self, alphas: Any, groups: Any = None) -> Iterator[Any]:
        """Left-out means for each penalty in turn; of the rows ``judged`` alone."""
        self.refuse("penalty")

    @property
    def judged(self) -> Any:
        """Numbers of the rows of ``left_out``; None for all."""
        return None

    def judge_by(self, rows: Any) -> None:
        """Let ``left_out`` be of some rows, where it may be."""


class PenaltiesOfRidges(Penalties):
    """Ridge regressions with a parameter ``alpha``, a ``system_`` and ``loo_path``."""

    __slots__ = ()
    compared = True

    @property
    def given(self) -> Any:
        return self.smoother.alpha

    def bounds(self) -> tuple[float, float]:
        return self.smoother.system_.trace, 0.0

    def left_out(self, alphas: Any, groups: Any = None) -> Iterator[Any]:
        return self.smoother.loo_path(alphas, groups)


class PenaltiesBySomeRows(PenaltiesOfRidges):
    """Those that are compared by the rows ``left_out_rows_``."""

    __slots__ = ()
    judges_some = True

    @property
    def judged(self) -> Any:
        return self.smoother.left_out_rows_

    def judge_by(self, rows: Any) -> None:
        self.smoother.left_out_rows_ = rows


class Gaps(OfSmoother, Facet):
    """What is done where some targets are not known.

    Examples
    --------
    >>> from skstruct.smoothing import KernelRidge, MaskedRidge
    >>> Gaps.of(MaskedRidge()).taken, Gaps.of(KernelRidge()).taken
    (True, False)
    >>> Gaps.of(KernelRidge(alpha=0.1)).taking()
    MaskedRidge(alpha=0.1)
    """

    __slots__ = ()
    by_pattern: ClassVar[Place] = "skstruct.smoothing.gaps:ByPattern"  # copies of any regressor

    @property
    def taken(self) -> bool:
        """Whether targets may be NaN."""
        return False

    def taking(self, targets: np.ndarray | None = None) -> Any:
        """A smoother of the same kind whose targets may be NaN where they are not known.

        Of a regressor that says nothing else a copy is fitted to each set of rows that some targets
        are known in, and of all where there are few such sets.

        Parameters
        ----------
        targets : array of shape (n, q), default=None
            Which tell how many such sets there are.
        """
        return loaded(self.by_pattern)(self.smoother)


class GapsTaken(Gaps):
    """Smoothers that take targets with gaps as they are."""

    __slots__ = ()

    @property
    def taken(self) -> bool:
        return True

    def taking(self, targets: np.ndarray | None = None) -> Any:
        return self.smoother


class Learning(OfSmoother, Facet):
    """What a smoother learns from, and by what kernel."""

    __slots__ = ()
    joins_labels: ClassVar[bool] = False  # targets are indicators of labels, all of them
    chooses_weights: ClassVar[bool] = False  # by the loss of a learner, if that asks for it
    takes_sparse_targets: ClassVar[bool] = False
    takes_more_rows: ClassVar[bool] = False  # by ``partial_fit``, after ``fit``

    @property
    def takes_blocks(self) -> bool:
        """Whether there is ``fit_source``, for the blocks of a source."""
        return False

    @property
    def within(self) -> Any:
        """What learns, where its inputs are scaled for it: the fitted one, once it is."""
        return self.smoother

    def for_space(self, space: Any) -> Any:
        """The smoother, once it has seen what may be predicted."""
        return self.smoother

    @property
    def kernel(self) -> Any:
        """The kernel or kernels that were given; None where there is none."""
        return None

    @property
    def gamma(self) -> Any:
        """That of the fitted kernel; None where it has none."""
        return None

    @property
    def n_landmarks(self) -> int:
        """Features that stand for a kernel, once they are fitted; 0 where none do."""
        return 0

    @property
    def residual(self) -> float:
        """Share of the kernel's trace that landmarks leave."""
        return 0.0

    def on_device(self, backend: Any, memory: Any) -> tuple[Callable[..., Any], int] | None:
        """A function of rows to means, float64 (n, q), that stay on a device, and how many kernel
        values it takes for a row; None: there is none.

        Parameters
        ----------
        backend : TorchBackend
        memory : budget of a block of rows
        """
        return None


class LearningByKernel(Learning):
    """Smoothers with the parameter ``kernel``, and ``kernel_`` once they are fitted."""

    __slots__ = ()

    @property
    def kernel(self) -> Any:
        return self.smoother.kernel

    @property
    def gamma(self) -> Any:
        return getattr(self.smoother.kernel_, "gamma_", None)  # kernels without a width
