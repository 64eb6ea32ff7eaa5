# SPDX-License-Identifier: BSD-3-Clause
r"""Markov chains of few outputs as matrices: their steps, their spectrum, their mixing time.

A Metropolis chain proposes v at u with probability q(u, v) = q(v, u) and accepts with
:math:`\min(1, p(v) / p(u))`, so that :math:`p(u) P(u, v) = p(v) P(v, u)`. Everything here is exact,
for spaces whose outputs can be listed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from skstruct.sampling.chains import chosen_proposals, values_of
from skstruct.sampling.metropolis import one_row_of_scores
from skstruct.spaces import Enumerable
from skstruct.spaces.solvers.proposals import Proposals

MOST_OUTPUTS = 2000  # a matrix of four million numbers


def metropolis_matrix(q: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Transitions of the chain with proposals q (n, n) and scores f (n,); shape (n, n).

    >>> metropolis_matrix(np.full((2, 2), 0.5), np.log([1.0, 3.0]))
    array([[0.5       , 0.5       ],
           [0.16666667, 0.83333333]])
    """
    P: np.ndarray = q * np.exp(np.minimum(f[None] - f[:, None], 0.0))
    np.fill_diagonal(P, 0.0)
    np.fill_diagonal(P, 1.0 - P.sum(axis=1))
    return P


def meta_matrix(f: np.ndarray) -> np.ndarray:
    """Transitions where proposals are drawn uniformly; shape (n, n)."""
    return metropolis_matrix(np.full((len(f), len(f)), 1.0 / len(f)), f)


def cube_matrix(f: np.ndarray) -> np.ndarray:
    """Transitions where a random label is set to a random bit; f[k] scores the bits of k."""
    size = len(f)
    d, here = size.bit_length() - 1, np.arange(size)
    q = np.zeros((size, size))
    for i in range(d):
        q[here, here ^ (1 << i)] = 1.0 / (2 * d)
    return metropolis_matrix(q, f)


def lazy(P: np.ndarray) -> np.ndarray:
    """The chain that stays where it is with probability 1/2 before every step."""
    return (P + np.eye(len(P))) / 2


def probabilities(f: np.ndarray) -> np.ndarray:
    """exp(f) / Z; shape (n,)."""
    return np.exp(f - logsumexp(f))


def second_eigenvalue(P: np.ndarray) -> float:
    """The largest size of an eigenvalue but the first, of a reversible chain."""
    if len(P) < 2:
        return 0.0
    # p(u) P(u, v) = p(v) P(v, u): sqrt(P * P') is similar to P, and has no large numbers.
    values = np.linalg.eigvalsh(np.sqrt(P * P.T))
    return float(max(abs(values[0]), values[-2]))


def distance(P: np.ndarray, p: np.ndarray) -> float:
    """Total variation between rows of P and p, from the worst start."""
    return float(0.5 * np.abs(P - p).sum(axis=1).max())


def mixing_time(P: np.ndarray, p: np.ndarray, eps: float) -> int:
    """The first t at which P^t is within eps of p, wherever the chain began.

    Distances never grow, so that powers of two and bisection find it.
    """
    if distance(np.eye(len(P)), p) <= eps:
        return 0
    powers = [P]  # P^(2^k)
    while distance(powers[-1], p) > eps:
        if len(powers) > 60:
            raise ValueError("The chain does not reach its distribution: it is cut in parts, or "
                             "goes to and fro between two of them.")  # fmt: skip
        powers.append(_normalised(powers[-1] @ powers[-1]))
    if len(powers) == 1:
        return 1
    t: int = 2 ** (len(powers) - 2)  # the last power known to be too early
    reached = powers[-2]
    for k in range(len(powers) - 3, -1, -1):
        farther = _normalised(reached @ powers[k])
        if distance(farther, p) > eps:
            t, reached = t + 2**k, farther
    return t + 1


def _normalised(P: np.ndarray) -> np.ndarray:
    """Rounding errors would add up over millions of steps."""
    return P / P.sum(axis=1, keepdims=True)


def cube_contraction(f: np.ndarray) -> float:
    r"""The factor of path coupling on label sets, where both chains get the same label and bit.

    With :math:`a_i(u) = \min(1, p(u^i) / p(u))`, the largest of
    :math:`1 - (a_j(u) + a_j(u^j) - \sum_{i \ne j} |a_i(u) - a_i(u^j)|) / (2d)`; below one where
    distances shrink on average.
    """
    size = len(f)
    d, here = size.bit_length() - 1, np.arange(size)
    accept = np.array([np.exp(np.minimum(f[here ^ (1 << i)] - f, 0.0)) for i in range(d)])
    worst = -np.inf
    for j in range(d):
        other = accept[:, here ^ (1 << j)]
        apart = np.abs(accept - other).sum(axis=0) - np.abs(accept[j] - other[j])
        worst = max(worst, float((1 - (accept[j] + other[j] - apart) / (2 * d)).max()))
    return worst


@dataclass(frozen=True, eq=False)
class SmallChain:
    """All outputs of a space, the probabilities p and the transitions P of a chain among them.

    Attributes
    ----------
    outputs : array (n, ...), in canonical form
    f, p : arrays (n,), scores and probabilities
    P : array (n, n)
    """

    outputs: np.ndarray
    f: np.ndarray
    p: np.ndarray
    P: np.ndarray

    @classmethod
    def of(
        cls,
        space: Any,
        scores: Any,
        proposals: str | Proposals | np.ndarray = "auto",
        beta: float = 1.0,
        max_outputs: int = MOST_OUTPUTS,
    ) -> "SmallChain":
        """That of :class:`~.metropolis.Metropolis`, or of a matrix of proposals."""
        name = type(space).__name__
        if not isinstance(space, Enumerable):
            raise ValueError(f"{name} is not Enumerable: it has no enumerate() to list outputs.")
        scores = one_row_of_scores(scores, space)
        if hasattr(space, "log_size") and space.log_size() > np.log(max_outputs):
            raise ValueError(
                f"{name} has about {np.exp(min(space.log_size(), 700.0)):.3g} outputs, more than "
                f"max_outputs = {max_outputs:,}: take a smaller case of the same kind."
            )
        outputs = np.asarray(space.enumerate())
        f = beta * values_of(space, outputs, scores, np.zeros(len(outputs), np.int64))
        q = _proposal_probabilities(space, outputs, proposals)
        return cls(outputs, f, probabilities(f), metropolis_matrix(q, f))


def _proposal_probabilities(space: Any, outputs: np.ndarray, proposals: Any) -> np.ndarray:
    n = len(outputs)
    if isinstance(proposals, np.ndarray):
        q = np.asarray(proposals, dtype=np.float64)
        if q.shape != (n, n) or not np.array_equal(q, q.T) or not (q >= 0).all():
            raise ValueError(
                f"A matrix of proposals is symmetric and not negative, of shape {(n, n)} for these "
                f"outputs; got shape {q.shape}."
            )
        if (q.sum(axis=1) > 1 + n * np.finfo(float).eps).any():
            raise ValueError("Rows of proposals are probabilities: some row sums to more than one.")
        return q
    chosen = chosen_proposals(space, proposals)
    told = chosen.proposal_probabilities(outputs)
    if told is None:
        raise ValueError(
            f"{type(chosen).__name__} does not tell the probabilities of its proposals: give "
            f"proposals='meta', or a symmetric matrix of shape {(n, n)} with those of yours."
        )
    return told
