# SPDX-License-Identifier: BSD-3-Clause
"""Linear extensions of a partial order, drawn uniformly whatever their number."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.orders import close_transitively
from skstruct.exceptions import InfeasibleError
from skstruct.walking.streams import new_streams


def sample_linear_extensions(n: int, before: np.ndarray, rng) -> np.ndarray:
    r"""Total orders that agree with a partial one, drawn exactly uniformly and independently.

    Coupling from the past of the chain of neighbors that change places, with a chain that bounds
    all its paths: :math:`O(d^3 \ln d)` steps are expected for a draw.

    Parameters
    ----------
    n : int
        Number of draws.
    before : bool array of shape (d, d)
        ``before[p, q]`` demands that p comes before q.
    rng : int or Generator

    Returns
    -------
    orders : int64 array of shape (n, d), first item first

    Examples
    --------
    >>> before = np.zeros((3, 3), bool)
    >>> before[0, 1] = True
    >>> orders = sample_linear_extensions(600, before, 0)
    >>> np.unique(orders, axis=0, return_counts=True)
    (array([[0, 1, 2], [0, 2, 1], [2, 0, 1]]), array([...]))

    References
    ----------
    M. Huber (2006). Fast perfect sampling from linear extensions. Discrete Mathematics 306.
    """
    from skstruct.walking._compiled_extensions import draw_extensions, words_until_closed

    before = close_transitively(np.asarray(before, dtype=bool)[None])[0]
    d = len(before)
    if before.diagonal().any():
        raise InfeasibleError("The precedences go round in a circle.")
    if d < 2:
        return np.zeros((n, d), np.int64)
    n_after = before.sum(axis=1)
    entering = np.argsort(-n_after, kind="stable")  # whoever comes before others has more after
    latest = d - 1 - n_after[entering]
    rng = np.random.default_rng(rng)
    known = np.pad(before, (0, 1)), entering, latest
    # How long it takes is tried with other random numbers: a length must not depend on the draw.
    tried = [words_until_closed(*known, new_streams(3, rng)) for _ in range(3)]
    streams = new_streams(3 * n, rng).reshape(n, 3, 4)
    orders = np.empty((n, d), np.int64)
    draw_extensions(*known, 1 + int(np.mean(tried) * 1.2), streams, orders)
    return orders
