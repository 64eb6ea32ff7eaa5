# SPDX-License-Identifier: BSD-3-Clause
"""How many symbols of a sequence differ, and what each of them costs."""

import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct.losses.base import BaseLoss, same_width
from skstruct.losses.costs import (
    ClassWeight,
    Costs,
    balanced_weights,
    is_balanced,
    is_one,
    named_costs,
    needs_names,
    without_outputs,
)
from skstruct.losses.deciding import BilinearForm, Form
from skstruct.losses.grid_forms import GridForm
from skstruct.losses.levels import Levels, Tokens
from skstruct.saving import savable
from skstruct.spaces import Entries

NAME = "SequenceHamming"


@savable
class SequenceHamming(BaseLoss):
    r"""Wrong symbols, and wrong pairs of neighbours if they matter.

    .. math:: \ell(z, y) = \sum_t m(y_t)\, a(z_t)\, 1[z_t \ne y_t]
              + w\, \Bigl(\tfrac12 |B(z)| + \tfrac12 |B(y)| - |B(z) \cap B(y)|\Bigr)

    with :math:`B(z)` the set of placed bigrams :math:`(t, z_t, z_{t+1})`. For sequences of one
    length the second term is the number of positions where the bigrams differ. The shorter of two
    sequences is padded at its end: every symbol that has no counterpart is wrong, and costs
    :math:`m(y_t)` or :math:`a(z_t)`.

    The first term alone is decided position by position, both together by the Viterbi
    recursion. ``loss="hamming"`` on :class:`~skstruct.spaces.Sequences` is this one without
    bigrams.

    Parameters
    ----------
    bigrams : float, default=0.0
        w, what a wrong bigram costs in wrong symbols. Predictions then prefer bigrams that
        are likely together over symbols that are likely one by one.
    miss : float, sequence or mapping from symbol to cost, default=1.0
        :math:`m(a) \ge 0`, what a position costs where the symbol a is true and another is
        predicted. Symbols that a mapping leaves out cost one.
    alarm : float, sequence or mapping from symbol to cost, default=1.0
        :math:`a(b) \ge 0`, a factor of positions where the symbol b is predicted wrongly.
    class_weight : "balanced", sequence or mapping from symbol to weight, default=None
        A factor of ``miss``. "balanced" is :math:`n / (K n_a)` of a symbol that stands at
        :math:`n_a` of the n positions of training, with K symbols in all.

    Examples
    --------
    >>> import numpy as np
    >>> SequenceHamming()([[2, 0, 1]], [[2, 1, -1]])  # -1 is no symbol
    array([2.])
    >>> SequenceHamming(bigrams=1.0)([[2, 0, 1]], [[2, 0, 3]])
    array([2.])
    >>> SequenceHamming(miss=[1.0, 5.0])([[0, 0, 1]], [[0, 1, 0]])  # a missed 1 costs 5
    array([6.])
    """

    embedding = "positions"
    miss_: np.ndarray | None = None  # costs of symbols, shape (q,), unless all are one
    alarm_: np.ndarray | None = None

    def __init__(
        self,
        bigrams: float = 0.0,
        *,
        miss: Costs = 1.0,
        alarm: Costs = 1.0,
        class_weight: ClassWeight = None,
    ) -> None:
        self.bigrams = bigrams
        self.miss = miss
        self.alarm = alarm
        self.class_weight = class_weight

    def _check(self) -> None:
        if not isinstance(self.bigrams, Real) or not 0 <= self.bigrams < np.inf:
            raise ValueError(
                f"SequenceHamming: bigrams is a number of at least 0; got {self.bigrams!r}."
            )

    def embedding_on(self, space: Any) -> str:
        self._check()
        if Entries.of(space).kind != "symbols":
            raise ValueError(
                f"SequenceHamming compares sequences of symbols; {type(space).__name__} has none."
            )
        return "bigrams" if self.bigrams else "positions"

    def observe(self, space: Any, outputs: np.ndarray) -> Self:
        if not is_balanced(self.class_weight, NAME):
            return self
        outputs = np.asarray(outputs)
        seen = copy.copy(self)
        seen.balanced_ = balanced_weights(
            np.bincount(outputs[outputs >= 0].astype(np.int64), minlength=len(space.symbols_))
        )
        return seen

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.n_symbols_, bound.length_ = len(space.symbols_), space.length_
        if not self._all_cost_one():
            bound.miss_, bound.alarm_ = self._symbol_costs(list(space.symbols_))
        return bound

    def _all_cost_one(self) -> bool:
        return self.class_weight is None and is_one(self.miss) and is_one(self.alarm)

    def _symbol_costs(self, symbols: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """What missing each symbol costs, and its false alarms; shapes (q,)."""
        miss = named_costs(self.miss, symbols, "miss", NAME)
        if is_balanced(self.class_weight, NAME):
            if not hasattr(self, "balanced_"):
                raise without_outputs(NAME)
            miss = miss * self.balanced_
        elif self.class_weight is not None:
            miss = miss * named_costs(self.class_weight, symbols, "class_weight", NAME)
        return miss, named_costs(self.alarm, symbols, "alarm", NAME)

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        P, Y = same_width(Y_pred, Y_true)
        wrong: np.ndarray = self._wrong(P, Y).sum(axis=1).astype(np.float64)
        if self.bigrams:
            in_P, in_Y = (P[:, 1:] >= 0), (Y[:, 1:] >= 0)
            common = in_P & in_Y & (P[:, 1:] == Y[:, 1:]) & (P[:, :-1] == Y[:, :-1])
            lengths = in_P.sum(axis=1) + in_Y.sum(axis=1)
            wrong += self.bigrams * (0.5 * lengths - common.sum(axis=1))
        return wrong

    def _wrong(self, P: np.ndarray, Y: np.ndarray) -> Any:
        """What every position costs; shape (n, T)."""
        miss, alarm = self.miss_, self.alarm_
        if miss is None and not self._all_cost_one():
            if any(map(needs_names, (self.miss, self.alarm, self.class_weight))):
                raise ValueError(f"{NAME}: call bind(space) first; costs are by name.")
            q = 1 + int(max(P.max(initial=0), Y.max(initial=0)))
            miss, alarm = self._symbol_costs(list(range(q)))
        if miss is None or alarm is None:
            return P != Y
        # The entry behind the last, which -1 finds, is that of no symbol.
        return (P != Y) * np.append(miss, 1.0)[Y] * np.append(alarm, 1.0)[P]

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        n, flat = len(g), self.length_ * self.n_symbols_
        at = g[:, :flat].reshape(n, self.length_, self.n_symbols_)
        some = at.sum(axis=2, keepdims=True)
        # A symbol is wrong where another was, a pad where any was.
        if self.miss_ is None:
            symbols = total[:, :, None] - at - some
        else:
            missed = at * self.miss_
            any_missed = missed.sum(axis=2, keepdims=True)
            others = any_missed - missed + total[:, :, None] - some
            symbols = self.alarm_ * others - any_missed
        return np.hstack([symbols.reshape(n, flat), self.bigrams * (0.5 * total - g[:, flat:])])

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        flat = self.length_ * self.n_symbols_
        symbols = (
            g[:, :flat] if self.miss_ is None else g[:, :flat] * np.tile(self.miss_, self.length_)
        )
        return symbols.sum(axis=1) + 0.5 * self.bigrams * g[:, flat:].sum(axis=1)


class _CostsOfTokens(Tokens):
    __slots__ = ()

    add_up = True

    def costs(self, g: np.ndarray, total: Any) -> tuple[np.ndarray, Any]:
        if self.loss.miss_ is None:
            return -g, total
        missed = g * self.loss.miss_
        return (missed.sum(axis=1, keepdims=True) - missed) * self.loss.alarm_, np.zeros(len(g))

    def largest_cost(self) -> float:
        if self.loss.miss_ is None or self.loss.alarm_ is None:
            return 1.0
        miss, alarm = self.loss.miss_.max(initial=0.0), self.loss.alarm_.max(initial=0.0)
        return float(max(miss * alarm, miss, alarm))


class _FormOfSequences(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        T, q, bigrams = self.loss.length_, self.loss.n_symbols_, self.loss.bigrams
        one, pairs = np.ones(q), np.full(width - T * q, 0.5 * bigrams)
        costs = (self.loss.miss_, self.loss.alarm_)
        miss, alarm = (one if cost is None else cost for cost in costs)
        # Costs of ``cost``, [predicted, true]: a_b (sum of the others' misses - all that is
        # there) - all misses.
        matrix = alarm[:, None] * (miss - np.diag(miss) - 1.0) - miss
        form = GridForm(matrix, np.ones(T), tail=-bigrams)
        u, v = (np.concatenate([np.tile(part, T), pairs]) for part in (alarm, miss))
        return BilinearForm(form, u, v, 0.0)


class _LevelsOfSequences(Levels):
    __slots__ = ()

    def steps(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        if self.loss.miss_ is not None:
            return 0.0, np.zeros(len(outputs))
        return (0.0 if self.loss.bigrams else 1.0), np.ones(len(outputs))

    def largest(self, space: Any) -> float | None:
        positions = self.loss.length_ * Tokens.of(self.loss).largest_cost()
        return float(positions + self.loss.bigrams * max(self.loss.length_ - 1, 0))


Tokens.at(SequenceHamming, _CostsOfTokens)
Form.at(SequenceHamming, _FormOfSequences)
Levels.at(SequenceHamming, _LevelsOfSequences)
