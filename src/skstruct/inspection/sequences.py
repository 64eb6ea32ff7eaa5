# SPDX-License-Identifier: BSD-3-Clause
"""One predicted sequence, and how sure the model is of each symbol."""

from typing import Any, Self

import numpy as np

from skstruct._arrays.imports import require
from skstruct.fitted import Fitted
from skstruct.inspection.drawing import LITERAL, one_output, written
from skstruct.learners.tokens import TokenBatch
from skstruct.spaces import Solving

MOST_SYMBOLS = 40  # rows that can still be read


class SequenceDisplay:
    """Shares of the symbols at each position, with the predicted sequence framed.

    A frame that is not the darkest of its column was chosen for its neighbours, or by a
    constraint.

    Parameters
    ----------
    symbols : sequence of names
    shares : array of shape (n_positions, n_symbols)
        Estimates of P(symbol at t | x); they may lie outside 0..1, and are drawn within it.
    chosen : int array of shape (n_positions,)
        Numbers of the predicted symbols; -1 where there is none.
    truth : int array, default=None
        Numbers of the true ones, starred when given.
    max_symbols : int, default=40
        Of a large alphabet, the symbols of the sequences and those of largest share.
    """

    def __init__(
        self,
        symbols: Any,
        shares: np.ndarray,
        chosen: np.ndarray,
        truth: np.ndarray | None = None,
        max_symbols: int = MOST_SYMBOLS,
    ) -> None:
        self.symbols = symbols
        self.shares = shares
        self.chosen = chosen
        self.truth = truth
        self.max_symbols = max_symbols

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        y: Any = None,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        max_symbols: int = MOST_SYMBOLS,
        ax: Any = None,
    ) -> Self:
        """Draw the prediction of a fitted ConditionalRiskMinimizer for one input.

        Parameters
        ----------
        x : one input: a vector, or an array or list of tokens with a row per position
        y : its true sequence, default=None
        loss, restrict
            As in ``predict``.
        max_symbols
            As of the class.
        """
        fitted = Fitted.of(estimator)
        space = fitted.space
        is_one = fitted.learner is estimator and fitted.estimates_risks
        if not is_one or not Solving.of(space).decodes_chains:
            raise ValueError(
                "SequenceDisplay draws predictions of a ConditionalRiskMinimizer on Sequences, not "
                f"of {type(estimator).__name__} on {type(space).__name__}."
            )
        X, _ = estimator._checked([x])
        problem, smoother = estimator._prepared("hamming", None)
        means, q = problem.smooth(smoother, X), len(space.symbols_)
        if isinstance(X, TokenBatch):
            shares = means.values[:, :q]
        else:
            shares = problem.mean_embedding(means)[0].reshape(-1, q)
        chosen = space.validate(estimator.predict([x], loss=loss, restrict=restrict))[0]
        truth = None if y is None else one_output(space, y)
        if isinstance(X, TokenBatch) and truth is not None and (truth >= 0).sum() != len(shares):
            raise ValueError(f"x has {len(shares)} positions and y {(truth >= 0).sum()} symbols.")
        return cls(space.symbols_, shares, chosen, truth, max_symbols).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        pyplot = require("matplotlib.pyplot", used_by="SequenceDisplay", extra="plot")
        T = len(self.shares)
        rows = self._rows()
        if ax is None:
            size = (min(2.5 + 0.5 * T, 18), min(1.5 + 0.3 * len(rows), 12))
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        shown = np.clip(self.shares[:, rows].T, 0.0, 1.0)
        top = min(1.0, max(float(shown.max(initial=0.0)), 0.1))
        image = ax.imshow(shown, cmap="Blues", vmin=0, vmax=top, aspect="auto")
        height = {number: i for i, number in enumerate(rows)}
        for t, number in enumerate(self.chosen[:T]):
            if number >= 0:
                at = (t - 0.5, height[number] - 0.5)
                ax.add_patch(pyplot.Rectangle(at, 1, 1, fill=False, edgecolor="black", lw=2))
        if self.truth is not None:
            inside = [t for t, symbol in enumerate(self.truth[:T]) if symbol >= 0]
            heights = [height[self.truth[t]] for t in inside]
            ax.plot(inside, heights, "*", color="tab:orange", markersize=9, label="truth")
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, frameon=False)
        symbols = [written(self.symbols[number], 16) for number in rows]
        ax.set_yticks(range(len(rows)), symbols, **LITERAL)
        names = [written(self.symbols[s], 16) if s >= 0 else "" for s in self.chosen[:T]]
        turned = {"rotation": 90} if max(map(len, names), default=0) > 3 else {}
        ax.set_xticks(range(T), names + [""] * (T - len(names)), **turned, **LITERAL)
        ax.set_xlabel("predicted sequence")
        ax.figure.colorbar(image, ax=ax, label="estimated share", shrink=0.8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _rows(self) -> list[int]:
        """Symbols to show: all, or those that matter where there are too many."""
        q = len(self.symbols)
        if q <= self.max_symbols:
            return list(range(q))
        named = np.concatenate([self.chosen, [] if self.truth is None else self.truth])
        needed = np.unique(named[named >= 0]).astype(int)
        largest = np.argsort(-self.shares.max(axis=0), kind="stable")
        others = [s for s in largest.tolist() if s not in set(needed.tolist())]
        return sorted(needed.tolist() + others[: max(0, self.max_symbols - len(needed))])
