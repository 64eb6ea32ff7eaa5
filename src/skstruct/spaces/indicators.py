# SPDX-License-Identifier: BSD-3-Clause
"""What label sets and hierarchies share: 0/1 outputs closed in a graph, and limits on them."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from functools import cached_property

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.decoding.dag import Dag
from skstruct.decoding.lawler import k_best
from skstruct.spaces.base import BaseSpace, Decoded, decoded_or_infeasible
from skstruct.spaces.counting import LIMIT, count_dag, count_forest, list_closed_sets
from skstruct.spaces.forms import LabelSetForm, read_label_sets
from skstruct.spaces.limits import Limits, check_size, label_groups, label_mask


class IndicatorSpace(BaseSpace):
    """Sets of named labels as 0/1 rows, each its own embedding.

    A child brings ``labels_``, ``dag_`` (sets hold the parents of their members),
    ``limits_`` and ``_decode``; everything else is here.
    """

    embedding = "indicators"
    default_loss = "hamming"
    limits: Limits | None

    @property
    @abstractmethod
    def labels_(self) -> tuple:
        """Names of the labels, one per column."""

    @property
    @abstractmethod
    def dag_(self) -> Dag:
        """The graph in which sets are closed."""

    @property
    def limits_(self) -> Limits:
        """What predicted sets must obey."""
        return Limits.none(len(self.labels_)) if self.limits is None else self.limits

    @abstractmethod
    def _decode(self, costs, limits: Limits):
        """Outputs, values (infinite where infeasible) and bounds."""

    # ------------------------------------------------------------- the user's form
    @property
    def _form(self) -> LabelSetForm:
        return getattr(self, "form_", LabelSetForm())

    def _read(self, Y, labels):
        return read_label_sets(Y, labels, used_by=type(self).__name__)

    def fit(self, Y):
        _, _, self.form_ = self._read(Y, self.labels_)
        return self

    def validate(self, Y):
        """Outputs in canonical form: an int8 array of shape (n, d), one column per label."""
        return self._read(Y, self.labels_)[0]

    def restore(self, Z, index=None):
        """Canonical outputs in the form that was seen in ``fit``."""
        return self._form.write(np.asarray(Z), self.labels_, index)

    def embed(self, Z):
        return np.asarray(Z, dtype=np.float64)

    # ------------------------------------------------------------- limits
    def rows(self, index):
        if self.limits_.n_rows is None:
            return self
        return self._limited(self.limits_.rows(index))

    def restrict(self, *, include=None, exclude=None, min_size=None, max_size=None, exclusive=None):
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : label names, the same for all rows or a collection per row
            Labels known to be in and known to be out; also 0/1 arrays of shape (n, d).
        min_size, max_size : int
            Limits on the number of labels.
        exclusive : list of groups of label names
            At most one label of each group.
        """
        return self._narrowed(include, exclude, min_size, max_size, self._groups(exclusive), False)

    def _groups(self, exclusive):
        return label_groups(exclusive, self.labels_, type(self).__name__)

    def _narrowed(self, include, exclude, min_size, max_size, groups, one_path):
        name = type(self).__name__
        low = label_mask(include, self.labels_, "include", name)
        high = ~label_mask(exclude, self.labels_, "exclude", name)
        sizes = {
            "min_size": check_size(min_size, "min_size", name),
            "max_size": check_size(max_size, "max_size", name),
        }
        limits = self.limits_.narrow(low=low, high=high, groups=groups, one_path=one_path, **sizes)
        return self._limited(limits)

    def _limited(self, limits: Limits):
        narrowed = copy.copy(self)
        narrowed.__dict__.pop("_count", None)
        narrowed.limits = limits
        return narrowed

    def contains(self, Z):
        """Whether each row is an output of this space, limits included; shape (n,)."""
        Z = np.asarray(Z)
        closed = (Z[:, self.dag_.children] <= Z[:, self.dag_.parents]).all(axis=1)
        return closed & np.isin(Z, (0, 1)).all(axis=1) & self.limits_.allow(Z)

    def _close_masks(self, limits: Limits):
        """Known labels with what follows: ancestors in, descendants and rivals out."""
        low, high = limits.low, limits.high
        if not limits.is_masked:
            return low, high
        ancestors = self.dag_.ancestors
        low = low.astype(float) @ ancestors > 0
        out = np.array(np.broadcast_to(~high, (max(len(low), len(high)), low.shape[1])))
        for group in limits.groups:
            out[:, group] |= low[:, group].sum(axis=1, keepdims=True) > low[:, group]
        return low, ~(out.astype(float) @ ancestors.T > 0)

    # ------------------------------------------------------------- decoding
    def argmin(self, costs) -> Decoded:
        """For every row the set of least total cost; costs of shape (n, d)."""
        costs = check_costs(costs, len(self.labels_), used_by=type(self).__name__)
        self._check_rows(len(costs))
        outputs, values, bounds = self._decode(costs, self.limits_)
        return decoded_or_infeasible(outputs, values, bounds, self)

    def kbest(self, costs, k: int) -> Decoded:
        """The ``k`` cheapest sets of every row: outputs (n, k, d), values (n, k)."""
        costs = check_costs(costs, len(self.labels_), used_by=type(self).__name__)
        self._check_rows(len(costs))

        def best_within(rows, low, high):
            limits = self.limits_.rows(rows).within(low, high)
            return self._decode(costs[rows], limits)[:2]

        outputs, values = k_best(best_within, len(costs), costs.shape[1], k)
        return Decoded(outputs, values, values)

    def _check_rows(self, n: int):
        expected = self.limits_.n_rows
        if expected is not None and expected != n:
            raise ValueError(
                f"{type(self).__name__} is restricted row by row for {expected} rows; {n} came."
            )

    def with_embedding(self, name, outputs=None):
        from skstruct.spaces.listed import ListedOutputs
        from skstruct.spaces.sized import SizedSets

        if name == "sized indicators":
            return SizedSets(self)
        if name == "outputs":
            return ListedOutputs(self, outputs)
        return super().with_embedding(name)

    # ------------------------------------------------------------- counting
    def _one_row(self) -> Limits:
        if self.limits_.n_rows is not None:
            raise ValueError("This space differs from row to row; take rows(i) of it first.")
        return self.limits_

    def _count_within(self, low, high) -> int:
        limits = self._one_row().within(low, high)
        extra = limits.is_sized or limits.groups or limits.one_path
        if not self.dag_.is_forest and not extra:
            return count_dag(self.dag_, limits.low[0], limits.high[0])
        if limits.one_path or not self.dag_.is_forest or not self._sibling_groups(limits):
            listed = self.enumerate()
            return int(((listed >= low) & (listed <= high)).all(axis=1).sum())
        low, high = (mask[0] for mask in self._close_masks(limits))
        sizes = limits.smallest, limits.largest
        return count_forest(self.dag_, low, high, limits.groups, *sizes)

    def _sibling_groups(self, limits) -> bool:
        """Whether exclusive groups are disjoint sets of siblings."""
        members = np.concatenate([*limits.groups, np.empty(0, np.int64)]).astype(np.int64)
        alike = all(len(set(self.dag_.parent_of[g].tolist())) == 1 for g in limits.groups)
        return alike and len(set(members.tolist())) == len(members)

    @cached_property
    def _count(self) -> int:
        d = len(self.labels_)
        return self._count_within(np.zeros(d, bool), np.ones(d, bool))

    def size(self) -> int:
        """Exact number of outputs."""
        return self._count

    def log_size(self) -> float:
        """Natural logarithm of the number of outputs; minus infinity when there is none."""
        return math.log(self._count) if self._count else -math.inf

    def mean_embedding(self) -> np.ndarray:
        """Mean of the indicators over all outputs; shape (d,)."""
        d = len(self.labels_)
        eye, free = np.eye(d, dtype=bool), np.ones(d, bool)
        return np.array([self._count_within(eye[j], free) / self._count for j in range(d)])

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        d = len(self.labels_)
        eye, free = np.eye(d, dtype=bool), np.ones(d, bool)
        moment = np.empty((d, d))
        for j in range(d):
            for k in range(j + 1):
                both = self._count_within(eye[j] | eye[k], free) / self._count
                moment[j, k] = moment[k, j] = both
        return moment

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        limits = self._one_row()
        listed = list_closed_sets(self.dag_, limits.low[0], limits.high[0], limits.largest, limit)
        return listed[self.contains(listed)]

    def sample(self, n: int, rng) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        rng = np.random.default_rng(rng)
        if self._count == 0:
            raise ValueError("The space is empty: nothing to sample.")
        if self._count <= 10**5:
            listed = self.enumerate()
            return listed[rng.integers(len(listed), size=n)]
        return np.array([self._sample_one(rng) for _ in range(n)], dtype=np.int8)

    def _sample_one(self, rng):
        """Label by label, each taken with the share of outputs that have it."""
        d = len(self.labels_)
        low, high, left = np.zeros(d, bool), np.ones(d, bool), self._count
        for j in self.dag_.order:
            low[j] = True
            with_j = self._count_within(low, high)
            if rng.random() * left >= with_j:
                low[j] = high[j] = False
                left -= with_j
            else:
                left = with_j
        return low.astype(np.int8)
