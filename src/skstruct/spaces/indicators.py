# SPDX-License-Identifier: BSD-3-Clause
"""What label sets and hierarchies share: 0/1 outputs closed in a graph, and limits on them."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.decoding.lawler import k_best
from skstruct.spaces.base import Decoded, check_feasible, check_k, decoded_or_infeasible
from skstruct.spaces.forms import LabelSetForm, read_label_sets
from skstruct.spaces.limits import Limits, check_n_rows, check_size, label_groups, label_mask
from skstruct.spaces.uniform import UniformSets


class IndicatorSpace(UniformSets):
    """Sets of named labels as 0/1 rows, each its own embedding.

    A child brings ``labels_``, ``dag_`` (sets hold the parents of their members),
    ``limits_`` and ``_decode``; everything else is here.
    """

    embedding = "indicators"
    default_loss = "hamming"
    usual_losses: ClassVar[tuple[str, ...]] = ("f1", "zero_one")

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
    def restrict(self, *, include=None, exclude=None, min_size=None, max_size=None, exclusive=None):
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : label names, the same for all rows or a collection per row
            Labels known to be in and known to be out; also 0/1 arrays of shape (n, d). A
            single row of them serves all rows.
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
        narrowed = super()._limited(limits)
        narrowed.__dict__.pop("_count", None)
        return narrowed

    # ------------------------------------------------------------- decoding
    def argmin(self, costs) -> Decoded:
        """For every row the set of least total cost; costs of shape (n, d)."""
        costs = check_costs(costs, len(self.labels_), used_by=type(self).__name__)
        self._check_rows(len(costs))
        outputs, values, bounds = self._decode(costs, self.limits_)
        return decoded_or_infeasible(outputs, values, bounds, self)

    def kbest(self, costs, k: int) -> Decoded:
        """The ``k`` cheapest sets of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, type(self).__name__)
        costs = check_costs(costs, len(self.labels_), used_by=type(self).__name__)
        self._check_rows(len(costs))

        def best_within(rows, low, high):
            limits = self.limits_.rows(rows).within(low, high)
            return self._decode(costs[rows], limits)[:2]

        outputs, values = k_best(best_within, len(costs), costs.shape[1], k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(outputs, values, values)

    # ------------------------------------------------------------- laws and chains
    def law(self, scores):
        r"""The laws :math:`p(z) \propto \exp \langle u, z \rangle` of the sets; scores u (n, d).

        By dynamic programming on label sets and forests, within limits that may differ from row
        to row, with exclusive groups of siblings; by a list of all sets on other graphs, or None
        where there are too many.
        """
        scores = self._checked_scores(scores, len(self.labels_))
        self._check_rows(len(scores))
        from skstruct.spaces.set_laws import set_law

        return set_law(self, scores)

    def moves(self):
        """Labels come in and leave, or change places; None where limits may cut sets off."""
        from skstruct.spaces.set_moves import set_moves

        return set_moves(self)

    def _check_rows(self, n: int):
        check_n_rows(self.limits_, n, type(self).__name__)

    def relaxation(self):
        """All sets of the same labels."""
        from skstruct.spaces.label_sets import LabelSets

        return LabelSets(self.labels_) if self.embedding == "indicators" else None

    def with_embedding(self, name, outputs=None, candidates=None):
        from skstruct.spaces.sized import SizedSets

        if name == "sized indicators":
            return SizedSets(self)
        return super().with_embedding(name, outputs, candidates)
