# SPDX-License-Identifier: BSD-3-Clause
"""The nearest output in the feature space of an output kernel: the pre-image problem."""

from __future__ import annotations

import copy

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct._arrays.ties import snap
from skstruct.decoding.lists import cheapest, k_cheapest
from skstruct.learners.problem import RiskProblem
from skstruct.losses import pair, resolve_loss
from skstruct.losses.base import BaseLoss
from skstruct.spaces.base import Decoded, KBest, check_feasible, decoded_or_infeasible
from skstruct.spaces.limits import check_n_rows, held_by
from skstruct.spaces.views import EmbeddingView


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


class KernelCandidates(EmbeddingView):
    """Listed outputs of a space, with kernel values against them as targets.

    Parameters
    ----------
    space : fitted space
    outputs : array
        Training outputs in canonical form.
    candidates : array
        What may be predicted, in canonical form; repeated ones count once.
    kernel : fitted output kernel
    """

    embedding = "kernel values"

    def __init__(self, space, outputs, candidates, kernel):
        self.space = space
        self.kernel = kernel
        self.listed_ = candidates[distinct(candidates)[0]]
        first, self.number_ = distinct(outputs)
        self.distinct_ = outputs[first]
        shown = space.restore(self.listed_)
        self.squares_ = kernel.diagonal(shown)
        self.values_ = kernel(space.restore(self.distinct_), shown)  # (u, c)

    def _over(self, space):
        view = copy.copy(self)
        view.space = space
        return view

    def targets(self, Y):
        """k(y_i, z) for every training output and candidate; shape (m, c)."""
        return self.values_[self.number_]

    def _allowed_costs(self, costs):
        costs = check_costs(costs, len(self.listed_), used_by="The list of candidates")
        check_n_rows(self.limits_, len(costs), type(self.space).__name__)
        if self.limits_ is None:
            return costs
        return np.where(held_by(self.space, self.listed_), costs, np.inf)

    def argmin(self, costs):
        best, values = cheapest(self._allowed_costs(costs))
        return decoded_or_infeasible(self.listed_[best], values, values, self.space)

    def kbest(self, costs, k):
        order, values = k_cheapest(self._allowed_costs(costs), k)
        check_feasible(np.isfinite(values).any(axis=1), self.space)
        return Decoded(self.listed_[order], values, values)


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
    """

    def __init__(self, space, kernel, outputs, y, *, loss=None, candidates=None, whole=False):
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
            view = KernelCandidates(space, outputs, candidates, self.kernel)
        loss = None if loss is None else pair(resolve_loss(loss), space, outputs)[1]
        self.whole = whole and not self.by_embedding
        super().__init__(view, InducedLoss(self.kernel, space, loss), outputs, by_weights=True)
        if self.whole and not self.by_weights:
            self.by_weights, self.key = True, ("weights",)
            self._psi = self.space.targets(outputs)

    def _measure(self, psi):
        """Ties are settled on mean embeddings, whose scale is their own."""

    def output_gram(self):
        """The kernel between the distinct training outputs (u, u), and which each row has."""
        if self._gram is None:
            first, number = distinct(self.outputs)
            shown = self.loss.space.restore(self.outputs[first])
            self._gram = self.kernel(shown), number
        return self._gram

    def predictable(self) -> np.ndarray:
        """Which training outputs may be predicted; shape (m,)."""
        if not self.by_embedding:
            both = np.concatenate([self.space.listed_, self.outputs])
            first, number = distinct(both)
            return first[number[len(self.space.listed_) :]] < len(self.space.listed_)
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
        space, (g, total) = self.space.rows(rows), self._means(means)
        if self.by_embedding:
            return self.kernel.nearest(space, g, total)
        decoded = space.argmin(self.space.squares_ - 2.0 * g)
        if not self.whole:
            return decoded
        return Decoded(decoded.outputs, decoded.values, self._bounds(means, decoded.values))

    def _bounds(self, weights, values):
        """|Y(z) - h|^2 - |h|^2 >= -|h|^2 for h = sum_i b_i Y(y_i): no output is nearer than h."""
        gram, number = self.output_gram()
        at = np.arange(len(number)), number
        b = weights @ sparse.csr_array((np.ones(len(number)), at), (len(number), len(gram)))
        return np.minimum(-((b @ gram) * b).sum(axis=1), values)

    def kbest(self, means, k, rows=slice(None)) -> Decoded:
        space, (g, total) = self.space.rows(rows), self._means(means)
        if not isinstance(space, KBest):
            raise ValueError(f"{type(space).__name__} lists only the best output.")
        if not self.by_embedding:
            return space.kbest(self.space.squares_ - 2.0 * g, k)
        best = space.kbest(self.kernel.cost(g, total), k)
        offset = self.kernel.offset(g, total)[:, None]
        return Decoded(best.outputs, best.values + offset, best.bounds + offset)


def _allows(allowed, numbers) -> np.ndarray:
    """Whether outputs by number are among those allowed; those beyond the list are not."""
    inside = numbers < len(allowed)
    return inside & np.asarray(allowed)[np.where(inside, numbers, 0)]


def distinct(outputs):
    """First row of each distinct output in order of appearance, and the number of each row's."""
    rows = np.asarray(outputs).reshape(len(outputs), -1)
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number.reshape(-1)]
