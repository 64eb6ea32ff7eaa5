# SPDX-License-Identifier: BSD-3-Clause
"""F measures of each example, minimized exactly."""

import copy
import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct.exceptions import InfeasibleError
from skstruct.losses.base import BaseLoss
from skstruct.losses.completions import LISTED, Ends
from skstruct.losses.deciding import BilinearForm, Effort, Form
from skstruct.losses.grid_forms import GridForm
from skstruct.losses.levels import Levels
from skstruct.losses.observed import PartlyKnown
from skstruct.saving import savable
from skstruct.spaces import Known, Marginals, Solving, whole_of

WIDE, MANY = 300, 50  # labels that are taken for independent, and labels that take long to decide

# Labels that are decided in a second, nominally: by chances, from means; pairs of them, by costs.
BY_CHANCES, BY_MEANS, BY_COSTS = 5e6, 1e6, 7e6


@savable
class FBeta(BaseLoss):
    r"""One minus the F measure of each example, averaged over examples.

    .. math:: \ell(z, y) = 1 - \frac{(1 + \beta^2) \langle z, y \rangle}{\beta^2 |y| + |z|}

    and 0 when both sets are empty. Given the size of z it is linear in z, so with
    :math:`g_{js} = E[y_j 1(|y| = s)]` the cost of label j in a set of k labels is
    :math:`-\sum_s g_{js} (1 + \beta^2) / (\beta^2 s + k)`. The best labels of a size are the
    optimum for weights of any sign; of the sizes k, those are evaluated that bounds leave.

    Parameters
    ----------
    beta : float, default=2.0
        Above one, missing a true label weighs more than adding a wrong one.
    independent : bool or "auto", default="auto"
        Whether labels are taken for independent given the input. Then d numbers are learned in
        place of :math:`d^2`, and decisions take O(d) for sets of a bounded size; in hierarchies
        they are closed sets, and the best only nearly. Where no set of training is empty, labels
        are independent but for that: products of chances, given that the set is not empty, whose
        probabilities of the labels are those that were learned. Automatically so for more than 300
        labels without arcs and exclusive groups, and where a classifier learns them; where more
        than 50 labels are learned as they are, penalties and smoothers are compared by the faster
        decisions.

    Examples
    --------
    >>> FBeta(beta=2.0)([[1, 1]], [[1, 0]]).round(4)
    array([0.1667])
    """

    embedding = "sized indicators"

    by_chances_ = False
    never_empty_ = False  # no set of training is
    searches_ = False  # it compares penalties for another loss

    def __init__(self, beta: float = 2.0, independent: bool | str = "auto") -> None:
        self.beta = beta
        self.independent = independent

    def embedding_on(self, space: Any) -> str:
        if self.independent not in (True, False, "auto"):
            raise ValueError(
                f'FBeta: independent is True, False or "auto"; got {self.independent!r}.'
            )
        wanted = self.independent
        if wanted == "auto":
            alone = _by_chances(space) and not len(space.dag_.parents)
            wanted = alone and len(space.labels_) > WIDE
        return "independent labels" if wanted else self.embedding

    def observe(self, space: Any, outputs: np.ndarray) -> Self:
        """Whether the truth is ever empty, which probabilities of single labels do not tell."""
        if space.embedding != "independent labels" or self.searches_:
            return self
        seen = copy.copy(self)
        seen.never_empty_ = len(outputs) > 0 and bool(np.any(outputs, axis=1).all())
        return seen

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.by_chances_ = space.embedding == "independent labels"
        return bound

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Y_pred, Y_true = np.asarray(Y_pred), np.asarray(Y_true)
        square = _square(self)
        common = (Y_pred * Y_true).sum(axis=1)
        size = square * Y_true.sum(axis=1) + Y_pred.sum(axis=1)
        measure = (1 + square) * common / np.where(size > 0, size, 1)
        return 1.0 - np.where(size > 0, measure, 1.0)

    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        square = _square(self)
        if self.by_chances_:
            return np.hstack([-g, np.tile([square, float(self.never_empty_)], (len(g), 1))])
        d = math.isqrt(g.shape[1] - 1)
        size = np.arange(1, d + 1)
        # [s, k]: what a common label is worth when |y| = s and |z| = k.
        worth = (1 + square) / (square * size[:, None] + size)
        cube = g[:, :-1].reshape(-1, d)
        seen = np.flatnonzero(cube.any(axis=0))  # sizes of true sets: far fewer than labels
        inside = cube[:, seen] @ -worth[seen]
        return np.hstack([inside.reshape(len(g), d * d), -g[:, -1:]])

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return total[:, 0]


