# SPDX-License-Identifier: BSD-3-Clause
"""Which item of each pair wins, with or without open pairs."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct._arrays.checks import check_costs
from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible, check_n_rows, check_restricted
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.description import Description
from skstruct.spaces.edge_sets.formats import GraphFormat, learn_nodes, read_format
from skstruct.spaces.edge_sets.table import EdgeTable, complete_edges, read_nodes
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.entries import Entries, States
from skstruct.spaces.inference import Inference, OwnInference
from skstruct.spaces.solvers.k_best import k_best
from skstruct.spaces.tournaments.distribution import UniformTournaments
from skstruct.spaces.tournaments.signs import (
    SignConstraints,
    best_signs,
    read_signs,
    split_wins,
    write_signs,
)


@savable
class Tournaments(UniformTournaments):
    r"""Outcomes of all pairs of items, each on its own: answers may hold cycles.

    A may beat B, B beat C, and C beat A. Where outcomes come from an order of all items, use
    :class:`Rankings`; where that order may leave pairs open, :class:`PartialOrders`.

    .. math:: \psi_{uv}(z) = +1 \text{ if } u \text{ beats } v, \; -1 \text{ if } v \text{ beats }
              u, \; 0 \text{ if that is open}, \quad u < v,

    the same signs as of a ranking in which u comes before v. There are :math:`3^d` outputs of
    mean 0 and covariance :math:`\tfrac23 I` over :math:`d = N(N-1)/2` pairs; without open
    pairs :math:`2^d` of covariance I. Always decoded exactly, pair by pair.

    Parameters
    ----------
    items : sequence of names, int or networkx graph, default=None
        What is compared; an int N for 0, ..., N - 1. Learned from ``Y`` when None.
    partial : bool, default=True
        Whether pairs may be left open.
    constraints : SignConstraints, default=None
        What :meth:`restrict` sets.

    Attributes
    ----------
    items_ : tuple
    labels_ : tuple
        Pairs of items, one per column; the first wins where the sign is +1.
    states_ : tuple
        The signs that a pair may have: of equally cheap ones the first is taken.

    Examples
    --------
    >>> space = Tournaments().fit([{("ann", "bob"), ("cem", "ann")}])
    >>> space.labels_
    (('ann', 'bob'), ('ann', 'cem'), ('bob', 'cem'))
    >>> decoded = space.argmin(np.array([[-2.0, 1.0, 0.0]]))
    >>> decoded.outputs, sorted(space.restore(decoded.outputs)[0])
    (array([[ 1, -1,  0]], dtype=int8), [('ann', 'bob'), ('cem', 'ann')])
    >>> space.restrict(include=[("bob", "ann")]).argmin(np.array([[-2.0, 1.0, 0.0]])).values
    array([1.])
    >>> space.size(), Tournaments(3, partial=False).size()
    (27, 8)

    References
    ----------
    Vembu (2010). Learning to predict combinatorial structures. Section 4.3.1.
    """

    _from_parameters = ("_given_items", "_tables")

    embedding = "signed pairs"
    default_loss = "hamming"
    _named_by: ClassVar = {"items": "items_"}
    _constraints_kind = SignConstraints
    _pairs_of = ("items", "learned_items_")
    _pair_bytes = 108  # several tables
    _constraints_rest_on = ("partial",)

    def __init__(
        self,
        items: int | Iterable[Any] | None = None,
        partial: bool = True,
        *,
        constraints: SignConstraints | None = None,
    ) -> None:
        self.items = items
        self.partial = partial
        self.constraints = constraints

    # ------------------------------------------------------------- items and forms
    @property
    def items_(self) -> tuple[Any, ...]:
        if self.items is not None:
            return self._given_items
        if not hasattr(self, "learned_items_"):
            raise NotFittedError("Tournaments learns its items from Y: call fit, or give items.")
        return self.learned_items_

    @cached_property
    def _given_items(self) -> tuple[Any, ...]:
        return read_nodes(self.items, "Tournaments")

    @cached_property
    def _tables(self) -> tuple[EdgeTable, EdgeTable]:
        """Columns of pairs u < v, and of pairs (winner, loser)."""
        n = len(self.items_)
        pairs, wins = (complete_edges(n, directed) for directed in (False, True))
        return EdgeTable(self.items_, pairs, False), EdgeTable(self.items_, wins, True)

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self._tables[0].labels

    @property
    def states_(self) -> tuple[Any, ...]:
        return (0, 1, -1) if self.partial else (1, -1)

    @property
    def constraints_(self) -> SignConstraints:
        """What predictions must obey."""
        if self.constraints is not None:
            return self.constraints
        return SignConstraints(np.ones((1, len(self.labels_), len(self.states_)), bool))

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return (len(self.labels_),)

    def fit(self, Y: Any) -> Self:
        self._forget()
        rows, format = read_format(Y, "Tournaments")
        if self.items is None:
            self.learned_items_ = learn_nodes(rows, format, False, "Tournaments")
        self.format_ = format
        if self.constraints is not None:
            known = self.constraints.allowed.shape[1]
            check_restricted(known, len(self.labels_), "pairs", "Tournaments")
        self.validate(Y)
        return self

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: an int8 array of shape (n, d) of -1, 0 and 1."""
        Z = read_signs(*read_format(Y, "Tournaments"), *self._tables)
        open_ = np.argwhere(Z == 0)
        if len(open_) and not self.partial:
            row, pair = open_[0]
            raise ValueError(
                f"Tournaments: Y[{row}] leaves the pair {self.labels_[pair]!r} open "
                f"({len(np.unique(open_[:, 0]))} such rows); see the parameter partial."
            )
        return Z

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        return write_signs(
            np.asarray(Z), getattr(self, "format_", GraphFormat()), self._tables[1], index
        )

    def embed(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(Z, dtype=np.float64)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is an output of this space, constraints included; shape (n,)."""
        Z = np.asarray(Z)
        d = len(self.labels_)
        self._check_outputs(Z, d, f"(n, {d}) of -1, 0 and 1")
        inside: np.ndarray = (
            ((Z[:, :, None] == self._signs) & self.constraints_.allowed).any(axis=2).all(axis=1)
        )
        return inside

    @property
    def _signs(self) -> np.ndarray:
        return np.array(self.states_)

    # ------------------------------------------------------------- constraints and decoding
    def restrict(self, *, include: Any = None, exclude: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : pairs (winner, loser), the same for all rows or a collection per row
            Wins that are known, and wins that are known not to be; also directed networkx
            graphs.
        """
        constraints = self.constraints_
        for argument, pairs in (("include", include), ("exclude", exclude)):
            wins = self._tables[1].mask(pairs, argument, "Tournaments")
            for sign, marked in zip((1, -1), split_wins(wins, self._tables[1])):
                here, there = self._signs == sign, marked[:, :, None]
                constraints = constraints.within(
                    here | ~there if argument == "include" else ~(here & there)
                )
        return self._limited(constraints)

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the outcomes of least cost; costs of shape (n, d).

        Of equally cheap outcomes a pair stays open, or the first wins.
        """
        if self.constraints is None:
            costs = check_costs(costs, len(self.labels_), used_by="Tournaments")
            outputs = -np.sign(costs) if self.partial else np.where(costs > 0, -1, 1)
            values = -np.abs(costs).sum(axis=1)
            return Decoded(outputs.astype(np.int8), values, values)
        outputs, values = best_signs(
            self._state_costs(costs), self._signs, self.constraints_.allowed
        )
        return decoded_or_infeasible(outputs, values, values, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` of least cost in every row: outputs (n, k, d), values (n, k)."""
        return self.kbest_states(self._state_costs(costs), k)

    def kbest_states(self, state_costs: np.ndarray, k: int) -> Decoded:
        """The same where every sign has a cost of its own, (n, d, number of states).

        Wins of the first and of the second are 0/1 coordinates, one after the other.
        """
        k, (n, d) = check_k(k, "Tournaments"), state_costs.shape[:2]
        check_n_rows(self.constraints, n, "Tournaments")
        wins = np.stack([self._signs == 1, self._signs == -1])  # of the first, of the second

        def best_within(
            rows: np.ndarray, low: np.ndarray, high: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
            low, high = (mask.reshape(len(rows), 2, d, 1) for mask in (low, high))
            obeys = ((wins[:, None] >= low) & (wins[:, None] <= high)).all(axis=1)
            allowed = self.constraints_.rows(rows).allowed & obeys
            signs, values = best_signs(state_costs[rows], self._signs, allowed)
            return np.hstack([signs > 0, signs < 0]), values

        found, values = k_best(best_within, n, 2 * d, k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(found[:, :, :d] - found[:, :, d:], values, values)

    def _state_costs(self, costs: np.ndarray) -> Any:
        """Costs of every sign, the preferred of equal ones first; (n, d, number of states)."""
        costs = self._checked_costs(costs, len(self.labels_))
        return costs[:, :, None] * self._signs


Entries.at(Tournaments, States)
Description.at(Tournaments, "skstruct.spaces.tournaments.description:DescriptionOfTournaments")
Embeddings.at(Tournaments, "skstruct.spaces.tournaments.coordinates:EmbeddingsOfTournaments")
Inference.at(Tournaments, OwnInference)
