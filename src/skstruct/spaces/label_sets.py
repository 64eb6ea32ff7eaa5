# SPDX-License-Identifier: BSD-3-Clause
"""Subsets of a fixed set of labels."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct.decoding.binary_programs import BinaryProgram
from skstruct.decoding.dag import Dag
from skstruct.decoding.subsets import cheapest_subsets, keep_group_winners, threshold
from skstruct.spaces.forms import check_distinct
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
        if self.limits is not None:
            return self.limits
        free = np.zeros((1, len(self.labels_)), bool)
        return Limits.none(free.shape[1]).narrow(
            low=free,
            high=~free,
            min_size=check_size(self.min_size, "min_size", "LabelSets"),
            max_size=check_size(self.max_size, "max_size", "LabelSets"),
            groups=(),
            one_path=False,
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

    # Closed forms of the moments; the general ones count label by label.
    def _is_symmetric(self):
        """(number of free labels, distribution of how many of them are in), or None."""
        limits = self._one_row()
        if limits.groups or (limits.low & ~limits.high).any() or not self._count:
            return None
        forced, free = int(limits.low.sum()), int((limits.high & ~limits.low).sum())
        ways, shares = 1, []
        for s in range(free + 1):
            shares.append(ways if limits.smallest <= s + forced <= limits.largest else 0)
            ways = ways * (free - s) // (s + 1)
        return free, np.array([share / self._count for share in shares])

    def mean_embedding(self):
        symmetric = self._is_symmetric()
        if symmetric is None:
            return super().mean_embedding()
        free, share = symmetric
        chance = share @ np.arange(free + 1) / max(free, 1)
        limits = self.limits_
        return np.where(limits.low[0], 1.0, np.where(limits.high[0], chance, 0.0))

    def second_moment(self):
        symmetric = self._is_symmetric()
        if symmetric is None:
            return super().second_moment()
        free, share = symmetric
        s = np.arange(free + 1)
        both = share @ (s * (s - 1)) / max(free * (free - 1), 1)
        mean, limits = self.mean_embedding(), self.limits_
        moment = np.outer(mean, mean)  # right wherever one of the two is known
        open_ = limits.high[0] & ~limits.low[0]
        moment[np.ix_(open_, open_)] = both
        np.fill_diagonal(moment, mean)
        return moment

    def sample(self, n, rng):
        symmetric = self._is_symmetric()
        if symmetric is None:
            return super().sample(n, rng)
        rng, (free, share) = np.random.default_rng(rng), symmetric
        outputs = np.repeat(self.limits_.low.astype(np.int8), n, axis=0)
        open_ = np.flatnonzero(self.limits_.high[0] & ~self.limits_.low[0])
        size = rng.choice(free + 1, size=n, p=share / share.sum())
        rank = rng.random((n, free)).argsort(axis=1).argsort(axis=1)
        outputs[:, open_] = rank < size[:, None]
        return outputs
