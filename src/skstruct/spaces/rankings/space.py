# SPDX-License-Identifier: BSD-3-Clause
"""Total orders of a set of items."""

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.common.formats import check_distinct
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import EXACT, Decoded, Guarantee
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.rankings.beginnings import warn_of_beginnings
from skstruct.spaces.rankings.constraints import RankConstraints, read_before, read_fixed, read_top
from skstruct.spaces.rankings.distribution import RandomRankings
from skstruct.spaces.rankings.formats import RankingFormat, read_rankings
from skstruct.spaces.rankings.pairs import Pairs, WeightedPairs
from skstruct.spaces.rankings.partial import is_total, tied_behind
from skstruct.spaces.rankings.positions import Positions, Ranks, RatedRanks
from skstruct.spaces.solvers.k_best import k_best_sequences
from skstruct.spaces.solvers.linear_ordering import MOST_ITEMS
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets

EMBEDDINGS = {
    "positions": Positions(),
    "pairs": Pairs(),
    "ranks": Ranks(),
    "pair shares": WeightedPairs(share=True),
    "rating differences": WeightedPairs(differences=True),
    "rating shares": WeightedPairs(differences=True, share=True),
    "complete rating differences": RatedRanks(),
    "complete rating shares": RatedRanks(share=True),
}


