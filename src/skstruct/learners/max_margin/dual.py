# SPDX-License-Identifier: BSD-3-Clause
"""The dual of the structured hinge, climbed one example at a time."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np

from skstruct.kernels.grams import REPAIR
from skstruct.learners.checkpoints.saving import NOWHERE, set_stream
from skstruct.learners.max_margin.scores import LinearRows
from skstruct.tolerances import DUALITY_VIOLATION, NEGATIVE_NORM

MOST_VERTICES, MOST_BATCH = 10, 256
STATE = (
    "points", "point_constants", "point_losses", "products", "dual_weights", "stamps", "l1",
    "shift", "weights", "scores", "z", "constants",
)  # fmt: skip
NUMBERS = ("lam", "clock", "n_iter", "objective", "gap")
CACHED_PASSES = 10  # at most, over known vertices, after each pass that asks for new ones


@dataclass(frozen=True)
class Vertices:
    """What an oracle answers for B examples with R rows in all.

    The hinge of an example is the largest ``losses + <scores, directions>`` over all vertices;
    zero is one of them.
    """

    directions: np.ndarray  # shape: (R, q), for coordinates that see the rows
    constants: np.ndarray  # shape: (B, r), for coordinates that see no input
    losses: np.ndarray  # shape: (B,)
    bounds: np.ndarray  # shape: (B,); no vertex has a larger loss plus score

    def __len__(self) -> int:
        return len(self.losses)


Oracle = Callable[[np.ndarray, np.ndarray, np.ndarray], Vertices]  # of scores, constants, examples


class HingeDual:
    r"""Weights that minimize a regularised structured hinge, by block-coordinate Frank-Wolfe.

    .. math:: P(W, w) = \tfrac\alpha2 (\|W\|^2 + \|w\|^2) + \sum_e (l_e |w_e| - s_e w_e)
              + \sum_m h_m \max_{(u, \ell)} \bigl(\ell + \langle W' x_m, u \rangle
              + \langle w, u \rangle \bigr)

    over vertices :math:`(u, \ell)` that an oracle finds. Every example keeps a mean of vertices;
    with :math:`z = -\sum_m h_m \bar u_m` the weights are :math:`W = Z / \alpha` and
    :math:`w = \mathrm{soft}(z + s, l) / \alpha`, and the dual is
    :math:`D = \sum_m h_m \bar\ell_m - \tfrac\alpha2 (\|W\|^2 + \|w\|^2)` [1]_. Means stay
    feasible when penalties change, which is what warm starts live on. New vertices are asked
    for in batches; between these, steps go to the best of those known [2]_.

    Parameters
    ----------
    rows : LinearRows or KernelRows
    n_seeing, n_constants : int
        How many coordinates see the rows (q) and how many do not (r).
    lam : float
    share : array of shape (M,), default=None
        Weights :math:`h_m` of the examples, of sum one; equal when None.
    memory : int
        Bytes that known vertices may take.

    References
    ----------
    .. [1] S. Lacoste-Julien, M. Jaggi, M. Schmidt, P. Pletscher, "Block-coordinate
       Frank-Wolfe optimization for structural SVMs", ICML 2013.
    .. [2] N. Shah, V. Kolmogorov, C. H. Lampert, "A multi-plane block-coordinate Frank-Wolfe
       algorithm for training structural SVMs with a costly max-oracle", CVPR 2015.
    """

    objective = gap = np.inf
    n_iter = 0
    cached_passes = CACHED_PASSES

    def __init__(
        self,
        rows: LinearRows,
        n_seeing: int,
        n_constants: int,
        lam: float,
        share: np.ndarray | None = None,
        memory: Any = 2**28,
    ) -> None:
        M, N = rows.n_examples, rows.n_rows
        self.rows, self.lam = rows, float(lam)
        self.share = np.full(M, 1.0 / M) if share is None else np.asarray(share, dtype=np.float64)
        self.l1, self.shift = np.zeros(n_constants), np.zeros(n_constants)
        room = memory // max(1, 8 * (N * n_seeing + M * (n_constants + MOST_VERTICES + 3)))
        slots = int(np.clip(room, 2, MOST_VERTICES))
        self.points = np.zeros((N, slots, n_seeing))
        self.point_constants = np.zeros((M, slots, n_constants))
        self.point_losses = np.zeros((M, slots))
        self.products = np.zeros((M, slots, slots))
        self.dual_weights, self.stamps = np.zeros((M, slots)), np.full((M, slots), -1, np.int64)
        self.dual_weights[:, 0] = 1.0  # all begin at the truth: direction zero
        self.stamps[:, 0] = 0
        self.clock = 0
        self.history: list[tuple[int, float, float]] = []  # pass, objective, gap
        self._settle()

    def fork(self) -> "HingeDual":
        """A copy that goes its own way; the inputs are shared."""
        other = copy.copy(self)
        for name in STATE:
            setattr(other, name, getattr(self, name).copy(order="K"))
        other.history = []
        return other

    def state(self) -> dict[str, Any]:
        """All that climbing goes on from, by name."""
        arrays = {name: getattr(self, name) for name in STATE}
        numbers = {name: getattr(self, name) for name in NUMBERS}
        history = np.array(self.history, dtype=np.float64).reshape(-1, 3)
        return {**arrays, **numbers, "history": history}

    def restore(self, state: dict[str, Any]) -> Self:
        """Be where another dual of the same examples was."""
        for name in STATE:
            np.copyto(getattr(self, name), state[name])
        for name in NUMBERS:
            setattr(self, name, state[name])
        self.history = [(int(n), *values) for n, *values in state["history"].tolist()]
        return self

    @property
    def _vertices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.points, self.point_constants, self.point_losses, self.products

    def take_over(self, other: "HingeDual") -> Self:
        """Begin where another dual is: its examples are the first of this one, in its order."""
        M, N = other.rows.n_examples, other.rows.n_rows
        for name, n in (("points", N), ("point_constants", M), ("point_losses", M)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine.shape[1] == theirs.shape[1]:
                mine[:n] = theirs
            else:  # as a mixture
                mine[:n, 0] = other.means(theirs)
        if self.stamps.shape[1] == other.stamps.shape[1]:
            self.dual_weights[:M], self.stamps[:M] = other.dual_weights, other.stamps
            self.clock = other.clock
        self._multiply()
        self._settle()
        return self

    def restart(self, examples: np.ndarray) -> Self:
        """Forget the vertices of some examples, whose true outputs are others now."""
        rows = self.rows.of(examples)
        self.points[rows], self.point_constants[examples] = 0.0, 0.0
        self.point_losses[examples], self.dual_weights[examples] = 0.0, 0.0
        self.stamps[examples] = -1
        self.dual_weights[examples, 0], self.stamps[examples, 0] = 1.0, 0
        self._multiply()
        self._settle()
        return self

    def means(self, values: np.ndarray) -> Any:
        """Means over the vertices of each example, of values (M, slots, ...); rows of points."""
        dual_weights = self.dual_weights
        if values is self.points and not self.rows.single:
            dual_weights = np.repeat(dual_weights, self.rows.lengths, axis=0)
        return np.einsum("ma,ma...->m...", dual_weights, values)

    def penalise(self, lam: Any = None, l1: Any = None, shift: Any = None) -> Self:
        """Other penalties for the same examples: the means stay, the weights follow.

        An infinite ``l1`` keeps a constant weight at zero.
        """
        r = len(self.l1)
        self.lam = self.lam if lam is None else float(lam)
        self.l1 = self.l1 if l1 is None else np.array(np.broadcast_to(l1, r), dtype=np.float64)
        if shift is not None:
            self.shift = np.array(np.broadcast_to(shift, r), dtype=np.float64)
        self._multiply()
        self._settle()
        return self

    def shrink(self, lam: float) -> Self:
        r"""Another penalty, with the means drawn towards the truth as far as the dual likes it.

        Means that were right for a stronger penalty give weights that are too long for a weaker
        one; scaled by :math:`t = \alpha' \sum_m h_m \bar\ell_m / |Z|^2` they are best.
        """
        loss = float(self.share @ self.means(self.point_losses))
        square = self.lam**2 * self._square_norm()
        t = min(1.0, float(lam) * loss / square) if square > 0.0 else 1.0
        rest = t * self.dual_weights[:, 0] + (1.0 - t)
        part = np.divide(t * self.dual_weights[:, 0], rest, out=np.ones(len(rest)), where=rest > 0)
        self.dual_weights[:, 1:] *= t
        self.dual_weights[:, 0] = rest
        self.point_losses[:, 0] *= part
        self.point_constants[:, 0] *= part[:, None]
        self.points[:, 0] *= np.repeat(part, self.rows.lengths)[:, None]
        return self.penalise(lam=lam)

    @property
    def _free(self) -> np.ndarray:
        """One for constant weights that may differ from zero."""
        return np.isfinite(self.l1).astype(np.float64)

    def _multiply(self) -> None:
        """Inner products of the vertices of each example, where these or free edges changed."""
        from skstruct.learners.max_margin._numba import multiply_all

        gram = self.rows.gram
        image = self._per_row()
        multiply_all(self.rows.starts, *gram, self._free, self.stamps, image, self._vertices)

    def _settle(self) -> None:
        """Weights from the means, without the rounding of many small steps."""
        self.weights, self.scores = self.rows.weights(self.coefficients)
        self.z = -self.share @ self.means(self.point_constants)
        moved = self.z + self.shift
        self.constants = np.sign(moved) * np.maximum(np.abs(moved) - self.l1, 0.0) / self.lam

    @property
    def coefficients(self) -> Any:
        """A with W = X' A; shape (N, q)."""
        share = np.repeat(self.share, self.rows.lengths)
        return self.means(self.points) * (-share / self.lam)[:, None]

    # ------------------------------------------------------------------ values
    def _square_norm(self) -> float:
        """|W|^2 + |w|^2."""
        if self.rows.kernelised:
            terms = self.coefficients * self.scores
            squared = float(terms.sum())
            if squared < -NEGATIVE_NORM * float(np.abs(terms).sum()):
                raise ValueError(
                    f"The kernel is not positive semidefinite: weights have the square norm "
                    f"{squared:.3g}; {REPAIR}."
                )
        else:
            squared = float((self.weights**2).sum())
        return squared + float(self.constants @ self.constants)

    @property
    def dual_objective(self) -> float:
        """D: no weights have a lower objective."""
        loss = float(self.share @ self.means(self.point_losses))
        return loss - 0.5 * self.lam * self._square_norm()

    def regularizer(self) -> float:
        """All of P but the hinge."""
        w = self.constants
        penalties = np.where(w != 0.0, self.l1, 0.0) @ np.abs(w) - self.shift @ w
        return 0.5 * self.lam * self._square_norm() + float(penalties)

    # ------------------------------------------------------------------ climbing
    def solve(
        self,
        oracle: Oracle,
        tol: float = 0.01,
        passes: Any = range(1000),
        rng: Any = None,
        level: Any = NOWHERE,
    ) -> Self:
        """Climb until the gap is at most ``tol`` times the objective, or ``passes`` are over.

        ``objective`` and ``gap`` belong to the weights that are left: an upper bound on P, and
        how far it is at most above the optimum. Arrays that an oracle remembers from call to call
        are its ``remembered``.
        """
        rng, measured, n_passes = np.random.default_rng(rng), False, 0
        remembered, passes = getattr(oracle, "remembered", ()), iter(passes)
        if stopped := level.found:
            self.restore(stopped["dual"])
            set_stream(rng, stopped["rng"])
            for mine, theirs in zip(remembered, stopped["remembered"]):
                np.copyto(mine, theirs)
            measured, n_passes = stopped["measured"], stopped["n_passes"]
            next(islice(passes, n_passes, n_passes), None)  # those that are done
        for _ in passes:
            guess = self._pass(oracle, rng)
            close = guess <= tol * max(self.dual_objective + guess, 0.0)
            measured = close or self.n_iter % 10 == 0
            if measured and self.measure(oracle, tol):
                return self
            n_passes += 1
            at = {"measured": measured, "n_passes": n_passes}
            level.reached(dual=self, rng=rng, remembered=remembered, **at)
        if not measured:
            self.measure(oracle, tol)
        return self

    def measure(self, oracle: Any, tol: float = 0.0) -> bool:
        """Objective and gap at the weights as they are; whether the gap is small enough.

        The vertices that were found are kept: where it is not, the next pass begins with them.
        """
        self._settle()
        everyone = np.arange(len(self.share))
        hinge = 0.0
        for part in _parts(everyone, MOST_BATCH):
            found = self._ask(oracle, part)
            hinge += float(self.share[part] @ found.bounds)
        self.objective = self.regularizer() + hinge
        gap = self.objective - self.dual_objective
        if gap < -DUALITY_VIOLATION * max(1.0, abs(self.objective)):
            raise ValueError(
                f"The objective {self.objective:.6g} is below its lower bound "
                f"{self.dual_objective:.6g}: a decoder gives bounds that do not hold."
            )
        self.gap = max(0.0, gap)
        self.history.append((self.n_iter, self.objective, self.gap))
        return self.gap <= tol * max(self.objective, 0.0)

    def _pass(self, oracle: Callable[..., Any], rng: np.random.Generator) -> float:
        """New vertices for every example, in batches, and steps towards them; guesses the gap."""
        order = rng.permutation(len(self.share))
        size = int(np.clip(len(order) // 5, 1, MOST_BATCH))
        guess = 0.0
        for part in _parts(order, size):
            self._ask(oracle, part)
            guess += self._visit(part)
        for _ in range(self.cached_passes):
            if self._visit(rng.permutation(len(self.share))) <= 0.1 * guess:
                break
        self.n_iter += 1
        return guess

    def _ask(self, oracle: Callable[..., Any], examples: np.ndarray) -> Any:
        """The best vertices of some examples; they are kept."""
        from skstruct.learners.max_margin._numba import remember

        rows = self.rows.of(examples)
        scores = self.rows.scores(self.weights, self.scores, rows)
        found = oracle(scores, self.constants, examples)
        lengths = self.rows.lengths[examples]
        offset = np.concatenate([[0], np.cumsum(lengths)])
        gram, gram_starts = self.rows.gram
        remember(
            examples, self.clock, self.rows.starts, offset, found.directions, found.constants,
            found.losses, gram, gram_starts, self._free, self.dual_weights, self.stamps,
            self._per_row(), self._vertices,
        )  # fmt: skip
        return found

    def _visit(self, order: np.ndarray) -> Any:
        from skstruct.learners.max_margin._numba import visit

        self.clock += 1
        bent = True if ((self.l1 > 0.0) & np.isfinite(self.l1)).any() else None
        state = self.dual_weights, self.stamps, self._vertices
        work = np.empty(len(self.l1)), *np.zeros((2, self.stamps.shape[1]))
        return visit(
            np.asarray(order), self.clock, self.rows.starts, *self.rows.arrays, *self.rows.gram,
            self.share, self.lam, self.l1, self.shift, bent, self.rows.turned(self.weights),
            self.scores, self.z, self.constants, *state, self._per_row(), self._per_row(), *work,
        )  # fmt: skip

    def _per_row(self) -> np.ndarray:
        """Room for numbers of the coordinates that see the rows, of one example."""
        return np.empty((self.rows.longest, self.points.shape[2]))


def _parts(order: np.ndarray, size: int) -> list[np.ndarray]:
    return [order[start : start + size] for start in range(0, len(order), size)]
