# SPDX-License-Identifier: BSD-3-Clause
r"""Outputs one by one: all that are not far from the best.

An output is a :math:`(1 - \nu)` z-approximation where its cost is at most

.. math:: T = (1 - \nu) \min + \nu \max,

the extremes being those over the space: a measure that adding a constant to all costs, or
turning their signs, leaves as it is.

Where outputs come in pairs of siblings z, r(z) with :math:`\psi(z) + \psi(r(z)) = s` for all of
them, the most expensive output is the sibling of the one of least cost, so that max = <c, s> - min.
For :math:`\nu = 1/2` then :math:`T = \langle c, s \rangle / 2`: known without any optimization, and
the better of two siblings always passes.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct._arrays.checks import LARGEST_SUM, check_costs
from skstruct.exceptions import UndecidableError
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.uniform import Uniform
from skstruct.tolerances import TIE

SHORT = 10**4  # outputs that are listed and sorted rather than asked for in batches
BATCH = 4  # the first batch; each is twice as large as the one before
BLOCK = 1024  # outputs that are embedded at once


def approximate_enumeration(
    space: Any, costs: Any, nu: float
) -> Iterator[tuple[np.ndarray, float]]:
    r"""Outputs z with :math:`\langle c, \psi(z) \rangle \le (1 - \nu) \min + \nu \max`, each once.

    1. A short space is listed and sorted: the minimum-cost come first.
    2. A space that knows its k best is asked for more and more of them: the minimum-cost come
       first, and nothing else is listed.
    3. Other spaces are gone through, all of them, in their own order. With siblings and
       :math:`\nu \ge 1/2` the next output is never far: of each pair at least one passes.

    Nothing in the set is missed. The set is exact in (1), in (2) with exact decoders, and in
    (3) with siblings and :math:`\nu = 1/2`. Where a decoder leaves a gap to its bound, T is
    known up to that gap and its upper end is used: outputs may then come that cost more than
    T by :math:`(1 - \nu)` times the gap of the best and :math:`\nu` times that of the worst.

    Parameters
    ----------
    space : fitted space
        The same in all rows, with ``kbest`` or ``enumerate``.
    costs : array of shape (d,) or (1, d)
    nu : float from 0 to 1
        0 for the best outputs alone, 1 for all.

    Yields
    ------
    output, value
        In canonical form, with its cost.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> for z, value in approximate_enumeration(LabelSets(["a", "b"]), [1.0, -2.0], 0.5):
    ...     print(z, value)
    [0 1] -2.0
    [1 1] -1.0

    References
    ----------
    S. Vembu, "Learning to predict combinatorial structures" (2010), section 5.4.2.
    """
    if not 0 <= nu <= 1:
        raise ValueError(f"nu is between 0 and 1; got {nu!r}.")
    costs = np.atleast_2d(np.asarray(costs, dtype=np.float64))
    if len(costs) != 1:
        raise ValueError(f"Outputs are listed for one row of costs; got shape {costs.shape}.")
    has_best, uniform = hasattr(space, "kbest"), Uniform.of(space)
    if not has_best and not uniform.lists:
        raise ValueError(f"{type(space).__name__} can list neither its outputs nor the best ones.")
    if _is_short(uniform):
        return _from_list(space, costs, nu)
    if has_best and space.guarantee.kind == "exact":
        return _from_batches(space, costs, nu)
    return (_from_stream if uniform.answers("stream") else _from_list)(space, costs, nu)


def _is_short(uniform: Uniform) -> bool:
    try:
        return uniform.lists and 0 < uniform.size() <= SHORT
    except UndecidableError:  # it cannot be counted
        return False


def _costs_of(space: Any, Z: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """What each output costs; shape (n,)."""
    blocks = (space.embed(Z[start : start + BLOCK]) for start in range(0, len(Z), BLOCK))
    name = type(space).__name__
    parts = [psi @ check_costs(costs, psi.shape[1], used_by=name)[0] for psi in blocks]
    return np.concatenate([*parts, np.empty(0)])


def _from_list(space: Any, costs: np.ndarray, nu: float) -> Iterator[tuple[np.ndarray, float]]:
    listed = Uniform.of(space).enumerate()
    check_feasible(np.array([len(listed) > 0]), space)
    values = _costs_of(space, listed, costs)
    least, most = values.min(), values.max()
    for i in np.argsort(values, kind="stable"):
        if values[i] > (1 - nu) * least + nu * most + _slack(costs, least, most):
            return
        yield listed[i], float(values[i])


def _from_batches(space: Any, costs: np.ndarray, nu: float) -> Iterator[tuple[Any, float]]:
    siblings = _sibling_cost(space, costs, space.argmin(costs).outputs)
    limit, seen, k = _threshold(space, costs, nu, siblings), set(), BATCH
    while True:
        best = space.kbest(costs, k)
        for z, value in zip(best.outputs[0], best.values[0].tolist()):
            if value > limit:
                return
            key = np.ascontiguousarray(z).tobytes()  # ties may come in another order
            if math.isfinite(value) and key not in seen:
                seen.add(key)
                yield z, value
        if best.values.shape[1] < k:
            return
        k *= 2


def _from_stream(space: Any, costs: np.ndarray, nu: float) -> Iterator[tuple[np.ndarray, float]]:
    uniform = Uniform.of(space)
    siblings = _sibling_cost(space, costs, next(uniform.stream(1)))
    limit = _threshold(space, costs, nu, siblings)
    for Z in uniform.stream(BLOCK):
        if siblings is not None:
            Z = Z[_comes_first(Z, uniform.sibling(Z))]
            Z = np.stack([Z, uniform.sibling(Z)], axis=1).reshape(-1, *Z.shape[1:])
        values = _costs_of(space, Z, costs)
        for i in np.flatnonzero(values <= limit):
            # An output that is its own sibling stands twice.
            if siblings is None or i % 2 == 0 or not np.array_equal(Z[i], Z[i - 1]):
                yield Z[i], float(values[i])


def _threshold(space: Any, costs: np.ndarray, nu: float, siblings: float | None) -> float:
    """An upper bound of T, rounding allowed for; T itself where decoders are exact."""
    if siblings is not None and nu == 0.5:
        return 0.5 * siblings + _slack(costs, siblings)
    best = space.argmin(costs)
    if siblings is None:
        least, most = float(best.values[0]), -float(space.argmin(-costs).bounds[0])
    else:
        # T = nu <c, s> + (1 - 2 nu) min, which falls in min for nu > 1/2.
        least = float((best.values if nu < 0.5 else best.bounds)[0])
        most = siblings - least
    return (1 - nu) * least + nu * most + _slack(costs, least, most)


def _sibling_cost(space: Any, costs: np.ndarray, some: np.ndarray) -> float | None:
    """<c, s>, what an output and its sibling cost together; None for spaces without siblings."""
    if getattr(space, "constraints", None) is not None:
        return None
    try:
        both = np.concatenate([some[:1], Uniform.of(space).sibling(some[:1])])
    except ValueError:  # this embedding has none
        return None
    return float(_costs_of(space, both, costs).sum())


def _comes_first(Z: np.ndarray, siblings: np.ndarray) -> Any:
    """Which outputs stand for their pair, being the smaller in the first entry that differs."""
    A, B = Z.reshape(len(Z), -1), siblings.reshape(len(Z), -1)
    differ = A != B
    at = np.arange(len(Z)), differ.argmax(axis=1)
    return (A[at] < B[at]) | ~differ.any(axis=1)


def _slack(costs: np.ndarray, *values: Any) -> float:
    return float(TIE * max(float(np.abs(costs).sum()), *(abs(value) for value in values)))


def check_scores(scores: Any, space: Any, width: int | None = None) -> np.ndarray:
    """Finite scores of shape (n, d), C-contiguous; one row may come as (d,).

    A distribution computes from them later too: they are its own, whatever happens to the argument.
    """
    name = type(space).__name__
    own: np.ndarray = np.array(scores, dtype=np.float64, order="C", ndmin=1)
    if own.ndim == 1:
        own = own[None]
    if own.ndim != 2:
        raise ValueError(f"{name} expects scores of shape (n, d); got shape {own.shape}.")
    limit = LARGEST_SUM / max(own.shape[1], 1)
    largest = np.maximum(own.max(initial=0.0), -own.min(initial=0.0))
    if not largest <= limit:
        row, column = np.argwhere(~(np.abs(own) <= limit))[0]
        raise ValueError(
            f"{name}: exp(scores) cannot be normalised: scores are finite, at most {limit:.3g}; "
            f"scores[{row}, {column}] is {own[row, column]}."
        )
    if width is not None:
        check_width(own, width, space)
    return own


def check_width(scores: np.ndarray, width: int, space: Any) -> None:
    """Raise where there is not one score for every coordinate."""
    if scores.shape[1] != width:
        raise ValueError(
            f"{type(space).__name__} expects scores of shape (n, {width}), one for every "
            f"coordinate of {space.embedding}; got shape {scores.shape}."
        )
