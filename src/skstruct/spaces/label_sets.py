# SPDX-License-Identifier: BSD-3-Clause
"""Subsets of a fixed set of labels."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct.decoding.binary_programs import BinaryProgram
from skstruct.decoding.dag import Dag
from skstruct.decoding.subsets import cheapest_subsets, keep_group_winners, threshold
from skstruct.spaces.forms import check_distinct
from skstruct.spaces.free_subsets import FreeSubsets
from skstruct.spaces.indicators import IndicatorSpace
from skstruct.spaces.limits import Limits, check_size
from skstruct.spaces.programs import decode_rows, limit_constraints


class LabelSets(IndicatorSpace):
    r"""Subsets of a fixed set of labels, as 0/1 vectors.

    A subset is its own embedding, :math:`\psi(z) = z`, so that minimizing
    :math:`\langle c, \psi(z) \rangle` takes every label of negative cost; with limits
    on the size, the cheapest so many. Always exact.

    Parameters
    ----------
    labels : sequence, default=None
        Names of the labels, in the order of the columns; learned from ``Y`` when None.
    min_size, max_size : int, default=0 and None
        Limits on the number of labels in a *predicted* set. Training sets may break them.
    limits : Limits, default=None
        Further limits, made by :meth:`restrict`.

    Examples
    --------
    >>> import numpy as np
    >>> space = LabelSets().fit([{"beach", "sunset"}, {"city"}])
    >>> space.labels_
    ('beach', 'city', 'sunset')
    >>> space.argmin(np.array([[0.3, -2.0, -0.1]])).outputs
    array([[0, 1, 1]], dtype=int8)
    >>> space.restrict(max_size=1).argmin(np.array([[0.3, -2.0, -0.1]])).values
    array([-2.])
    >>> space.size(), space.restrict(exclusive=[["beach", "city"]]).size()
    (8, 6)
    """

    _named_by: ClassVar = {"labels": "labels_"}
    _limits_rest_on = ("min_size", "max_size")

    def __init__(self, labels=None, min_size=0, max_size=None, *, limits=None):
        self.labels = labels
        self.min_size = min_size
        self.max_size = max_size
        self.limits = limits

    def fit(self, Y):
        self._forget()
        known = None if self.labels is None else self.labels_
        _, learned, form = self._read(Y, known)
        if self.limits is not None and self.limits.low.shape[1] != len(learned):
            raise ValueError(
                f"LabelSets was restricted for {self.limits.low.shape[1]} labels; Y has "
                f"{len(learned)}."
            )
        self.learned_labels_, self.form_ = learned, form
        return self

    @property
    def labels_(self) -> tuple:
        if self.labels is not None:
            return self._given_labels
        if not hasattr(self, "learned_labels_"):
            raise NotFittedError("LabelSets learns its labels from Y: call fit, or give labels.")
        return self.learned_labels_

    @cached_property
    def _given_labels(self) -> tuple:
        return check_distinct(self.labels, "LabelSets")

    @cached_property
    def dag_(self) -> Dag:
        return Dag(len(self.labels_), [], [])

    @property
    def limits_(self) -> Limits:
        limits = Limits.none(len(self.labels_)) if self.limits is None else self.limits
        smallest = check_size(self.min_size, "min_size", "LabelSets")
        largest = check_size(self.max_size, "max_size", "LabelSets")
        return replace(
            limits,
            smallest=limits.smallest if smallest is None else max(limits.smallest, smallest),
            largest=limits.largest if largest is None else min(limits.largest, largest),
        )

    def _decode(self, costs, limits):
        if not (limits.is_masked or limits.is_sized or limits.groups):
            outputs = threshold(costs)
            values = np.minimum(costs, 0.0).sum(axis=1)
            return outputs, values, values
        low, high = limits.low, limits.high
        if limits.groups:
            if not self._sibling_groups(limits):
                program = BinaryProgram(*limit_constraints(self.dag_, limits))
                return decode_rows(program, costs, low, high)
            outvoted = keep_group_winners(costs, low, high, limits.groups)
            # A forbidden label that must be in shows as infeasible below.
            low, high = np.broadcast_to(low, costs.shape), outvoted
        outputs, feasible = cheapest_subsets(costs, low, high, limits.smallest, limits.largest)
        values = np.where(feasible, (costs * outputs).sum(axis=1), np.inf)
        return outputs, values, values

    # ------------------------------------------------------------- all outputs
    def _uniform(self):
        limits = self._one_row()
        return self._forest_paths(limits) if limits.groups else _free_subsets(limits)

    def _count_within(self, low, high):
        limits = self._one_row().within(low, high)
        return super()._count_within(low, high) if limits.groups else _free_subsets(limits).total

    def covariance(self):
        """Covariance of the indicators: two eigenvalues at most where labels are alike."""
        self._check_not_empty()
        limits = self._one_row()
        alike = None if limits.groups else _free_subsets(limits).covariance()
        return super().covariance() if alike is None else alike

    def sibling(self, Z):
        """The complement of each set: together they are all labels."""
        if self.limits_.is_masked or self.limits_.is_sized or self.limits_.groups:
            raise ValueError("LabelSets: complements may leave a space with limits.")
        return 1 - np.asarray(Z)


def _free_subsets(limits: Limits) -> FreeSubsets:
    return FreeSubsets(limits.low[0], limits.high[0], limits.smallest, limits.largest)
