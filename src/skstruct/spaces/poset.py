# SPDX-License-Identifier: BSD-3-Clause
"""One element of a partially ordered set."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstruct._arrays.checks import check_costs
from skstruct._arrays.optional import is_pandas
from skstruct.decoding.dag import Dag
from skstruct.decoding.lists import cheapest, k_cheapest
from skstruct.spaces.base import Decoded, check_feasible, check_k, decoded_or_infeasible
from skstruct.spaces.elements import OtherEmbedding, UniformElements
from skstruct.spaces.forms import read_label_sets, sorted_names
from skstruct.spaces.label_graph import LabelGraph
from skstruct.spaces.limits import check_n_rows, label_mask
from skstruct.spaces.pairwise.uniform_states import StateLimits
from skstruct.spaces.single_names import SingleNameForm, numbers_of, read_single_names


class Poset(UniformElements):
    r"""One element of a finite partially ordered set, embedded by all that is above it.

    :math:`\psi_i(z) = 1[i \text{ is } z \text{ or above } z]`: elements that have much above
    them in common are near to each other. A class hierarchy in which exactly one path is
    taken, to any depth, is the case of a tree. All elements are compared: always exact.

    Canonical outputs are the rows psi themselves, 0/1 of shape (n, d). The user writes the
    name of one element per row, or all that is on its way up: sets of names, or an indicator
    array; predictions come back the same way.

    Parameters
    ----------
    relation : (above, below) pairs, below -> above mapping, networkx.DiGraph or path strings
        As the edges of :class:`Hierarchy`; what follows from it by transitivity need not be
        said. Without it no element is above another.
    labels : sequence, default=None
        Elements in the order of the columns; may add some that are above and below nothing.
        In order of appearance when None; without a relation, the sorted names of ``Y``.
    leaves_only : bool, default=False
        Whether only elements with nothing below them are predicted. All may be learned from.
    limits : StateLimits, default=None
        What :meth:`restrict` sets.

    References
    ----------
    The counts are those of S. Vembu, "Learning to predict combinatorial structures" (2010),
    section 4.3, with the order made reflexive: an element counts itself, or siblings would
    have one and the same embedding.

    Examples
    --------
    >>> space = Poset([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> space = space.fit(["cat", "poodle"])
    >>> space.validate(["cat", "dog"])
    array([[1, 1, 0, 0],
           [1, 0, 1, 0]], dtype=int8)
    >>> space.restore(space.argmin(np.array([[-1.0, 0.2, -0.1, 0.3]])).outputs)
    array(['dog'], dtype='<U6')
    >>> space.size(), space.mean_embedding()
    (4, array([1.  , 0.25, 0.5 , 0.25]))
    """

    embedding = "indicators"
    default_loss = "hamming"
    usual_losses = ("zero_one",)
    _limits_rest_on: ClassVar[tuple[str, ...]] = ("relation", "labels", "leaves_only")
    element = "element"  # what one is called in messages

    def __init__(self, relation=None, labels=None, *, leaves_only=False, limits=None):
        self.relation = relation
        self.labels = labels
        self.leaves_only = leaves_only
        self.limits = limits

    def set_params(self, **params):
        super().set_params(**params)
        self.__dict__.pop("_given_graph", None)
        return self

    # ------------------------------------------------------------- the order
    @cached_property
    def _given_graph(self) -> LabelGraph | None:
        if self.relation is None and self.labels is None:
            return None
        return LabelGraph.of_order(self.relation, self.labels)

    @property
    def _graph(self) -> LabelGraph:
        graph = self._given_graph or self.__dict__.get("learned_")
        if graph is None:
            name = type(self).__name__
            raise NotFittedError(f"{name} learns its {self.element}s from Y: call fit.")
        return graph

    @property
    def labels_(self) -> tuple:
        """Names of the elements, one per column."""
        return self._graph.names

    @property
    def dag_(self) -> Dag:
        """Arcs from each element to those just below it."""
        return self._graph.dag

    @property
    def leaf_mask_(self) -> np.ndarray:
        """Elements that may be predicted when nothing is restricted; bool (d,)."""
        return self.dag_.n_children == 0 if self.leaves_only else np.ones(len(self.labels_), bool)

    def _keep_names(self):
        if self._given_graph is None:
            self.labels, self._given_graph = self.labels_, self._graph

    # ------------------------------------------------------------- the user's form
    def fit(self, Y):
        """Learn the elements where none were given, and the form of ``Y``."""
        self.__dict__.pop("_given_graph", None)
        if self._given_graph is None:
            self.learned_ = self._learned(Y)
        if self.limits is not None and self.limits.allowed.shape[1] != len(self.labels_):
            raise ValueError(
                f"{type(self).__name__} was restricted for {self.limits.allowed.shape[1]} "
                f"{self.element}s; there are {len(self.labels_)}."
            )
        self.form_ = self._read(Y)[1]
        return self

    def _learned(self, Y) -> LabelGraph:
        """Elements of ``Y`` of which none is above another."""
        if self._has_paths(Y, ()):
            return LabelGraph(read_label_sets(Y, None, used_by="Poset")[1], [])
        return LabelGraph(sorted_names(set(self._names(Y)[0])), [])

    def _names(self, Y):
        return read_single_names(Y, used_by=type(self).__name__, what=self.element)

    def _has_paths(self, Y, labels) -> bool:
        """Whether rows hold all that is on the way up, rather than one name."""
        if isinstance(Y, np.ndarray) and Y.dtype != object:
            return Y.ndim == 2 and Y.shape[1] > 1
        if sparse.issparse(Y) or is_pandas(Y, "DataFrame"):
            return True
        rows = list(Y)
        collections = (set, frozenset, list, np.ndarray, tuple)
        if not rows or not all(isinstance(row, collections) for row in rows):
            return False
        return not all(isinstance(row, (tuple, frozenset)) and row in labels for row in rows)

    def _read(self, Y) -> tuple[np.ndarray, Any]:
        """Rows psi and the form that they came in."""
        labels, name = self.labels_, type(self).__name__
        if not self._has_paths(Y, set(labels)):
            names, form = self._names(Y)
            return self.psi(numbers_of(names, labels, name)), form
        Z, _, form = read_label_sets(Y, labels, used_by=name)
        bad = np.flatnonzero(~self._are_elements(Z))
        if len(bad):
            held = sorted(repr(labels[j]) for j in np.flatnonzero(Z[bad[0]]))
            raise ValueError(
                f"{name}: Y[{bad[0]}] holds {', '.join(held) or 'nothing'}, which is not one "
                f"{self.element} with all that is above it ({len(bad)} such rows)."
            )
        return Z, form

    def validate(self, Y):
        """Outputs in canonical form: an int8 array of shape (n, d), the rows psi."""
        return self._read(Y)[0]

    def restore(self, Z, index=None):
        """Canonical outputs in the form that was seen in ``fit``."""
        form = self.__dict__.get("form_", SingleNameForm())
        if isinstance(form, SingleNameForm):
            return form.write(self.numbers(Z), self.labels_, index)
        return form.write(np.asarray(Z), self.labels_, index)

    # ------------------------------------------------------------- limits
    @property
    def limits_(self) -> StateLimits:
        """Which elements may be predicted."""
        open_ = StateLimits(self.leaf_mask_[None])
        return open_ if self.limits is None else open_.narrow(self.limits.allowed)

    def restrict(self, *, include=None, exclude=None):
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : names of elements, the same for all rows or a collection per row
            What the answer must be or be below, all of these; what it must neither be nor be
            below. Also 0/1 arrays of shape (n, d).
        """
        name = type(self).__name__
        low = label_mask(include, self.labels_, "include", name).astype(np.float64)
        out = label_mask(exclude, self.labels_, "exclude", name).astype(np.float64)
        above = self.above_.T
        missed = low.sum(axis=1, keepdims=True) > low @ above
        limits = self.limits_.narrow(~missed).narrow(out @ above == 0)
        return self._limited(limits)

    # ------------------------------------------------------------- decoding
    def _priced(self, costs, prices=None):
        """What each element costs, infinite where it is not allowed; shape (n, d)."""
        name = type(self).__name__
        if prices is None:
            costs = check_costs(costs, len(self.labels_), used_by=name)
            prices = self._prices(costs)
        check_n_rows(self.limits_, len(prices), name)
        return np.where(self.limits_.allowed, prices, np.inf)

    def _prices(self, costs) -> np.ndarray:
        return (self.dag_.ancestors @ costs.T).T

    def argmin(self, costs, *, prices=None) -> Decoded:
        """For every row the element of least cost; costs of shape (n, d).

        ``prices`` of the elements, (n, d), may take the place of costs of coordinates.
        """
        best, values = cheapest(self._priced(costs, prices))
        return decoded_or_infeasible(self.psi(best), values, values, self)

    def kbest(self, costs, k: int, *, prices=None) -> Decoded:
        """The ``k`` cheapest elements of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, type(self).__name__)
        order, values = k_cheapest(self._priced(costs, prices), k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(self.psi(order), values, values)

    def with_embedding(self, name, outputs=None, candidates=None):
        from skstruct.spaces.parent_products import ParentProducts
        from skstruct.spaces.sized import SizedSets

        views = {"sized indicators": SizedSets, "indicators and parents": ParentProducts}
        if name in views:
            return OtherEmbedding(views[name](self))
        return super().with_embedding(name, outputs, candidates)