@savable
class Rankings(RandomRankings):
    r"""Total orders of d items, predicted from total or partial ones.

    Outputs are rank vectors, ``Y[i, j]`` = rank of item j in row i with 1 the best, or
    ordered lists of names with the best first. Outputs to learn from may have ties, stop
    after the first few, or leave items out; predictions are total orders. A partial
    ranking stands for all total orders that agree with it, all equally likely; in Kendall's
    distance a pair that it leaves open costs one half either way. Of how probable it is that one
    item comes before another it says nothing where it leaves them open:
    :class:`~skstruct.ConditionalRiskMinimizer` learns each pair from the rows that order it.

    Canonical outputs are floats (n, d): ranks of the items, smaller is better, equal for
    ties, NaN for items that were not ranked.

    Parameters
    ----------
    items : sequence or int, default=None
        Names of the items, or how many there are: 0, 1, 2, ...; from ``Y`` when None: column
        names or numbers, or the sorted names that occur.
    embedding : "positions", "pairs" or "ranks", default="positions"
        :math:`\psi(z)`: an indicator for every item and position (d² numbers, decoded by
        an assignment), a sign for every pair (d(d-1)/2, linear ordering), or the ranks
        themselves (d, a sort). A loss asks for the one it needs, whatever stands here.
    scores : bool, default=False
        Numbers in ``Y`` are ratings, larger is better, NaN where there is none;
        predictions are then scores from d (best) to 1.
    unlisted : "last" or "unknown", default="last"
        What an ordered list says of items that it does not name: they come after those
        it names (the first few of a ranking), or nothing (the items that somebody was shown).
        Short lists under "unknown" that name some items, or some together, more often than items
        shown at random get a warning: they may be the first few.
    prove : bool, default=False
        Under pairs with more than 20 items the answer may have a gap to its bound: close
        it by branch and bound, whatever time that takes.
    constraints : RankConstraints, default=None
        What ``restrict`` sets.

    Examples
    --------
    >>> import numpy as np
    >>> space = Rankings().fit([["tea", "milk", "rum"], ["rum", "tea"]])
    >>> space.items_
    ('milk', 'rum', 'tea')
    >>> from skstruct.spaces import Embeddings
    >>> pairs = Embeddings.of(space).view("pairs")  # milk-rum, milk-tea, rum-tea
    >>> best = pairs.argmin(np.array([[-1.0, 0.5, 0.25]]))
    >>> pairs.restore(best.outputs)[0], (best.values - best.bounds).tolist()
    (['tea', 'milk', 'rum'], [0.0])
    >>> fixed = pairs.restrict(before=[("rum", "tea")])
    >>> fixed.restore(fixed.argmin(np.array([[-1.0, 0.5, 0.25]])).outputs)[0]
    ['milk', 'rum', 'tea']
    >>> space.size()
    6
    """

    default_loss = "kendall"
    _named_by: ClassVar = {"items": "items_"}
    _constraints_kind = RankConstraints
    _pairs_of = ("items", "learned_")

    def __init__(
        self,
        items: int | Iterable[Any] | None = None,
        embedding: str = "positions",
        *,
        scores: bool = False,
        unlisted: str = "last",
        prove: bool = False,
        constraints: RankConstraints | None = None,
    ) -> None:
        self.items = items
        self.embedding = embedding
        self.scores = scores
        self.unlisted = unlisted
        self.prove = prove
        self.constraints = constraints

    # ------------------------------------------------------------- the user's format
    def _given_items(self) -> tuple[Any, ...] | None:
        if self.items is None:
            return None
        items = self.items
        if isinstance(items, (int, np.integer)) and not isinstance(items, bool):
            items = range(int(items))
        items = check_distinct(items, "Rankings")
        if not items:
            raise ValueError("Rankings: there are no items.")
        return items

    @property
    def items_(self) -> tuple[Any, ...]:
        """Names of the items, one per column."""
        if "learned_" in self.__dict__:
            return self.learned_
        items: Any = self._given_items()
        if items is None:
            check_is_fitted(self, "learned_")
        return tuple(items)

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self.items_

    def _read(
        self, Y: Any, items: tuple[Any, ...] | None, names: bool = False
    ) -> tuple[np.ndarray, tuple[Any, ...], RankingFormat]:
        self._check_embedding()
        return read_rankings(
            Y, items, scores=bool(self.scores), unlisted=self.unlisted, names=names,
            used_by="Rankings",
        )  # fmt: skip

    def fit(self, Y: Any) -> Self:
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self._fit(Y)

    def _fit(self, Y: Any) -> np.ndarray:
        Z, self.learned_, self.format_ = self._read(Y, self._given_items())
        never = np.flatnonzero(np.isnan(Z).all(axis=0))
        if len(never):
            warnings.warn(
                f"Rankings: {self.items_[never[0]]!r} is ranked in no row ({len(never)} such "
                "items); where it is placed will mean nothing.",
                stacklevel=3,
            )
        if self.unlisted == "unknown" and self.format_.kind in ("names", "series"):
            warn_of_beginnings(Z, "Rankings")
        return Z

    def validate(self, Y: Any) -> np.ndarray:
        """Canonical outputs, a float array of shape (n, d)."""
        names = "format_" in self.__dict__ and self.format_.kind in ("names", "series")
        return self._read(Y, self.items_, names)[0]

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        format = getattr(self, "format_", RankingFormat(scores=bool(self.scores)))
        return format.write(np.asarray(Z, dtype=np.float64), self.items_, index)

    # ------------------------------------------------------------- embedding
    @property
    def _scheme(self) -> Any:
        self._check_embedding()
        return EMBEDDINGS[self.embedding]

    def _check_embedding(self) -> None:
        if self.embedding not in EMBEDDINGS:
            known = ", ".join(map(repr, EMBEDDINGS))
            raise ValueError(f"Rankings: embedding is one of {known}; got {self.embedding!r}.")

    def embed(self, Z: np.ndarray) -> Any:
        return self._scheme.embed(np.asarray(Z, dtype=np.float64))

    # ------------------------------------------------------------- constraints
    @property
    def constraints_(self) -> RankConstraints:
        """What predicted rankings must obey."""
        d = len(self.items_)
        if self.constraints is not None and self.constraints.fixed.shape[1] != d:
            raise ValueError(
                f"Rankings: the constraints are those of {self.constraints.fixed.shape[1]} items; "
                f"there are {d}."
            )
        return RankConstraints.none(d) if self.constraints is None else self.constraints

    def restrict(
        self, *, positions: Any = None, before: Any = None, top: int | None = None
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        positions : {item: rank}, one such mapping per row, or array (n, d), NaN where free
            Known positions.
        before : list of pairs (first, second), or one such list per row
            Items known to come before others; two that are both behind the top are tied.
        top : int
            Predict the first ``top`` positions only; all other items are tied behind them.
        """
        fixed = read_fixed(positions, self.items_, "Rankings")
        demanded = read_before(before, self.items_, "Rankings")
        top = read_top(top, len(self.items_), "Rankings")
        return self._limited(self.constraints_.narrow(fixed, demanded, top))

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is a ranking of this space, constraints included; shape (n,)."""
        Z, d, top = np.asarray(Z, dtype=np.float64), len(self.items_), self.constraints_.top
        self._check_outputs(Z, d, f"(n, {d}) ranks")
        if top is None:
            good = is_total(Z)
        else:
            expected = tied_behind(np.arange(d)[None], top)
            good = (np.sort(Z, axis=1) == expected).all(axis=1)
        return good & self.constraints_.allow(Z)

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return (len(self.items_),)

    # ------------------------------------------------------------- decoding
    @property
    def guarantee(self) -> Guarantee:
        if not isinstance(self._scheme, Pairs) or len(self.items_) <= MOST_ITEMS:
            return EXACT
        if self.constraints_.is_free:
            return Guarantee("ratio", 0.5, "the reverse of an order costs the opposite")
        return Guarantee("bound only")

    def _checked(self, costs: np.ndarray) -> np.ndarray:
        costs = self._checked_costs(costs, self._scheme.width(len(self.items_)))
        return costs

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the ranking of least cost."""
        costs, d = self._checked(costs), len(self.items_)
        outputs, (values, bounds) = np.empty((len(costs), d)), np.empty((2, len(costs)))
        for rows in self.constraints_.kinds(len(costs)):
            constraints = self.constraints_.rows(rows)
            decoded = self._scheme.decode(costs[rows], d, constraints, prove=self.prove)
            outputs[rows], values[rows], bounds[rows] = decoded
        return decoded_or_infeasible(outputs, values, bounds, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost rankings of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, "Rankings")
        costs, d = self._checked(costs), len(self.items_)
        outputs, values = np.zeros((len(costs), k, d)), np.full((len(costs), k), np.inf)
        for rows in self.constraints_.kinds(len(costs)):
            found = self._k_best(costs[rows], self.constraints_.rows(rows), k)
            ranks = found[1].shape[1]
            outputs[rows, :ranks], values[rows, :ranks] = found
        check_feasible(np.isfinite(values).any(axis=1), self)
        ranks = int(np.isfinite(values).any(axis=0).sum()) if len(values) else k
        return Decoded(outputs[:, :ranks], values[:, :ranks], values[:, :ranks].copy())

    def _k_best(
        self, costs: np.ndarray, constraints: RankConstraints, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Outputs and values of rows under the same kinds of constraints."""
        scheme, d = self._scheme, len(self.items_)
        simple = (
            not isinstance(scheme, Pairs) and not constraints.has_before and constraints.top is None
        )
        if simple:
            best_within = scheme.best_assignments(costs, d, constraints)
            columns, values = k_best_sequences(best_within, len(costs), d, d, k)
            return columns + 1.0, values
        if d > MOST_ITEMS:
            raise ValueError(
                f"The k best rankings are known under pairs, precedences or a top for up to "
                f"{MOST_ITEMS} items; there are {d}."
            )
        length = d if constraints.top is None else constraints.top
        best_within = scheme.best_orders(costs, d, constraints)
        orders, values = k_best_sequences(best_within, len(costs), length, d, k)
        outputs = np.empty((*values.shape, d))
        for rank in range(values.shape[1]):
            outputs[:, rank] = tied_behind(_filled(orders[:, rank], d), constraints.top)
        return outputs, values


def _filled(starts: np.ndarray, d: int) -> np.ndarray:
    """Orders from their beginnings, the other items behind in their own order."""
    rest = np.ones((len(starts), d), bool)
    np.put_along_axis(rest, starts, False, axis=1)
    others = np.nonzero(rest)[1].reshape(len(starts), d - starts.shape[1])
    return np.hstack([starts, others])


Solving.at(Rankings, "skstruct.spaces.rankings.solving:SolvingOfRankings")
Targets.at(Rankings, "skstruct.spaces.rankings.targets:TargetsOfRankings")
Coordinates.at(Rankings, "skstruct.spaces.rankings.coordinates:CoordinatesOfRankings")
Known.at(Rankings, "skstruct.spaces.rankings.known:KnownOfRankings")
Description.at(Rankings, "skstruct.spaces.rankings.description:DescriptionOfRankings")
Marginals.at(Rankings, "skstruct.spaces.rankings.marginals:MarginalsOfRankings")
Embeddings.at(Rankings, "skstruct.spaces.rankings.coordinates:EmbeddingsOfRankings")
Inference.at(Rankings, "skstruct.spaces.rankings.inference:InferenceOfRankings")
