# SPDX-License-Identifier: BSD-3-Clause
"""Labels and the pairs of them that count: given, learned, or brought by a graph."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct.decoding.dag import Dag
from skstruct.spaces.forms import check_distinct, sorted_names, unknown_label
from skstruct.spaces.indicators import IndicatorSpace
from skstruct.spaces.label_sets import LabelSets
from skstruct.spaces.pairwise.edges import node_names, read_edges


class LabelsAndEdges(IndicatorSpace):
    """Sets of labels with a graph on the labels.

    A child has the parameters ``graph``, ``labels`` and ``limits``.
    """

    graph: Any
    labels: Any

    def fit(self, Y):
        """Learn the labels where none were given, and the form of ``Y``."""
        self._forget()
        given = None if self.labels is None else self.labels_
        _, learned, form = self._read(Y, given)
        if given is None:
            learned = self._with_nodes(learned, named=form.kind in ("names", "series"))
        name = type(self).__name__
        if self.limits is not None and self.limits.low.shape[1] != len(learned):
            raise ValueError(
                f"{name} was restricted for {self.limits.low.shape[1]} labels; Y has "
                f"{len(learned)}."
            )
        read_edges(self.graph, learned, name)  # a graph that is wrong says so now
        self.learned_labels_, self.form_ = learned, form
        return self

    def _with_nodes(self, learned, named: bool) -> tuple:
        """Labels of ``Y`` and nodes of a graph; where ``Y`` has columns, it has them all."""
        known = set(learned)
        new = [name for name in node_names(self.graph) if name not in known]
        if new and not named:
            raise ValueError(unknown_label("graph holds", new[0], learned, type(self).__name__))
        return sorted_names({*learned, *new}) if new else tuple(learned)

    @property
    def labels_(self) -> tuple:
        """Names of the labels, one per column."""
        if self.labels is not None:
            return self._given_labels
        if not hasattr(self, "learned_labels_"):
            raise NotFittedError(
                f"{type(self).__name__} learns its labels from Y: call fit, or give labels."
            )
        return self.learned_labels_

    @cached_property
    def _given_labels(self) -> tuple:
        given = check_distinct(self.labels, type(self).__name__)
        known = set(given)
        return (*given, *(name for name in node_names(self.graph) if name not in known))

    @cached_property
    def edges_(self) -> np.ndarray:
        """Pairs i < j of positions in ``labels_``, sorted; int64 of shape (E, 2)."""
        return read_edges(self.graph, self.labels_, type(self).__name__)

    @property
    def graph_(self):
        """The labels and their pairs as a networkx.Graph."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.labels_)
        graph.add_edges_from((self.labels_[i], self.labels_[j]) for i, j in self.edges_)
        return graph

    @cached_property
    def dag_(self) -> Dag:
        """No label needs another: a graph without arcs."""
        return Dag(len(self.labels_), [], [])

    def with_embedding(self, name, outputs=None, candidates=None):
        if name in (self.embedding, "outputs"):  # a list is one of sets and pairs
            return super().with_embedding(name, outputs, candidates)
        return self._sets().with_embedding(name, outputs, candidates)

    def _sets(self) -> LabelSets:
        """The same sets without the pairs."""
        sets = LabelSets(self.labels_, limits=self.limits)
        sets.form_ = self._form
        return sets

    def restrict(self, *, include=None, exclude=None):
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : label names, the same for all rows or a collection per row
            Labels known to be in and known to be out; also 0/1 arrays of shape (n, number of
            labels). A single row of them serves all rows.
        """
        return self._narrowed(include, exclude, None, None, (), False)

    def _forget(self):
        super()._forget()
        for cached in ("edges_", "_promise"):
            self.__dict__.pop(cached, None)
