# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the parts of outputs, read off means of psi."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct._arrays.memory import row_blocks
from skstruct.facets import Facet
from skstruct.spaces.common.nearest_means import nearest_means
from skstruct.spaces.description import Description

MIXED, MEMORY = 100, "100MB"  # outputs that a row is a mixture of, and all that rows may take


class Marginals(Facet):
    r"""Probabilities of the parts of outputs, given means of psi.

    Estimated means :math:`g \approx E[\psi(Y) \mid x]`, of shape (n, d), are numbers of any size.
    They are moved to the nearest ones that a distribution over the outputs can have,

    .. math:: \min_m \|m - g\|^2 \quad\text{over}\quad
        m \in \operatorname{conv} \{\psi(z) : z \in \mathcal{Y}\},

    are conditioned on what is known of a row, and put into the form in which people read them.
    By default these points are found by ``argmin`` and ``embed`` alone, and no parts have
    probabilities until a structure names some.

    Parameters
    ----------
    space : a space

    Attributes
    ----------
    losses : dict
        Parts that have probabilities, each with a loss whose embedding has their means; the usual
        ones first.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.spaces import Hierarchy, Marginals
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> means = np.array([[0.3, 0.6, -0.1]])  # of a cat more than of an animal
    >>> Marginals.of(space).marginals(means).round(3)
    array([[0.45, 0.45, 0.  ]])
    >>> Marginals.of(space).marginals(means, within=space.restrict(exclude=["cat"])).round(3)
    array([[0., 0., 0.]])
    >>> Marginals.of(space).parts(), Marginals.of(space).axes(3)
    (('labels',), [('animal', 'cat', 'dog')])
    """

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {}

    # ------------------------------------------------------------------ which there are
    def parts(self) -> tuple[str, ...]:
        """Parts whose probabilities can be read off means of this embedding."""
        return tuple(self.losses)

    def axes(self, width: int, parts: str | None = None) -> list[Sequence[Any]]:
        """Names along each axis of :meth:`marginals` but the first, for psi of ``width`` numbers;
        of the first parts that there are where None are named.
        """
        names = Description.of(self.space).part_names()
        return [names if names is not None and len(names) == width else range(width)]

    def view(self, parts: str | None = None) -> Any:
        """This set of outputs with an embedding whose means hold those of such parts."""
        return self.space

    @property
    def recalibrates(self) -> bool:
        """Whether marginals are probabilities that psi can be read off again, and coherent ones
        take no search: then left-out rows of training calibrate them.
        """
        return False

    @property
    def suffice(self) -> bool:
        """Whether the most probable labels, however many, are a set of this space: then F measures
        of independent labels need nothing else.
        """
        return False

    # ------------------------------------------------------------------ what they are
    def marginals(
        self,
        means: Any,
        parts: str | None = None,
        within: Any = None,
        raw: bool = False,
        recalibrate: Any = None,
    ) -> Any:
        """Probabilities of the parts of outputs; shape (n, ...), by :meth:`axes`.

        Parameters
        ----------
        means : array of shape (n, d)
            Of psi, estimated.
        parts : one of :meth:`parts`
        within : the same space, narrowed, default=None
            What is known of the rows: probabilities are those given that.
        raw : bool, default=False
            Leave means as they are.
        recalibrate : callable, default=None
            A rising map of probabilities, after which they are made coherent again.
        """
        if not raw:
            means = self.coherent(means)
            if recalibrate is not None:
                moved = recalibrate(self.read(means, parts))
                means = self.coherent(self.means_of(moved, parts))
            if within is not None:
                narrowed = Marginals.of(within)
                means = narrowed.condition(means) if self.is_free else narrowed.coherent(means)
        return self.read(means, parts)

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """The nearest means of psi that a distribution over the outputs has; shape (n, d)."""
        found = np.empty(means.shape)
        for rows in row_blocks(len(means), 8 * MIXED * means.shape[1], MEMORY):
            space = self.space.rows(rows)
            found[rows] = nearest_means(
                lambda costs, left, space=space: space.rows(left).argmin(costs).outputs,
                space.embed, means[rows],
            )  # fmt: skip
        return found

    @property
    def is_free(self) -> bool:
        """Whether a distribution of largest entropy over this space is known from its means."""
        return True

    def condition(self, means: np.ndarray) -> np.ndarray:
        """Coherent means of psi over a larger space, given that outputs are in this one.

        Of all distributions with such means, that of the largest entropy is conditioned where it
        is known; elsewhere the nearest means within this space are taken.
        """
        return self.coherent(means)

    # ------------------------------------------------------------------ how they are read
    def read(self, means: np.ndarray, parts: str | None = None) -> np.ndarray:
        """Means of psi in the form of :meth:`marginals`."""
        return means

    def means_of(self, marginals: np.ndarray, parts: str | None = None) -> np.ndarray:
        """Means of psi that are read as such: the other way round from :meth:`read`."""
        return marginals
