# SPDX-License-Identifier: BSD-3-Clause
"""How a loss is decided, by costs, means or weights, and what that takes: facets of losses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skstruct.facets import Facet
from skstruct.spaces import Embeddings


class OfLoss:
    """What facets of losses share: they hold a loss where others hold a space."""

    __slots__ = ()
    space: Any

    @property
    def loss(self) -> Any:
        """The loss that is asked."""
        return self.space


class Deciding(OfLoss, Facet):
    """What decisions of least risk are found from.

    Examples
    --------
    >>> from skstruct.losses import Absolute, Hamming
    >>> from skstruct.spaces import Box, LabelSets
    >>> Deciding.of(Hamming()).needs_weights(LabelSets("ab"))
    False
    >>> Deciding.of(Absolute()).needs_weights(Box(0, 1))
    True
    """

    __slots__ = ()

    def needs_weights(self, space: Any) -> bool:
        """Whether decisions need the weights of all training rows, and means do not do."""
        return self.loss.embedding_on(space) == "weights"

    def risks(self, weights: np.ndarray, Y_pred: ArrayLike, observed: np.ndarray) -> np.ndarray:
        """Risks of outputs, each under its own weights (n, m) of what was observed in training;
        shape (n,).
        """
        return np.einsum("ij,ij->i", self.loss.pairwise(Y_pred, observed), weights)

    @property
    def prefers_most_probable(self) -> bool:
        """Whether the most probable of all outputs has the least risk."""
        return False


class BilinearForm(NamedTuple):
    """The numbers of a bilinear loss: cost(g, total) = V g + total u, and
    offset(g, total) = <v, g> + constant total.
    """

    V: Any  # shape: (d, d), an array, a sparse one, or what has a ``tensor_product(backend)``
    u: np.ndarray  # shape: (d,)
    v: np.ndarray  # shape: (d,)
    constant: float


class Form(OfLoss, Facet):
    """Other ways to say what ``cost`` and ``offset`` compute: numbers, or decisions from means.

    A class that brings another ``cost`` or ``offset`` has none of them, unless it brings its form
    as well.

    Examples
    --------
    >>> from skstruct.losses import ZeroOne
    >>> V, u, v, constant = Form.of(ZeroOne()).numbers(3)
    >>> V.toarray()[0], constant  # cost(g, total) = -g, offset(g, total) = total
    (array([-1.,  0.,  0.]), 1.0)
    """

    __slots__ = ()

    @classmethod
    def _nearest(cls, structure: type) -> Any:
        for ancestor in structure.__mro__:
            if ancestor in cls._places:
                break
            if not {"cost", "offset"}.isdisjoint(vars(ancestor)):
                return cls._kind
        return super()._nearest(structure)

    def numbers(self, width: int) -> BilinearForm | None:
        """The form that a device can multiply by; None where a loss does not write it down.

        Parameters
        ----------
        width : int
            Columns d of the embedding.
        """
        return None

    def truth_costs(self, psi: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The loss of predictions as a function of the truth, <costs, psi(y)> + offsets.

        Parameters
        ----------
        psi : array of shape (n, d)
            Embedding of the predictions.

        Returns
        -------
        costs : array of shape (n, d)
        offsets : array of shape (n,), or None in place of both where that is not written down
        """
        form = self.numbers(psi.shape[1])
        if form is None:
            return None
        return psi @ form.V + form.v, psi @ form.u + form.constant

    def decides_from_means(self, space: Any) -> bool:
        """Whether :meth:`minimize_means` decides over a space, in place of costs.

        For embeddings of which hardly any column is used, while costs have them all.
        """
        return False

    def minimize_means(
        self, space: Any, g: np.ndarray, columns: np.ndarray, total: np.ndarray, scale: np.ndarray
    ) -> Any:
        """Outputs of least estimated risk, ``Decoded``, from the columns that are not zero.

        Parameters
        ----------
        space : view of a space with the embedding of this loss
        g : array of shape (n, q)
            Means of some columns of the embedding.
        columns : int array of shape (q,)
            Which ones these are.
        total : array of shape (n, 1)
        scale : array of shape (n,)
            Size of the terms that costs are differences of.
        """
        self.refuse("decisions from means", "It decides by its costs.")


class Effort(OfLoss, Facet):
    """What learning and comparing under a loss takes, and what stands in for it.

    Examples
    --------
    >>> from skstruct.losses import HierarchicalLoss
    >>> from skstruct.spaces import Hierarchy
    >>> diamond = Hierarchy([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    >>> Effort.of(HierarchicalLoss()).stand_in(diamond)
    HierarchicalLoss(dag='average')
    """

    __slots__ = ()

    def stand_in(self, space: Any) -> Any:
        """The loss by which a search compares penalties: this one, unless deciding takes too long.

        A search decides every training row once for each penalty. A loss whose decisions are
        expensive over ``space`` may name one like it that is cheap to decide; its embedding is one
        that ``Coordinates.project`` can read off the embedding of this loss.
        """
        return self.loss

    def seconds(self, space: Any) -> float:
        """What one decision over ``space`` takes, nominally; 0 where that is next to nothing.

        A search of penalties by a loss of costly decisions has two stages, of which the first
        decides only some rows: see ``learners/judging.py``.
        """
        return 0.0

    def decide(self, weights: np.ndarray, outputs: np.ndarray, space: Any) -> Any:
        """As ``minimize`` of a loss that has weights in place of costs, without proofs that take
        long: for a search over parameters.
        """
        return self.loss.minimize(weights, outputs, space)

    def target_bytes(self, space: Any, outputs: np.ndarray) -> int:
        """Roughly the bytes of what is regressed on for canonical outputs of a space."""
        return Embeddings.of(space).bytes_of(outputs, self.loss.embedding_on(space))
