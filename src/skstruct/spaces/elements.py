# SPDX-License-Identifier: BSD-3-Clause
"""Elements of an ordered set under the uniform distribution: counts, moments, samples, lists."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct._arrays.memory import check_square_fits
from skstruct.decoding.dag import Dag
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import BaseSpace, check_feasible
from skstruct.spaces.limits import check_n_rows
from skstruct.spaces.pairwise.uniform_states import StateLimits
from skstruct.spaces.views import EmbeddingView
from skstruct.summing.choices import ChoiceLaw
from skstruct.walking.choices import ChoiceMoves


class UniformElements(BaseSpace):
    """Elements, each a row that marks itself and all above it: how many, moments, samples."""

    _above: tuple[Dag, np.ndarray]  # made when first asked for

    @property
    @abstractmethod
    def dag_(self) -> Dag:
        """Arcs from each element to those just below it."""

    @property
    @abstractmethod
    def limits_(self) -> StateLimits:
        """Which elements may be predicted: ``allowed``, bool (1 or n, d)."""

    @property
    def above_(self) -> np.ndarray:
        """Row z marks z and all above it: psi of every element; int8 (d, d)."""
        dag = self.dag_
        if "_above" not in self.__dict__ or self._above[0] is not dag:
            check_square_fits(dag.n_nodes, "The order", "Prune what never occurs.")
            self._above = dag, dag.ancestors.toarray().astype(np.int8)
        return self._above[1]

    def psi(self, numbers) -> np.ndarray:
        """The rows of elements by number, int8 of shape (..., d)."""
        return self.above_[numbers]

    def embed(self, Z):
        return np.asarray(Z, dtype=np.float64)

    def numbers(self, Z) -> np.ndarray:
        """The element of each row psi: the one marked that has most above it; shape (n,)."""
        return (np.asarray(Z) * self.above_.sum(axis=1, dtype=np.int64)).argmax(axis=1)

    def _are_elements(self, Z) -> np.ndarray:
        """Which rows are psi of some element; shape (n,)."""
        return (self.psi(self.numbers(Z)) == Z).all(axis=1)

    def contains(self, Z):
        """Whether each row is an output of this space, limits included; shape (n,)."""
        Z, d = np.asarray(Z), self.dag_.n_nodes
        if Z.ndim != 2 or Z.shape[1] != d:
            raise ValueError(
                f"contains() takes outputs in canonical form, (n, {d}) of 0 and 1; got shape "
                f"{Z.shape}. validate() makes them."
            )
        check_n_rows(self.limits_, len(Z), type(self).__name__)
        allowed = np.broadcast_to(self.limits_.allowed, (len(Z), d))
        return self._are_elements(Z) & allowed[np.arange(len(Z)), self.numbers(Z)]

    def _allowed(self) -> np.ndarray:
        """Numbers of the elements that may be predicted."""
        if self.limits_.n_rows is not None:
            raise ValueError("This space differs from row to row; take rows(i) of it first.")
        return np.flatnonzero(self.limits_.allowed[0])

    def _some(self) -> np.ndarray:
        allowed = self._allowed()
        if not len(allowed):
            raise InfeasibleError(f"{type(self).__name__}: no output meets the constraints.")
        return allowed

    def size(self) -> int:
        """Exact number of outputs."""
        return len(self._allowed())

    def log_size(self) -> float:
        """Natural logarithm of their number; minus infinity when there is none."""
        size = self.size()
        return math.log(size) if size else -math.inf

    def enumerate(self, limit: int | None = None) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        return self.psi(self._allowed())

    def sample(self, n: int, rng) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        return self.psi(np.random.default_rng(rng).choice(self._some(), size=n))

    # ------------------------------------------------------------- laws and chains
    @abstractmethod
    def _prices(self, costs) -> np.ndarray:
        """What each element costs; (n, d)."""

    def _marginals(self, chances) -> np.ndarray:
        """Mean of psi, given the chances of the elements; (n, d)."""
        return chances @ self.dag_.ancestors

    def law(self, scores):
        """Laws of the elements: a softmax of what each one scores."""
        scores = self._checked_scores(scores, self.dag_.n_nodes)
        return self._law_of(self._prices(scores), self._marginals)

    def _law_of(self, values, marginals_of):
        """The law of elements with these values, (n, d)."""
        check_n_rows(self.limits_, len(values), type(self).__name__)
        law = ChoiceLaw(np.where(self.limits_.allowed, values, -np.inf), marginals_of, self.psi)
        check_feasible(np.isfinite(law.log_partition), self)
        return law

    def moves(self):
        """Any element that is allowed follows any other; None where rows differ."""
        if self.limits_.n_rows is not None:
            return None
        return ChoiceMoves(self._some(), self._prices, self.numbers, self.psi)

    def mean_embedding(self) -> np.ndarray:
        """The share n_i / #z of elements that are i or below it; shape (d,)."""
        allowed = self._some()
        return self.above_[allowed].sum(axis=0, dtype=np.int64) / len(allowed)

    def second_moment(self) -> np.ndarray:
        """The share of elements that are at or below both i and j; shape (d, d)."""
        allowed = self._some()
        marked = sparse.csr_array(self.above_[allowed].astype(np.float64))
        return (marked.T @ marked).toarray() / len(allowed)


class OtherEmbedding(EmbeddingView):
    """Elements under the embedding of another view, each priced by itself."""

    def __init__(self, view):
        super().__init__(view.space)
        self.view, self.embedding = view, view.embedding

    def _over(self, space):
        return type(self)(type(self.view)(space))

    def embed(self, Z):
        return self.view.embed(Z)

    def lift(self, costs, embedding):
        return self.view.lift(costs, embedding)

    def project(self, means, embedding):
        return self.view.project(means, embedding)

    def _prices(self, costs):
        psi = self.embed(self.space.above_)
        return check_costs(costs, psi.shape[1], used_by=type(self.space).__name__) @ psi.T

    def law(self, scores):
        psi = self.embed(self.space.above_)
        scores = self._checked_scores(scores, psi.shape[1])
        return self.space._law_of(scores @ psi.T, lambda chances: chances @ psi)

    def argmin(self, costs):
        return self.space.argmin(None, prices=self._prices(costs))

    def kbest(self, costs, k):
        return self.space.kbest(None, k, prices=self._prices(costs))
