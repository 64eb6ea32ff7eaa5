# SPDX-License-Identifier: BSD-3-Clause
"""Decisions beside ``argmin``: by programs, in haste, from means, by position, on devices."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.facets import Facet
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.sequence_sets.chains.forward_backward import ChainDistribution
from skstruct.spaces.solvers.mixed_programs import LinearSet

TWINS = ("tensor_argmin", "decides_from_means")  # of ``argmin``, which they stand in for


class Solving(Facet):
    r"""Ways to :math:`\operatorname{argmin}_z \langle c, \psi(z) \rangle` beside ``argmin``.

    As linear constraints, in haste, from means that need no costs of all coordinates, by costs at
    every position of a chain, over a relaxation, on a device; and how costs are read.

    ``tensor_argmin`` and ``decides_from_means`` are twins of ``argmin``: a class that brings an
    ``argmin`` of its own is decided by that one, unless it registers these as well.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets, Sequences, Solving
    >>> solving = Solving.of(LabelSets(["bread", "milk", "rum"], max_size=2))
    >>> solving.program().A_ub.toarray()[0], solving.program().b_ub[0] == 2  # at most two
    (array([1., 1., 1.]), np.True_)
    >>> solving.discrete, solving.decodes_chains
    (True, False)
    >>> unary = np.array([[0.0, 1.0], [2.0, 0.5], [0.3, 0.2]])  # a word of two symbols, one of one
    >>> Solving.of(Sequences("ab", (1, 2))).argmin_chains(unary, [0, 2, 3]).outputs
    array([[ 0,  1],
           [ 1, -1]])
    """

    __slots__ = ()

    @classmethod
    def _nearest(cls, structure: type) -> Callable[[Any], Any]:
        """The nearest facet, without twins of an ``argmin`` that the structure does not have."""
        found: Any = super()._nearest(structure)
        own = (part for part in structure.__mro__ if part in cls._places or "argmin" in vars(part))
        if next(own, None) in (None, *cls._places):
            return found
        defaults = {name: vars(cls._kind)[name] for name in TWINS}
        return type(found.__name__, (found,), {"__slots__": (), **defaults})

    # ------------------------------------------------------------- costs
    @property
    def discrete(self) -> bool:
        """Whether outputs can tie: costs are then rounded to a grid on which ties are ties."""
        return True

    @property
    def coordinates_apart(self) -> bool:
        """Whether each coordinate of an output may have any value, whatever others have."""
        return False

    # ------------------------------------------------------------- programs
    def program(self) -> LinearSet | None:
        """The outputs as the points of linear constraints, where psi(z) = z is the output itself.

        Constraints of ``restrict`` are included; of a space that differs from row to row, take
        ``rows([i])`` first. None where no program is known. What is not linear in psi, such as the
        conditional value at risk, is minimized by it.

        Returns
        -------
        program : :class:`~skstruct.spaces.solvers.mixed_programs.LinearSet` or None
            Such as a :class:`~skstruct.spaces.solvers.binary_programs.BinaryProgram`.
        """
        return None

    # ------------------------------------------------------------- in haste
    def quick(self) -> Any:
        """The same space, whose ``argmin`` ends before it takes long: some bounds may be lower.

        A search decides by it every row once for each penalty, and nobody asks how good a single
        decision is. The space itself, unless a proof, or a last step, takes most of the time.
        """
        return self.space

    def search(self, curves: Any) -> Decoded:
        """As ``space.minimize(curves)``, of quantities, where nobody asks for proofs: outputs and
        bounds may be worse.
        """
        found: Decoded = self.space.minimize(curves)
        return found

    @property
    def takes_curves(self) -> bool:
        """Whether there is ``space.minimize``, for sums of curves over coordinates."""
        return False

    @property
    def separable(self) -> bool:
        """Whether ``space.minimize`` takes any sum of curves over coordinates."""
        return True

    # ------------------------------------------------------------- from means
    @property
    def decides_from_means(self) -> bool:
        """Whether :meth:`argmin_of_means` decides, which needs no costs of all coordinates."""
        return False

    def argmin_of_means(
        self, means: np.ndarray, columns: np.ndarray, square: float, scale: np.ndarray
    ) -> Decoded:
        r"""The sets of least :math:`-\sum_s g_{js} (1 + b) / (b s + |z|)`, summed over j in z.

        Parameters
        ----------
        means : array of shape (n, q)
        columns : int array of shape (q,)
            Which of the :math:`d^2 + 1` columns of the embedding by size they are the means of;
            others are zero.
        square : float
            The square b of beta.
        scale : array of shape (n,)
            Of terms that costs are differences of: ties are ties below :math:`2^{-30}` of it.
        """
        self.refuse("decisions from means")

    # ------------------------------------------------------------- chains
    @property
    def decodes_chains(self) -> bool:
        """Whether costs may be those of symbols at every position, as :meth:`argmin_chains` takes
        them.
        """
        return self.answers("argmin_chains")

    def argmin_chains(
        self, unary: Any, starts: Any, transitions: np.ndarray | None = None
    ) -> Decoded:
        """For every row the minimum-cost sequence as long as the row has positions.

        Costs come in stacked form, the positions of all rows one after the other, as a
        model of tokens makes them. Known symbols and forbidden transitions are obeyed; rows
        may be of any length, longer than T too.

        Parameters
        ----------
        unary : array of shape (N, q)
            Cost of each symbol at each position; infinity forbids.
        starts : int array of shape (n + 1,)
            Row i owns the positions starts[i]:starts[i + 1].
        transitions : array of shape (1, q, q) or (N, q, q), default=None
            Cost of (symbol before, symbol here), the same everywhere or by position.

        Returns
        -------
        decoded : Decoded
            Outputs as wide as the longest row.
        """
        self.refuse("chains")

    def kbest_chains(
        self, unary: np.ndarray, starts: np.ndarray, k: int, transitions: np.ndarray | None = None
    ) -> Decoded:
        """The ``k`` of least cost in every row, with costs as in :meth:`argmin_chains`."""
        self.refuse("chains")

    def distribution_of_chains(
        self, unary: np.ndarray, starts: np.ndarray, transitions: np.ndarray | None = None
    ) -> ChainDistribution:
        """The distribution of every row, as long as the row has positions.

        Parameters
        ----------
        unary, starts, transitions
            As of :meth:`argmin_chains`, with scores in the place of costs: large is likely, and
            minus infinity forbids.

        Returns
        -------
        distribution : :class:`~.forward_backward.ChainDistribution`
        """
        self.refuse("chains")

    # ------------------------------------------------------------- pairs of labels
    @property
    def decodes_relaxed(self) -> bool:
        """Whether there is :meth:`argmin_relaxed`, over a polytope that holds all psi."""
        return self.answers("argmin_relaxed")

    def argmin_relaxed(self, costs: np.ndarray) -> Decoded:
        """For every row a point of least cost in the local polytope; costs of shape (n, d).

        Its ``outputs`` are embeddings, (n, d) of 0, 1/2 and 1. They are those of sets on
        forests, and where no pair costs more than zero.
        """
        self.refuse("relaxed decoder")

    def argmin_shared(self, node_costs: np.ndarray, edge_costs: np.ndarray) -> Decoded:
        """As ``space.argmin``, with the same costs of pairs for all rows.

        Parameters
        ----------
        node_costs : array of shape (n, number of labels)
        edge_costs : array of shape (E,)
        """
        self.refuse("costs of pairs")

    def argmin_relaxed_shared(self, node_costs: np.ndarray, edge_costs: Any) -> Decoded:
        """As :meth:`argmin_relaxed`, with costs as in :meth:`argmin_shared`."""
        self.refuse("costs of pairs")

    # ------------------------------------------------------------- devices
    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        """How ``space.argmin`` is computed on a device of torch; None: not at all.

        Constraints that differ from row to row are decoded on the host.

        Parameters
        ----------
        backend : TorchBackend

        Returns
        -------
        callable or None
            Of costs (n, d), a tensor of float64 on the device, to outputs in canonical form, an
            array on the host, and their values (n,), a tensor on the device.
        """
        return None


class SolvingOfLists(Solving):
    """Outputs that are listed: all are compared, on a device too."""

    __slots__ = ()

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        from skstruct.spaces.solvers.on_device import listed_argmin

        return listed_argmin(self.space.listed_, self.space.allowed()[0], backend)


class SolvingWithin(Solving):
    """Views that decide in another way about the outputs of their space."""

    __slots__ = ()

    @property
    def discrete(self) -> bool:
        return Solving.of(self.space.space).discrete


class SolvingOfNumbers(Solving):
    """Numbers: nothing to break ties between, so that costs are taken as they are."""

    __slots__ = ()

    @property
    def discrete(self) -> bool:
        return False


class SolvingOfQuantities(SolvingOfNumbers):
    """Numbers that are searched for sums of curves."""

    __slots__ = ()

    @property
    def takes_curves(self) -> bool:
        return True