@savable
class F1(FBeta):
    r"""One minus the F1 measure of each example, :math:`1 - 2 |z \cap y| / (|z| + |y|)`.

    0 when both sets are empty. See :class:`FBeta` for how it is minimized.

    Examples
    --------
    >>> F1()([[1, 1], [0, 0]], [[1, 0], [0, 0]]).round(4)
    array([0.3333, 0.    ])
    """

    beta = 1.0

    def __init__(self, independent: bool | str = "auto") -> None:
        self.independent = independent


def _square(measure: FBeta) -> float:
    """The square of beta."""
    beta = np.asarray(measure.beta)
    if beta.ndim or beta.dtype.kind not in "iuf" or not (np.isfinite(beta) and beta > 0):
        raise ValueError(f"FBeta: beta is a positive number; got {measure.beta!r}.")
    return float(beta) ** 2


def _of_labels(measure: FBeta) -> FBeta:
    """The same measure, decided as if labels were independent."""
    other = copy.copy(measure)
    other.independent = True
    return other


def _by_chances(space: Any) -> bool:
    """Whether labels may be taken for independent."""
    return Marginals.of(whole_of(space)).suffice


class _FormOfFBeta(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        if self.loss.by_chances_:
            return None
        square, d = _square(self.loss), math.isqrt(width - 1)
        size, zero = np.arange(1, d + 1), np.zeros(width)
        worth = (1 + square) / (square * size + size[:, None])  # [k, s], as in ``cost``
        return BilinearForm(GridForm(-worth, np.ones(d), tail=-1.0), zero, zero, 1.0)

    def decides_from_means(self, space: Any) -> bool:
        return not self.loss.by_chances_ and Solving.of(space).decides_from_means

    def minimize_means(
        self, space: Any, g: np.ndarray, columns: np.ndarray, total: np.ndarray, scale: np.ndarray
    ) -> Any:
        """By branch and bound over sizes, without the :math:`d^2 + 1` costs of a row."""
        found = Solving.of(space).argmin_of_means(g, columns, _square(self.loss), scale)
        risk = found.values + total[:, 0]
        return replace(found, values=risk, bounds=risk)


class _EffortOfFBeta(Effort):
    __slots__ = ()

    def stand_in(self, space: Any) -> Any:
        """Itself, or of more than some labels that of independent ones."""
        if self.loss.by_chances_ or self.loss.independent is False:
            return self.loss
        if not _by_chances(space) or len(space.labels_) <= MANY:
            return self.loss
        found = _of_labels(self.loss)
        found.searches_ = True
        return found

    def seconds(self, space: Any) -> float:
        d = len(space.labels_)
        if self.loss.by_chances_:
            return d / BY_CHANCES
        by_means = Form.of(self.loss).decides_from_means(space)
        return d / BY_MEANS if by_means else d**2 / BY_COSTS

    def target_bytes(self, space: Any, outputs: np.ndarray) -> int:
        """Products of labels are regressed on, too."""
        n_labels = np.count_nonzero(outputs, axis=-1)
        return super().target_bytes(space, outputs) + 16 * int((n_labels**2).sum())


class _FBetaInPart(PartlyKnown):
    __slots__ = ()

    def learned(self, space: Any) -> Any:
        """That of independent labels: the size of a set that is known in part is not known."""
        return self.loss if self.loss.independent is False else _of_labels(self.loss)

    def ends(self, space: Any, Y_pred: np.ndarray, partial: Any) -> Ends | None:
        """By sizes of the truth. Where such are not decoded within a space whose outputs are too
        many to be listed, bounds over all sets of its labels.
        """
        whole = PartlyKnown(FBeta(math.sqrt(_square(self.loss)), independent=False))
        try:
            return whole.ends(space, Y_pred, partial)
        except InfeasibleError:
            raise
        except ValueError:  # hierarchies that are no forests
            relaxed = space.relaxation()
            if relaxed is None or space.all_outputs(LISTED) is not None:
                return None
            partial = replace(partial, allowed=Known.of(relaxed).agreeing(partial))
            return whole.ends(relaxed, Y_pred, partial)


class _LevelsOfFBeta(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        return 1.0

    def steps(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        """The least losses are those of the truth with one label more, or one less."""
        square, size = _square(self.loss), outputs.sum(axis=1, dtype=np.float64)
        more = 1.0 / ((1.0 + square) * size + 1.0)
        less = square / np.maximum((1.0 + square) * size - 1.0, square)
        return 0.0, np.where(size > 0, np.minimum(more, less), 1.0)


Form.at(FBeta, _FormOfFBeta)
Effort.at(FBeta, _EffortOfFBeta)
PartlyKnown.at(FBeta, _FBetaInPart)
Levels.at(FBeta, _LevelsOfFBeta)
