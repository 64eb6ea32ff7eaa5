# SPDX-License-Identifier: BSD-3-Clause
"""The chains of least cost of all rows at once, on tensors: one step of Viterbi after another."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def best_chains(
    unary: Any,
    transitions: Any = None,
    *,
    beginning: Any = None,
    ending: Any = None,
    shortest: int,
    longest: int,
) -> tuple[Any, Any]:
    """As :func:`~.viterbi.best_chains`, of rows with one number of positions.

    Of equally cheap chains the shortest, and then the one with the lowest symbols, read from the
    end.

    Parameters
    ----------
    unary : tensor of shape (n, T, q)
    transitions : tensor of shape (n or 1, T - 1 or 1, q, q), default=None
        Cost of (symbol at t, symbol at t + 1).
    beginning, ending : tensors of shape (q,), default=None
    shortest, longest : int

    Returns
    -------
    symbols : int64 tensor of shape (n, T), -1 behind the end of a chain
    values : tensor of shape (n,)

    Examples
    --------
    >>> unary = torch.tensor([[[0.0, 1.0], [0.5, 0.0]]])
    >>> switch = torch.tensor([[[[0.0, 1.0], [1.0, 0.0]]]])
    >>> best_chains(unary, switch, shortest=2, longest=2)
    (tensor([[0, 0]]), tensor([0.5000]))
    """
    n, T, _ = unary.shape
    totals = unary.new_full((n, T + 1), torch.inf)  # the best chain of each length
    last = torch.zeros((n, T + 1), dtype=torch.int64, device=unary.device)
    if shortest <= 0:
        totals[:, 0] = 0.0
    so_far, came_from = unary[:, 0] if T else None, []
    so_far = so_far if beginning is None else so_far + beginning
    for t in range(min(longest, T)):
        if t:
            arrival, before = _advanced(so_far, transitions, t - 1)
            came_from.append(before)
            so_far = arrival + unary[:, t]
        if t + 1 >= shortest:
            closed = so_far if ending is None else so_far + ending
            totals[:, t + 1], last[:, t + 1] = _least(closed)
    values, length = _least(totals)
    return _traced(came_from, last, length, T), values


def _least(costs: Any, dim: int = 1) -> tuple[Any, Any]:
    """The least cost, and the first that has it."""
    first = costs.argmin(dim)
    return costs.gather(dim, first.unsqueeze(dim)).squeeze(dim), first


def _advanced(so_far: Any, transitions: Any, t: int) -> tuple[Any, Any]:
    """Least cost up to each next symbol, (n, q), and the symbol before it, (n, q) or (n, 1)."""
    if transitions is None:
        least, first = _least(so_far)
        return least[:, None].expand_as(so_far), first[:, None]
    matrix = transitions[:, min(t, transitions.shape[1] - 1)]
    return _least(so_far[:, :, None] + matrix)


def _traced(came_from: list[Any], last: Any, length: Any, T: int) -> Any:
    """Symbols of every chain from its end: (n, T)."""
    symbols = torch.full((len(last), T), -1, dtype=torch.int64, device=last.device)
    here = last[:, :1]
    for t in range(len(came_from), -1, -1):
        if t < len(came_from):
            before = came_from[t]
            here = before if before.shape[1] == 1 else before.gather(1, here)
        here = torch.where((length == t + 1)[:, None], last[:, t + 1 : t + 2], here)
        symbols[:, t] = torch.where(length > t, here[:, 0], -1)
    return symbols


def chains_argmin(
    T: int, q: int, bigrams: bool, walls: dict[str, Any], lengths: tuple[int, int], backend: Any
) -> Callable[..., Any]:
    """Sequences of up to T of q symbols; see ``Solving.tensor_argmin``.

    Parameters
    ----------
    bigrams : bool
        Whether costs of bigrams (T - 1, q, q) come behind those of symbols (T, q).
    walls : dict of arrays
        Zeros, and infinity where something is forbidden: ``unary`` (T, q), ``steps`` (q, q),
        ``beginning`` and ``ending`` (q,). What is free is left out.
    lengths : (shortest, longest)
    """
    barred = {name: backend.asarray(wall, "float64") for name, wall in walls.items()}
    ends = {name: barred.get(name) for name in ("beginning", "ending")}
    shortest, longest = lengths

    def argmin(costs: Any) -> tuple[np.ndarray, Any]:
        n = len(costs)
        unary, steps = costs[:, : T * q].view(n, T, q), None
        if bigrams and T > 1:
            steps = costs[:, T * q :].view(n, T - 1, q, q)
        if "unary" in barred:
            unary = unary + barred["unary"]
        if "steps" in barred:
            steps = barred["steps"][None, None] if steps is None else steps + barred["steps"]
        symbols, values = best_chains(unary, steps, **ends, shortest=shortest, longest=longest)
        return backend.to_host(symbols), values

    return argmin
