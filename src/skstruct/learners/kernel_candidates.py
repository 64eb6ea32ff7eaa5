# SPDX-License-Identifier: BSD-3-Clause
"""Outputs to choose from, by their kernel values against the training outputs."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.blocks import parse_memory, row_blocks
from skstruct._arrays.distinct import distinct
from skstruct.decoding.lists import k_cheapest
from skstruct.spaces.base import Decoded, check_feasible
from skstruct.spaces.limits import check_n_rows
from skstruct.spaces.listed import ListView


class KernelCandidates(ListView):
    """Listed outputs of a space, with kernel values against them as targets.

    Where the table of kernel values would take more than half of ``memory`` it is not kept:
    ``search`` then computes it block by block.

    Parameters
    ----------
    space : fitted space
    outputs : array
        Training outputs in canonical form.
    candidates : array
        What may be predicted, in canonical form; repeated ones count once.
    kernel : fitted output kernel
    memory : str or int
    """

    embedding = "kernel values"

    def __init__(self, space, outputs, candidates, kernel, memory="1GB"):
        self.space = space
        self.kernel = kernel
        self.listed_ = candidates[distinct(candidates)[0]]
        first, self.number_ = distinct(outputs)
        self.distinct_ = space.restore(outputs[first])
        self.squares_ = kernel.diagonal(space.restore(self.listed_))
        self.budget_ = max(1, parse_memory(memory) // 2)
        self.values_ = None
        if self.kept:
            self.values_ = kernel(self.distinct_, space.restore(self.listed_))  # (u, c)

    @property
    def kept(self) -> bool:
        """Whether the table of kernel values is held in memory."""
        return 8 * self._n_distinct * len(self.listed_) <= self.budget_

    @property
    def _n_distinct(self) -> int:
        return int(self.number_.max()) + 1

    def targets(self, Y):
        """k(y_i, z) for every training output and candidate; shape (m, c)."""
        return self.values_[self.number_]

    def gathered(self, weights) -> np.ndarray:
        """Weights of training rows summed over rows of the same output; shape (n, u)."""
        m = len(self.number_)
        at = np.arange(m), self.number_
        return weights @ sparse.csr_array((np.ones(m), at), (m, self._n_distinct))

    def allowed(self, part=slice(None)):
        if self.limits_ is None:
            return np.ones((1, 1), bool)
        return super().allowed(part)

    def search(self, weights, k=1) -> Decoded:
        """The k nearest candidates by the weights of training rows, block by block.

        Outputs (n, k, ...), values (n, k): k(z, z) - 2 sum_i b_i k(z, y_i).
        """
        b = self.gathered(weights)
        check_n_rows(self.limits_, len(b), type(self.space).__name__)
        numbers = np.zeros((len(b), 0), np.int64)
        values: np.ndarray = np.zeros((len(b), 0))
        for part in row_blocks(len(self.listed_), 8 * (b.shape[1] + 3 * len(b)), self.budget_):
            K = self.kernel(self.distinct_, self.space.restore(self.listed_[part]))
            costs = np.where(self.allowed(part), self.squares_[part] - 2.0 * b @ K, np.inf)
            # Those found so far come first, so that the first of equal ones stays.
            numbers = np.hstack(
                [numbers, np.broadcast_to(np.arange(part.start, part.stop), costs.shape)]
            )
            order, values = k_cheapest(np.hstack([values, costs]), k)
            numbers = np.take_along_axis(numbers, order, axis=1)
        check_feasible(values.min(axis=1, initial=np.inf) < np.inf, self.space)
        return Decoded(self.listed_[numbers], values, values)
