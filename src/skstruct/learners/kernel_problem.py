# SPDX-License-Identifier: BSD-3-Clause
"""The nearest output in the feature space of an output kernel: the pre-image problem."""

from __future__ import annotations

import copy

import numpy as np
from scipy.linalg import eigh

from skstruct._arrays.distinct import distinct
from skstruct._arrays.ties import snap
from skstruct.learners.kernel_candidates import KernelCandidates
from skstruct.learners.problem import RiskProblem
from skstruct.losses import pair, resolve_loss
from skstruct.losses.base import BaseLoss
from skstruct.spaces.base import Decoded, KBest


class InducedLoss(BaseLoss):
    """Half the squared distance of outputs in a kernel's feature space, or another loss."""

    def __init__(self, kernel, space, loss=None):
        self.kernel = kernel
        self.space = space
        self.loss = loss

    def __call__(self, Y_pred, Y_true):
        if self.loss is not None:
            return self.loss(Y_pred, Y_true)
        return self.kernel.loss(self.space.restore(Y_pred), self.space.restore(Y_true))

    def pairwise(self, Y_pred, Y_true):
        if self.loss is not None:
            return self.loss.pairwise(Y_pred, Y_true)
        P, Y = self.space.restore(Y_pred), self.space.restore(Y_true)
        norms = self.kernel.diagonal(P)[:, None] + self.kernel.diagonal(Y)
        return 0.5 * norms - self.kernel(P, Y)


class KernelProblem(RiskProblem):
    r"""Decides :math:`\arg\min_z k(z, z) - 2 \sum_i b_i(x) k(z, y_i)`.

    Parameters
    ----------
    space : fitted space
    kernel : output kernel
    outputs : array
        Training outputs in canonical form.
    y : the same in the user's form
    loss : loss, name or None
        What decisions on left-out rows are judged by; the kernel's own loss when None.
    candidates : array or None
        What may be predicted, in canonical form. None is all that the space holds, where the
        kernel is bilinear in one of its embeddings, and else the training outputs.
    whole : bool
        Whether the space holds more than the candidates, so that bounds are over it.
    memory : str or int
        Budget of the table of kernel values.
    """

    def __init__(
        self, space, kernel, outputs, y, *,
        loss=None, candidates=None, whole=False, memory="1GB",
    ):  # fmt: skip
        self._gram = None
        name = kernel.embedding_on(space)
        self.by_embedding = name is not None and (candidates is None or name == "outputs")
        if self.by_embedding:
            view = space.with_embedding(name, outputs, candidates)
            self.kernel = kernel.bind(view).fit(y)
        else:
            self.kernel = kernel.bind(space).fit(y)
            if candidates is not None:
                self.kernel.admit(space.restore(candidates))
            elif space.embedding == "outputs":  # a list itself
                candidates, whole = space.enumerate(), False
            else:
                candidates = outputs
            view = KernelCandidates(space, outputs, candidates, self.kernel, memory)
        bound = None if loss is None else pair(resolve_loss(loss), space, outputs)[1]
        loss = InducedLoss(self.kernel, space, bound)
        self.whole = whole and not self.by_embedding
        self.streamed = not self.by_embedding and (self.whole or not view.kept)
        if not self.streamed:
            super().__init__(view, loss, outputs, by_weights=True)
            return
        self.space, self.loss, self.outputs = view, loss, outputs
        self.joint, self.by_weights, self.key = False, True, ("weights",)
        self.width = len(view.number_)

    def _measure(self, psi):
        """Ties are settled on mean embeddings, whose scale is their own."""

    def judged_by(self, loss):
        """The same decisions, measured by another loss."""
        space = self.loss.space
        judged = copy.copy(self)
        bound = pair(resolve_loss(loss), space, self.outputs)[1]
        judged.loss = InducedLoss(self.kernel, space, bound)
        return judged

    def output_gram(self):
        """The kernel between the distinct training outputs (u, u), and which each row has."""
        if self._gram is None:
            first, number = distinct(self.outputs)
            shown = self.loss.space.restore(self.outputs[first])
            self._gram = self.kernel(shown), number
        return self._gram

    def tie_targets(self):
        """Features of the training outputs whose inner products are the kernel; (m, u).

        The squared error of their left-out means is that in the kernel's space, whatever is
        regressed on and decided from.
        """
        gram, number = self.output_gram()
        squares, directions = eigh(gram)
        return (directions * np.sqrt(squares.clip(min=0.0)))[number]

    def predictable(self) -> np.ndarray:
        """Which training outputs may be predicted; shape (m,)."""
        if not self.by_embedding:
            both = np.concatenate([self.space.listed_, self.outputs])
            first, number = distinct(both)
            listed = first[number[len(self.space.listed_) :]] < len(self.space.listed_)
            return listed & self.loss.space.contains(self.outputs)
        allowed = getattr(self.space, "allowed_", None)  # of a list that was narrowed
        held = self.space.contains(self.outputs)
        return held if allowed is None else held & _allows(allowed, self.outputs)

    def _means(self, means):
        g, total = self.mean_embedding(means)
        scale = np.maximum(np.abs(g).max(axis=1, initial=0.0), np.abs(total).max(axis=1))
        if not self.space.discrete:
            return g, total
        return snap(np.array(g, order="C"), scale), snap(total.copy(), scale)

    def decode(self, means, rows=slice(None)) -> Decoded:
        space = self.space.rows(rows)
        if self.streamed:
            best = space.search(self._settled(means))
            values = best.values[:, 0]
            bounds = self._bounds(means, values) if self.whole else values
            return Decoded(best.outputs[:, 0], values, bounds)
        g, total = self._means(means)
        if self.by_embedding:
            return self.kernel.nearest(space, g, total)
        return space.argmin(self.space.squares_ - 2.0 * g)

    def decide(self, means, rows=slice(None)):
        """Outputs alone, without bounds over a space that holds more than the candidates."""
        if not self.streamed:
            return super().decide(means, rows)
        return self.space.rows(rows).search(self._settled(means)).outputs[:, 0]

    @staticmethod
    def _settled(weights):
        """Weights on a grid of their own, so that ties do not depend on rounding."""
        return snap(np.array(weights, order="C"), np.abs(weights).max(axis=1, initial=0.0))

    def _bounds(self, weights, values):
        """|Y(z) - h|^2 - |h|^2 >= -|h|^2 for h = sum_i b_i Y(y_i): no output is nearer than h."""
        gram, _ = self.output_gram()
        b = self.space.gathered(weights)
        return np.minimum(-((b @ gram) * b).sum(axis=1), values)

    def kbest(self, means, k, rows=slice(None)) -> Decoded:
        space = self.space.rows(rows)
        if self.streamed:
            return space.search(self._settled(means), k)
        g, total = self._means(means)
        if not isinstance(space, KBest):
            raise ValueError(
                f"{type(space).__name__} lists only the best output: it needs a method "
                "kbest(costs, k) (protocol KBest); space=None compares outputs of training."
            )
        if not self.by_embedding:
            return space.kbest(self.space.squares_ - 2.0 * g, k)
        best = space.kbest(self.kernel.cost(g, total), k)
        offset = self.kernel.offset(g, total)[:, None]
        return Decoded(best.outputs, best.values + offset, best.bounds + offset)


def _allows(allowed, numbers) -> np.ndarray:
    """Whether outputs by number are among those allowed; those beyond the list are not."""
    inside = numbers < len(allowed)
    return inside & np.asarray(allowed)[np.where(inside, numbers, 0)]
