# SPDX-License-Identifier: BSD-3-Clause
"""A space whose outputs are embedded by a kernel between them."""

import copy
import math
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import clone

from skstruct._arrays.checks import check_costs, is_count
from skstruct._arrays.rows import dense, distinct
from skstruct.exceptions import UndecidableError
from skstruct.kernels.grams import REPAIR
from skstruct.kernels.outputs.base import resolve_output_kernel
from skstruct.kernels.outputs.moments import SampledMoments
from skstruct.saving import savable
from skstruct.sizes import AT_ONCE
from skstruct.spaces import (
    EXACT,
    Countable,
    Decoded,
    Embeddings,
    Enumerable,
    Guarantee,
    Marginals,
    Samplable,
    Solving,
)
from skstruct.spaces.base import EmbeddingView, check_k
from skstruct.spaces.constraints import allowed_by, check_feasible, check_n_rows
from skstruct.spaces.solvers.k_best import k_min_cost, min_cost
from skstruct.spaces.solving import SolvingWithin
from skstruct.tolerances import GRAM_DEFINITENESS, SINGULAR_VALUE_ZERO


@savable
class KernelSpace(EmbeddingView):
    r"""A space under an output kernel: scores are functions :math:`f(x, \cdot)` of its feature
    space.

    What :class:`~skstruct.CountingRidge` needs where the score of an output is no linear function
    of parts that were written down, but of anything that a kernel compares (section 5.2 of [1]_,
    "infinite dimensional output embedding"). With a basis :math:`u_1, ..., u_b` of outputs and the
    eigenvectors :math:`G = V \Lambda V'` of their kernel matrix,

    .. math:: \psi(z) = \Lambda^{-1/2} V' (k(u_1, z), ..., k(u_b, z))

    are the coordinates of :math:`k(z, \cdot)` in an orthonormal basis of the span, so that
    penalties are norms of the feature space.

    - A space of at most ``n_listed`` outputs is listed. All outputs are the basis:
      :math:`\langle \psi(z), \psi(z') \rangle = k(z, z')`, and moments and decisions are exact.
    - Of a larger one, the basis are outputs of training and uniform draws, ``n_landmarks`` of each
      at most, and scores are functions in their span. Mean and second moment of
      :math:`\psi` are means over ``n_samples`` further draws, whose standard errors
      ``sampled_moments().errors`` and ``moments_error_`` of the learner tell.
    - Decisions over a larger space are exact where the kernel is bilinear in an embedding of the
      space (``embedding_on``). Else the best among the outputs of training and all draws
      is taken, and bounds are minus infinity: nothing is known of the others.

    Parameters
    ----------
    space : space
        What may be predicted, with ``enumerate`` or ``sample``.
    kernel : str, OutputKernel, kernel object or callable, default="rbf"
        As of :func:`~skstruct.kernels.resolve_output_kernel`.
    n_listed : int, default=1000
        Outputs up to which a space is listed.
    n_samples : int, default=2000
        Draws that moments of a larger space are estimated from.
    n_landmarks : int, default=200
        Outputs of training, and draws, at most, that a larger space has as a basis.
    random_state : int, default=0
        Seed of the draws: the same space has the same moments.

    Attributes
    ----------
    exact_ : bool, whether the space was listed
    basis_ : array, the outputs of the basis in canonical form
    listed_ : array, outputs that decisions are among where these are not the space's own

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010.

    Examples
    --------
    >>> from skstruct import CountingRidge
    >>> from skstruct.kernels import KernelSpace
    >>> from skstruct.spaces import Candidates
    >>> words = ["cat", "cart", "card", "dog", "dig"]
    >>> space = KernelSpace(Candidates(words), lambda y, z: len(set(y) & set(z)))
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["cat", "cart", "dog", "dig"]
    >>> model = CountingRidge(space, alpha=0.01).fit(X, y)
    >>> model.predict([[0.0], [1.0]]).tolist()
    ['cat', 'dig']
    >>> model.moments_error_ is None  # all five words were listed
    True
    """

    embedding = "kernel features"

    def __init__(
        self,
        space: Any,
        kernel: Any = "rbf",
        *,
        n_listed: int = 1000,
        n_samples: int = 2000,
        n_landmarks: int = 200,
        random_state: Any = 0,
    ) -> None:
        self.space = space
        self.kernel = kernel
        self.n_listed = n_listed
        self.n_samples = n_samples
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting
    def fit(self, Y: Any) -> Self:
        self._check_parameters()
        self.space = clone(self.space).fit(Y)  # the one that was given stays as it is
        outputs = self.space.validate(Y)
        kernel = clone(resolve_output_kernel(self.kernel), safe=False)
        name = kernel.embedding_on(self.space)
        self.view_ = self.space if name is None else Embeddings.of(self.space).view(name, outputs)
        self.bilinear_ = name is not None
        self.kernel_ = kernel.bind(self.view_).fit(Y)
        listed = self.space.all_outputs(self.n_listed)
        self.exact_ = listed is not None and len(listed) <= self.n_listed
        seen = outputs[distinct(outputs)[0]]
        if self.exact_:
            self._open(_joined(listed, seen), listed, None)
            return self
        rng = np.random.default_rng(self.random_state)
        if not isinstance(self.space, Samplable):
            raise ValueError(
                f"KernelSpace: {type(self.space).__name__} has more than n_listed = "
                f"{self.n_listed} outputs, or cannot list them, and it cannot draw any: raise "
                "n_listed, or give a list of Candidates."
            )
        some = seen[np.sort(rng.permutation(len(seen))[: self.n_landmarks])]
        landmarks = self.space.sample(self.n_landmarks, rng)
        drawn = self.space.sample(self.n_samples, rng)
        self._open(_joined(some, landmarks), _joined(seen, _joined(landmarks, drawn)), drawn)
        return self

    def _check_parameters(self) -> None:
        for name, least in (("n_listed", 0), ("n_samples", 2), ("n_landmarks", 1)):
            value = getattr(self, name)
            if not (is_count(value) or (value == least == 0)) or value < least:
                raise ValueError(
                    f"KernelSpace: {name} is a whole number from {least}; got {value!r}."
                )

    def _open(self, basis: np.ndarray, listed: np.ndarray, drawn: np.ndarray | None) -> None:
        """Coordinates of the feature space, moments, and what decisions are among."""
        self.basis_, self.listed_ = basis, listed
        self._shown = self.space.restore(basis)
        self.kernel_.admit(self._shown)
        if not self.exact_ or not self.bilinear_:
            self.kernel_.admit(self.space.restore(listed))
        values, V = eigh(self.kernel_(self._shown), check_finite=False)
        if values[0] < -GRAM_DEFINITENESS * max(abs(values[0]), values[-1]):
            raise ValueError(
                "KernelSpace: the kernel between outputs is not positive semidefinite: it has the "
                f"eigenvalue {values[0]:.3g}. {REPAIR}."
            )
        kept = values > SINGULAR_VALUE_ZERO * max(values[-1], 0.0)
        if not kept.any():
            raise ValueError(
                "KernelSpace: the kernel between outputs is zero for all of them: it tells none "
                "from another."
            )
        self.turn_ = V[:, kept] / np.sqrt(values[kept])  # (b, d)
        self.features_ = self.embed(listed)  # (c, d)
        self.moments_ = SampledMoments(self.features_ if drawn is None else self.embed(drawn))

    # ------------------------------------------------------------------ the space
    @property
    def default_loss(self) -> Any:
        return self.space.default_loss

    @property
    def guarantee(self) -> Any:
        if self.exact_:
            return EXACT
        return self.space.guarantee if self.bilinear_ else Guarantee("bound only")

    def _over(self, space: Any) -> Self:
        view = copy.copy(self)
        view.space = space
        return view

    def size(self) -> Any:
        """Number of outputs; infinite where these are no discrete set."""
        return self.space.size() if isinstance(self.space, Countable) else math.inf

    def log_size(self) -> float:
        return float(self.space.log_size()) if isinstance(self.space, Countable) else math.inf

    def sample(self, n: int, rng: Any) -> np.ndarray:
        return self.space.sample(n, rng)

    def enumerate(self, limit: int | None = None) -> np.ndarray:
        """All outputs, as the space itself lists them."""
        if not isinstance(self.space, Enumerable):
            raise UndecidableError(f"{type(self.space).__name__} cannot list its outputs.")
        listed: np.ndarray
        listed = self.space.enumerate() if limit is None else self.space.enumerate(limit)
        return listed

    # ------------------------------------------------------------------ features
    def embed(self, Z: np.ndarray) -> np.ndarray:
        Z = np.asarray(Z)
        step = max(1, AT_ONCE // len(self.basis_))
        parts = [
            self.kernel_(self.space.restore(Z[start : start + step]), self._shown) @ self.turn_
            for start in range(0, len(Z), step)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.turn_.shape[1]))

    def mean_embedding(self) -> np.ndarray:
        """Mean of psi: exact, or over draws."""
        return self.moments_.mean

    def second_moment(self) -> np.ndarray:
        return self.moments_.second

    def sampled_moments(self) -> SampledMoments | None:
        return None if self.exact_ else self.moments_

    # ------------------------------------------------------------------ decisions
    def argmin(self, costs: np.ndarray) -> Decoded:
        costs = self._checked(costs)
        if self.bilinear_ and not self.exact_:
            view, charged, offset = self._charged(costs)
            best = view.argmin(charged)
            return Decoded(best.outputs, best.values + offset, best.bounds + offset)
        number, values = min_cost(self._listed_costs(costs))
        check_feasible(np.isfinite(values), self.space)
        return Decoded(self.listed_[number], values, self._bounds(values))

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        k, costs = check_k(k, type(self).__name__), self._checked(costs)
        if self.bilinear_ and not self.exact_ and hasattr(self.space, "kbest"):
            view, charged, offset = self._charged(costs)
            best = view.kbest(charged, k)
            offset = offset[:, None]
            return Decoded(best.outputs, best.values + offset, best.bounds + offset)
        number, values = k_min_cost(self._listed_costs(costs), k)
        check_feasible(np.isfinite(values).any(axis=1), self.space)
        return Decoded(self.listed_[number], values, self._bounds(values))

    def _checked(self, costs: np.ndarray) -> np.ndarray:
        costs = check_costs(costs, self.turn_.shape[1], used_by=type(self).__name__)
        check_n_rows(self.constraints_, len(costs), type(self.space).__name__)
        return costs

    def _listed_costs(self, costs: np.ndarray) -> np.ndarray:
        """Costs of the listed outputs, infinite where constraints exclude them; (n, c)."""
        return np.where(allowed_by(self.space, self.listed_), costs @ self.features_.T, np.inf)

    def _bounds(self, values: np.ndarray) -> np.ndarray:
        return values if self.exact_ else np.full_like(values, -np.inf)

    def _charged(self, costs: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """The space under which the kernel is bilinear, costs of its coordinates, and the rest.

        A kernel tells these for k(z, z) - 2 sum of b_l k(z, u_l); without weights, for k(z, z).
        """
        weights = -0.5 * (costs @ self.turn_.T)
        psi = dense(self.view_.embed(self.basis_), np.float64)
        g, total = weights @ psi, weights.sum(axis=1, keepdims=True)
        none, zero = np.zeros_like(g), np.zeros_like(total)
        charged = self.kernel_.cost(g, total) - self.kernel_.cost(none, zero)
        offset = self.kernel_.offset(g, total) - self.kernel_.offset(none, zero)
        view = Embeddings.of(self.space).view(self.view_.embedding, self.basis_)
        return view, np.ascontiguousarray(charged), offset


def _joined(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Distinct rows of both, those of A first."""
    if A.ndim > 1 and A.shape[1:] != B.shape[1:]:  # sequences, as wide as the longest
        width = max(A.shape[-1], B.shape[-1])
        A, B = (
            np.pad(Z, [(0, 0)] * (Z.ndim - 1) + [(0, width - Z.shape[-1])], constant_values=-1)
            for Z in (A, B)
        )
    both = np.concatenate([A, B])
    return both[distinct(both)[0]]


Solving.at(KernelSpace, SolvingWithin)
Marginals.at(KernelSpace, "skstruct.spaces.common.view_marginals:MarginalsOfFeatures")
