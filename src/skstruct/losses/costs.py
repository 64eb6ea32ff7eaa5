# SPDX-License-Identifier: BSD-3-Clause
"""Costs by label or class, given as numbers or found from how often each one occurs."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.by_name import are_named, by_position
from skstruct.losses.base import is_real
from skstruct.spaces import Coordinates, whole_of

Costs: TypeAlias = float | ArrayLike | Mapping[Any, float]  # one, by position, or by name
ClassWeight: TypeAlias = str | ArrayLike | Mapping[Any, float] | None


def named_costs(costs: Any, names: Sequence[Any], what: str, used_by: str) -> np.ndarray:
    """One cost for each name: from a number, a sequence in their order, or a mapping.

    A mapping, or a Series, may leave names out: these cost one.

    Parameters
    ----------
    what : str
        The parameter, for messages.

    Examples
    --------
    >>> named_costs({"rare": 5.0}, ["often", "rare"], "miss", "Hamming")
    array([1., 5.])
    """
    costs = by_position(costs, names, what=what, used_by=used_by, default=1.0)
    if is_real(costs):
        costs = np.full(len(names), costs)
    numbers = _as_floats(costs, what, used_by)
    if numbers.shape != (len(names),):
        raise ValueError(
            f"{used_by}: {what} is a number, a mapping, or {len(names)} numbers, one per label; "
            f"got shape {numbers.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(bad):
        raise ValueError(
            f"{used_by}: {what} of {names[bad[0]]!r} is {numbers[bad[0]]}; costs are finite and "
            "not negative."
        )
    return numbers


def _as_floats(costs: Any, what: str, used_by: str) -> np.ndarray:
    try:
        return np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{used_by}: {what} is made of numbers; got {costs!r:.80}.") from None


def needs_names(costs: Any) -> bool:
    """Whether costs are by name, so that only a space says whose they are."""
    return are_named(costs)


def is_one(costs: Any) -> bool:
    """Whether a cost is the usual one, the same for all."""
    return bool(is_real(costs) and costs == 1)


# Weights of classes.


def is_balanced(class_weight: Any, used_by: str) -> bool:
    """Whether weights follow from how often classes occur; raises for another word."""
    if isinstance(class_weight, str) and class_weight != "balanced":
        raise ValueError(
            f'{used_by}: class_weight is "balanced", a mapping from name to weight, or None; got '
            f"{class_weight!r}."
        )
    return isinstance(class_weight, str)


def balanced_weights(counts: np.ndarray) -> np.ndarray:
    r"""Weights :math:`n / (K n_k)` of K classes with :math:`n_k` of n rows, as in scikit-learn.

    The mean weight of a row is one, and all classes together weigh the same. A class without a row
    weighs one and is not counted in K.

    >>> balanced_weights(np.array([6, 2, 0]))
    array([0.66666667, 2.        , 1.        ])
    """
    counts = np.asarray(counts, dtype=np.float64)
    seen = counts > 0
    weights = np.ones(len(counts))
    weights[seen] = counts.sum() / (seen.sum() * counts[seen])
    return weights


def balanced_labels(indicators: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """:func:`balanced_weights` of every label by itself: of rows with it, and of rows without.

    Of a share p of rows with the label, these are 1 / (2 p) and 1 / (2 - 2 p).

    >>> balanced_labels(np.array([[1, 1], [0, 1], [0, 1], [0, 1]]))
    (array([2., 1.]), array([0.66666667, 1.        ]))
    """
    n_with = np.asarray(indicators).sum(axis=0, dtype=np.float64)
    n = float(len(indicators))
    both = (n_with > 0) & (n_with < n)  # a label that has one class only weighs one
    inside, outside = np.ones(len(n_with)), np.ones(len(n_with))
    inside[both] = n / (2.0 * n_with[both])
    outside[both] = n / (2.0 * (n - n_with[both]))
    return inside, outside


def without_outputs(used_by: str) -> ValueError:
    """What is raised where frequencies are needed and no outputs were seen."""
    return ValueError(
        f'{used_by}: class_weight="balanced" needs outputs of training, which a learner gives it; '
        "by hand, losses.pair(loss, space, outputs) does."
    )


def class_names(space: Any, used_by: str) -> list[Any]:
    """Names of the classes of a space with one of them per row."""
    if not Coordinates.of(space).one_class or len(space.labels_) != len(space.listed_):
        raise ValueError(
            f"{used_by} is for outputs that are one class each, as of Classes; got "
            f"{type(whole_of(space)).__name__}. Labels have costs in Hamming(miss=..., alarm=...)."
        )
    return list(np.asarray(space.labels_).tolist())
