# SPDX-License-Identifier: BSD-3-Clause
"""Conditional random fields from blocks of sequences that are read anew for every step.

The first sequences, and those that show a symbol or a length that none before them has, are learned
from in memory. That gives names, features, a penalty, and weights to begin with. Steps of L-BFGS on
the objective of all sequences follow, each with a pass over the blocks: memory does not grow with
their number, and the minimum is that of a fit in memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstruct.learners.exponential_family.chain_likelihood import ChainModel, penalty
from skstruct.learners.exponential_family.marginal_likelihood import PartialChainModel
from skstruct.learners.inputs import read_inputs
from skstruct.learners.token_problem import check_positions
from skstruct.learners.tokens import TokenBatch, are_tokens
from skstruct.spaces import Known
from skstruct.spaces.partial import PartialOutputs
from skstruct.tolerances import CHAIN_GRADIENT_ACCURACY

FIRST_SEQUENCES = 2000  # that are learned from in memory, before all are read
BLOCK_SEQUENCES = 5000  # of a block; larger ones are cut


def blocks_of(source: Any) -> Iterator[Any]:
    """The blocks of all partitions, in order."""
    for partition in source.partitions():
        yield from partition.blocks(BLOCK_SEQUENCES)


@dataclass
class FirstSequences:
    """What one pass over a source has told: some sequences to begin with, and how many there are.

    Attributes
    ----------
    X, y, weight : lists, of the sequences that are kept
    n_rows, total : int and float, number of all sequences and their weight
    """

    X: list[Any] = field(default_factory=list)
    y: list[Any] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    n_rows: int = 0
    total: float = 0.0

    @classmethod
    def of(cls, source: Any) -> "FirstSequences":
        found, symbols, lengths = cls(), set[Any](), set[int]()
        for block in blocks_of(source):
            if block.y is None:
                raise ValueError(f"{block.where}: blocks of a source are (X, y) or (X, y, weight).")
            if not are_tokens(block.X):
                raise ValueError(
                    f"{block.where}: ExponentialFamily reads blocks of sequences with a row of "
                    "features per position; other inputs are learned from in memory."
                )
            weights = np.ones(len(block)) if block.weight is None else np.asarray(block.weight)
            for x, y, weight in zip(block.X, block.y, weights.tolist()):
                longest, shortest = max(lengths, default=-1), min(lengths, default=len(y) + 1)
                new = not symbols.issuperset(y) or not shortest <= len(y) <= longest
                if new or found.n_rows < FIRST_SEQUENCES:
                    found.X.append(x)
                    found.y.append(y)
                    found.weight.append(weight)
                    symbols.update(y)
                    lengths = {min(shortest, len(y)), max(longest, len(y))}
                found.n_rows += 1
            found.total += float(weights.sum())
        return found


class StreamedChains:
    """Objective and gradient of all sequences of a source; see :class:`ChainModel`.

    Parameters
    ----------
    learner : ExponentialFamily, fitted to the first sequences
    source : Source, which can be read again
    total : float
        Weight of all sequences.
    alpha : float
    """

    accuracy = CHAIN_GRADIENT_ACCURACY

    def __init__(self, learner: Any, source: Any, total: float, alpha: float) -> None:
        self.learner, self.source, self.total, self.alpha = learner, source, total, alpha

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient, by a pass over the source."""
        p = len(self.learner.scores_.weights_)
        value, gradient = penalty(theta, self.alpha, p, bool(self.learner.fit_intercept))
        for model in self._models():
            part, of_part = model.value_and_gradient(theta)
            value += part
            gradient += of_part
        return value, gradient

    def _models(self) -> Iterator[ChainModel]:
        """The likelihood of every block, without a penalty."""
        learner = self.learner
        for block in blocks_of(self.source):
            batch = read_inputs(learner, block.X)
            outputs, partial = _read(learner.space_, block.y)
            check_positions(batch, learner.space_, outputs)
            assert isinstance(batch, TokenBatch)
            weight = np.ones(len(batch)) if block.weight is None else np.asarray(block.weight)
            tokens = learner.features_map_.mapped(batch.tokens)
            given = (
                learner.space_, tokens, batch.starts, outputs, weight / self.total, 0.0,
                bool(learner.fit_intercept),
            )  # fmt: skip
            if partial is None:
                yield ChainModel(*given)
            else:
                allowed, is_open = partial.allowed, ~partial.complete
                yield PartialChainModel(*given, allowed=allowed, is_open=is_open)


def _read(space: Any, y: Any) -> tuple[np.ndarray, PartialOutputs | None]:
    """Sequences of a block, and what is known of them where symbols are missing."""
    if not Known.of(space).has_gaps(y):
        return space.validate(y), None
    partial = Known.of(space).read_further(y)
    return (partial.outputs, partial) if not partial.complete.all() else (partial.outputs, None)
