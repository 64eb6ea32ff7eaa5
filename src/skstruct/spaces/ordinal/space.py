# SPDX-License-Identifier: BSD-3-Clause
"""One level of an ordered scale."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from skstruct.saving import savable
from skstruct.spaces.common.counting import StateConstraints
from skstruct.spaces.common.formats import check_distinct, plain_name, unknown_label
from skstruct.spaces.common.label_graph import LabelGraph
from skstruct.spaces.constraints import is_label, label_mask
from skstruct.spaces.description import Description
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.poset.space import Poset
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.uniform import Uniform


@savable
class Ordinal(Poset):
    r"""One of d ordered levels, :math:`\psi_i(z) = 1[z \ge i]` for i = 1, ..., d.

    The Hamming loss is then how many levels a prediction is off, :math:`|z - y|`, and a weight
    of level i is what the step from the level before it costs. Always exact, in O(d).

    Canonical outputs are the rows psi, 0/1 of shape (n, d). The user writes one level per row.

    Parameters
    ----------
    levels : sequence, default=None
        The levels from the lowest to the highest. When None: the categories of an ordered
        pandas Categorical, whether they occur or not, else the sorted distinct values of ``Y``.
    constraints : StateConstraints, default=None
        What :meth:`restrict` sets.

    Examples
    --------
    >>> space = Ordinal(["low", "medium", "high"]).fit(["low", "high"])
    >>> space.validate(["low", "high"])
    array([[1, 0, 0],
           [1, 1, 1]], dtype=int8)
    >>> costs = np.array([[0.0, -0.5, 0.2]])
    >>> space.restore(space.argmin(costs).outputs)
    array(['medium'], dtype='<U6')
    >>> narrow = space.restrict(max_level="low")
    >>> narrow.restore(narrow.argmin(costs).outputs)
    array(['low'], dtype='<U6')
    >>> Uniform.of(space).mean_embedding().round(3)
    array([1.   , 0.667, 0.333])

    References
    ----------
    The counts are those of S. Vembu, "Learning to predict combinatorial structures" (2010),
    section 4.3, with :math:`\Psi_i = d - i + 1` and :math:`C_{ij} = d - \max(i, j) + 1`.
    """

    element = "level"
    _constraints_rest_on = ("levels",)
    leaves_only = False

    def __init__(
        self, levels: Iterable[Any] | None = None, *, constraints: StateConstraints | None = None
    ) -> None:
        self.levels = levels
        self.constraints = constraints

    @cached_property
    def _given_graph(self) -> LabelGraph | None:
        return None if self.levels is None else _chain(self.levels)

    def _keep_names(self) -> None:
        if self.levels is None:
            self.levels, self._given_graph = self.labels_, self._graph

    def _learned(self, Y: Any) -> LabelGraph:
        dtype: Any = getattr(Y, "dtype", None)
        if getattr(dtype, "ordered", False):
            return _chain(dtype.categories)
        names, _ = self._names(Y)
        try:
            return _chain(sorted(set(names)))
        except TypeError as error:
            raise ValueError(
                f"Ordinal: these levels have no order of their own ({error}); give levels."
            ) from None

    def _has_paths(self, Y: Any, labels: set[Any]) -> bool:
        return False

    def restrict(  # type: ignore[override]  # levels have bounds in the place of ``include``
        self, *, min_level: Any = None, max_level: Any = None, exclude: Any = None
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        min_level, max_level : level, or list of one level (or None) per row
            Lowest and highest level that may be predicted.
        exclude : levels, the same for all rows or a collection per row
            Levels that are not predicted; those around them still are.
        """
        low = self._bound(min_level, "min_level", 0)
        high = self._bound(max_level, "max_level", len(self.labels_) - 1)
        level = np.arange(len(self.labels_))
        barred = label_mask(exclude, self.labels_, "exclude", "Ordinal")
        constraints = self.constraints_.narrow(level >= low).narrow(level <= high)
        return self._limited(constraints.narrow(~barred))

    def _bound(self, given: Any, argument: str, default: int) -> np.ndarray:
        """Numbers of one level or of several; shape (number of these, 1)."""
        number = {name: j for j, name in enumerate(self.labels_)}
        several = isinstance(given, (list, np.ndarray)) or hasattr(given, "iloc")
        numbers = []
        for name in given if several else [given]:
            if name is not None and not is_label(name, number):
                raise ValueError(unknown_label(f"{argument} holds", name, self.labels_, "Ordinal"))
            numbers.append(default if name is None else number[name])
        if not numbers:
            raise ValueError(f"Ordinal: {argument} is a level, or one per row; got none.")
        return np.array(numbers, dtype=np.int64)[:, None]

    def _element_costs(self, costs: np.ndarray) -> np.ndarray:
        return costs.cumsum(axis=1)

    def _marginals(self, probabilities: np.ndarray) -> np.ndarray:
        return probabilities[:, ::-1].cumsum(axis=1)[:, ::-1]

    def psi(self, numbers: np.ndarray) -> np.ndarray:
        below = np.arange(len(self.labels_)) <= np.asarray(numbers)[..., None]
        return below.astype(np.int8)

    def numbers(self, Z: np.ndarray) -> np.ndarray:
        """The highest level that is marked; shape (n,)."""
        d = len(self.labels_)
        return d - 1 - np.argmax(np.asarray(Z)[:, ::-1] != 0, axis=1)


def _chain(levels: Any) -> LabelGraph:
    if isinstance(levels, (set, frozenset)):
        raise ValueError("Ordinal: levels are listed from the lowest up; a set has no order.")
    if not isinstance(levels, Iterable):
        raise ValueError(f"Ordinal: levels are a list from the lowest up; got {levels!r}.")
    names = levels.tolist() if hasattr(levels, "tolist") else list(levels)
    names = list(map(plain_name, names))
    if not names:
        raise ValueError("Ordinal: there are no levels.")
    below = np.arange(1, len(names))
    return LabelGraph(check_distinct(names, "Ordinal"), np.column_stack([below - 1, below]))


Description.at(Ordinal, "skstruct.spaces.ordinal.description:DescriptionOfLevels")
Marginals.at(Ordinal, "skstruct.spaces.ordinal.marginals:MarginalsOfLevels")
SklearnTarget.at(Ordinal, "skstruct.spaces.sklearn_target:OneLevel")
Uniform.at(Ordinal, "skstruct.spaces.ordinal.uniform:UniformOfLevels")
