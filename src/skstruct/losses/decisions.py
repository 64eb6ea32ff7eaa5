# SPDX-License-Identifier: BSD-3-Clause
"""What decisions cost: losses that observe costs instead of outputs."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.rows import dense
from skstruct.losses.base import BaseLoss
from skstruct.losses.completions import Ends
from skstruct.losses.observed import Observed, PartlyKnown
from skstruct.saving import savable
from skstruct.spaces import Embeddings, Targets
from skstruct.spaces.cost_vectors import CostVectors, sign_of


class ObservedCosts(BaseLoss):
    r"""A loss of decisions z, given the costs c of the coordinates of :math:`\psi`.

    Truths are rows :math:`(c, \min_z \langle c, \psi(z) \rangle)`, as :class:`CostVectors` of the
    space of decisions reads them. The loss is linear in what is observed, so that the expected
    costs of x are all that a decision needs.

    Parameters
    ----------
    sense : "min" or "max", default="min"
        Whether numbers are costs or values, of which much is wanted.
    embedding : str, default=None
        The embedding of the space that costs are of, where it has several: that which it has by
        itself when None.
    """

    with_optimum = False  # whether the expected optimum is estimated, too

    def __init__(self, sense: str = "min", *, embedding: str | None = None) -> None:
        self.sense = sense
        self.embedding = embedding  # type: ignore[assignment]

    def embedding_on(self, space: Any) -> str:
        return space.embedding if self.embedding is None else self.embedding

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.space_ = space
        return bound

    def _embedded(self, Y_pred: ArrayLike) -> np.ndarray:
        """psi of decisions in canonical form; these themselves, where no space is bound."""
        space = getattr(self, "space_", None)
        return dense(np.asarray(Y_pred, np.float64) if space is None else space.embed(Y_pred))

    def _own_costs(self) -> np.ndarray:
        return Targets.of(getattr(self, "space_", None)).own_costs()

    @property
    def _sign(self) -> float:
        return sign_of(self.sense)

    def costs_of(self, Y_pred: ArrayLike, observed: np.ndarray) -> np.ndarray:
        """What decisions cost, each under its own row of canonical truths; shape (n,)."""
        psi, own = self._embedded(Y_pred), self._own_costs()
        d = psi.shape[1] - len(own)
        paid = self._sign * np.einsum("ij,ij->i", psi[:, :d], observed[:, :d])
        return paid + psi[:, d:] @ own

    def pairwise_costs(self, Y_pred: ArrayLike, observed: np.ndarray) -> np.ndarray:
        """The same of all decisions under all truths; shape (n_pred, n_true)."""
        psi, own = self._embedded(Y_pred), self._own_costs()
        d = psi.shape[1] - len(own)
        paid = self._sign * (psi[:, :d] @ observed[:, :d].T)
        return paid + (psi[:, d:] @ own)[:, None]

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        costs = self._sign * (g[:, :-1] if self.with_optimum else g)
        own = self._own_costs()
        return np.hstack([costs, total * own]) if len(own) else costs

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.zeros(len(g))


class _CostsAreObserved(Observed):
    __slots__ = ()

    what = "costs"

    def space_of(self, space: Any, within: Any = None) -> Any:
        loss, space = self.loss, space if within is None else within
        view = space if loss.embedding is None else Embeddings.of(space).view(loss.embedding)
        return CostVectors(view, loss.sense, loss.with_optimum)

    def check_same(self, fitted: Any) -> None:
        super().check_same(fitted)
        if fitted.sense != self.loss.sense or fitted.embedding != self.loss.embedding:
            raise ValueError(
                f"The model was fitted under {fitted!r}, whose costs {self.loss!r} reads "
                "otherwise: give the same sense and embedding."
            )


class CostsInPart(PartlyKnown):
    """Costs of which some are missing."""

    __slots__ = ()

    def losses(self, Y_pred: ArrayLike, Y_true: ArrayLike, known: np.ndarray) -> np.ndarray:
        r"""Estimates of the cost of decisions from the costs that are known, NaN of rows without.

        :math:`\sum_j \psi_j(z) c_j [j \text{ known}] / p_j`, with :math:`p_j` the share of rows
        that know j: of the right mean where what is missing has nothing to do with the costs.
        """
        observed = np.array(Y_true, dtype=np.float64)
        share = np.maximum(known.mean(axis=0), 1.0 / len(known)) if len(known) else 1.0
        observed[:, : known.shape[1]] *= known / share
        losses = self.loss.costs_of(Y_pred, observed)
        losses[~known.any(axis=1)] = np.nan
        return losses

    def ends(self, space: Any, Y_pred: np.ndarray, partial: Any) -> Ends | None:
        return None  # a cost that is not known may be anything


Observed.at(ObservedCosts, _CostsAreObserved)
PartlyKnown.at(ObservedCosts, CostsInPart)


@savable
class Cost(ObservedCosts):
    r"""What a decision costs, :math:`\ell(z, c) = \langle c, \psi(z) \rangle`.

    The same decisions as :class:`Regret`; ``decode`` gives their expected cost, and of values minus
    the expected value. Some costs of a row may be missing.

    Parameters
    ----------
    sense : "min" or "max", default="min"
        Whether ``y`` holds costs or values, of which much is wanted.
    embedding : str, default=None
        The embedding of the space that costs are of, where it has several, such as ``"positions"``
        and ``"pairs"`` of rankings.

    References
    ----------
    .. [1] A. Elmachtoub, P. Grigas, "Smart 'predict, then optimize'", Management Science 68, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.spaces import LabelSets
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> C = np.hstack([X - 0.5, 0.25 - X])  # two things, which pay at different inputs
    >>> model = ConditionalRiskMinimizer(LabelSets(), "cost", kernel="linear", alpha=1e-3)
    >>> model.fit(X, C).predict([[0.1], [0.9]])
    array([[1, 0],
           [0, 1]])
    >>> model.predict_risk([[0.1], [0.9]]).round(2)
    array([-0.4 , -0.65])
    """

    def range(self) -> tuple[float, float]:
        return -np.inf, np.inf

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        return self.costs_of(Y_pred, np.asarray(Y_true, np.float64))

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        return self.pairwise_costs(Y_pred, np.asarray(Y_true, np.float64))


@savable
class Regret(ObservedCosts):
    r"""What a decision costs beyond the best, :math:`\langle c, \psi(z) \rangle - \min_w \langle c,
    \psi(w) \rangle`.

    Never negative, and zero where nothing could have been done better. Linear in the costs and
    their optimum, so that regressing both is conditional risk minimization, with nothing lost to a
    surrogate: the decision of least expected regret is that of least expected cost.

    Parameters
    ----------
    sense : "min" or "max", default="min"
        Whether ``y`` holds costs or values, of which much is wanted.
    embedding : str, default=None
        The embedding of the space that costs are of, where it has several.

    References
    ----------
    .. [1] A. Elmachtoub, P. Grigas, "Smart 'predict, then optimize'", Management Science 68, 2022.
    .. [2] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for structured
       prediction", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.spaces import LabelSets
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(60, 1))
    >>> C = np.hstack([X - 0.5, 0.25 - X]) + rng.normal(0, 0.2, (60, 2))
    >>> model = ConditionalRiskMinimizer(LabelSets(), loss="regret", smoother="kernel_ridge")
    >>> model = model.fit(X, C)
    >>> model.predict([[0.1], [0.9]])
    array([[1, 0],
           [0, 1]])
    """

    with_optimum = True

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        observed = np.asarray(Y_true, np.float64)
        return self.costs_of(Y_pred, observed) - self._sign * observed[:, -1]

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        observed = np.asarray(Y_true, np.float64)
        return self.pairwise_costs(Y_pred, observed) - self._sign * observed[:, -1]

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return -self._sign * g[:, -1]


class _RegretInPart(CostsInPart):
    __slots__ = ()

    def losses(self, Y_pred: ArrayLike, Y_true: ArrayLike, known: np.ndarray) -> np.ndarray:
        """Regrets of rows of which all costs are known, NaN of others."""
        return np.where(known.all(axis=1), self.loss(Y_pred, Y_true), np.nan)

    def learned(self, space: Any) -> Any:
        """A row with gaps has no optimum: costs alone are learned."""
        return Cost(self.loss.sense, embedding=self.loss.embedding)


PartlyKnown.at(Regret, _RegretInPart)
