# SPDX-License-Identifier: BSD-3-Clause
"""Targets of outputs that are known in part, by what the known parts say of the others."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstruct._arrays.progress import announce
from skstruct.saving import savable
from skstruct.smoothing.masked_ridge import MaskedRidge
from skstruct.smoothing.scaled import Scaled
from skstruct.tolerances import FILLING_RESIDUAL

MOST = 8  # times that targets are filled
SAME = 0.01  # root mean square by which they still change, relative to that of the first filling


@savable
@dataclass
class Filling:
    """How the fixed point of filling was approached."""

    changes: list[float] = field(default_factory=list)  # root mean square of each round
    n_filled: int = 0  # numbers that were filled


def fill_targets(problem: Any, X: Any, sample_weight: Any = None) -> Filling | None:
    r"""Fill what is not known by its means given the inputs *and* the parts that are known.

    .. math:: t_{ij} = E[\psi_j(Y) \mid x_i, \text{known parts of } y_i]

    A known child says that its parents are in, and a parent that is out says it of all below; rows
    in which that is so are no fair sample of the rows in which the parent, or the child, was looked
    at. So they are not just added to these: means are estimated from what was observed, first, and
    then by turns from all rows, filled by the conditional means that follow. Where parts say
    nothing of each other, filling by means changes nothing, and nothing is done.

    Parameters
    ----------
    problem : MaskedProblem
        Its ``filling`` is set.
    X : array or CSR of shape (n, p)

    Returns
    -------
    Filling, or None where nothing was done
    """
    n = len(problem.outputs)
    if problem.fill(np.zeros((n, problem.width + 1))) is None:
        return None
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    ridge = Scaled(MaskedRidge(tol=FILLING_RESIDUAL)).fit(X, problem.targets(), **weight)
    found, last = Filling(), problem.mean_targets(np.ones(n))[:, :-1]
    gaps = ~problem.observed & problem.partial.known.any(axis=1)[:, None]
    found.n_filled = int(gaps.sum())
    for _ in range(MOST):
        problem.filling = problem.fill(ridge.predict(X))
        moved = (problem.filling - last)[gaps]
        found.changes.append(float(np.sqrt(np.mean(moved**2))) if moved.size else 0.0)
        if found.changes[-1] <= SAME * found.changes[0]:
            break
        last = problem.filling
        ridge = ridge.with_targets(problem.targets())
    announce(f"{found.n_filled:,} unknown parts filled in {len(found.changes)} rounds")
    return found
