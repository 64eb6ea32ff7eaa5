# SPDX-License-Identifier: BSD-3-Clause
"""Targets: what is regressed on for training outputs, and which of it decides."""

from typing import Any

import numpy as np

from skstruct.facets import Facet


class Targets(Facet):
    r"""Numbers that a smoother learns, one row for each training output, and what they are for.

    They are :math:`\psi(y)` where training outputs are like predictions; ratings for rankings,
    costs that were observed, or labels that were overlooked are regressed as others.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets, Targets
    >>> space = LabelSets(["bread", "milk"], propensity=[1.0, 0.5])  # half of all milk was noted
    >>> Targets.of(space).targets(np.array([[1, 1], [0, 1]]))
    array([[1., 2.],
           [0., 2.]])
    """

    __slots__ = ()

    def targets(self, Y: Any) -> Any:
        """What is regressed on for outputs of training in canonical form; shape (n, q)."""
        return self.space.embed(Y)

    def fit_costs(self, costs: Any) -> Any:
        """The space, once names that are open are those of a table (n, d) with a column for each
        coordinate of psi.

        Where costs are observed, no output tells them; a frame has them above its columns.
        """
        return self.space

    def propensities(self) -> np.ndarray | None:
        """Probability of each label to have been annotated where it applies; None for one."""
        return None

    def n_deciding(self, width: int) -> int | None:
        """How many of the first of ``width`` targets decide; others tell what a decision costs.

        None for all.
        """
        return None

    def blocks(self) -> np.ndarray | None:
        """Which targets may be smoothed alike, a number for each; None where nothing tells."""
        return None

    def outputs_of(self, observed: np.ndarray) -> np.ndarray:
        """The outputs that are right for what was observed, in canonical form: these themselves,
        unless observations are no outputs.
        """
        return observed

    def own_costs(self) -> np.ndarray:
        """Costs of the last coordinates of psi, where these belong to the space and are not
        observed; shape (k,), none for most.
        """
        return np.zeros(0)


class TargetsOfSpace(Targets):
    """Views that are learned as the space that they are views of."""

    __slots__ = ()

    def targets(self, Y: Any) -> Any:
        return Targets.of(self.space.space).targets(Y)
